package gotest

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/insight"
	"gompirma/tests/go/harness"
)

// exports returns the functions that a library in build/lib exports.
func exports(t *testing.T, library string) (names []string) {
	file, err := elf.Open(filepath.Join(built(t), "lib", library))
	require.NoError(t, err)
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestInsightWrapsAll checks that libgompirma-insight.so has a wrapper for MPI_X and PMPI_X of each function of the
// library, except for functions that are not recorded. It must export nothing else.
func TestInsightWrapsAll(t *testing.T) {
	no := func(name string) bool { return !strings.HasPrefix(strings.TrimPrefix(name, "P"), "MPI_") }
	library := slices.DeleteFunc(exports(t, "libgompirma.so"), no)
	for _, c := range abi.FortranConversions() { // conversions of handles leave no record
		library = slices.DeleteFunc(library, func(name string) bool {
			return strings.TrimPrefix(name, "P") == c.Name
		})
	}
	require.Len(t, library, 2*len(abi.Functions()))
	for _, f := range abi.Functions() {
		if insight.IsUnrecorded(f) {
			library = slices.DeleteFunc(library, func(name string) bool { return name == "P"+f.Name })
		}
	}
	wrapped := exports(t, "libgompirma-insight.so")
	others := regexp.MustCompile(`^((pthread|thrd|mtx|cnd|sem|GOMP|omp)_\w+|call_once|free|realloc|munmap)$`)
	for _, name := range wrapped {
		require.True(t, !no(name) || others.MatchString(name), name)
	}
	require.Equal(t, library, slices.DeleteFunc(wrapped, no))
}

// runRecorded runs a job with --records. It returns the records of each rank and thread, without times and addresses.
func runRecorded(t *testing.T, env []string, wantStatus int, args ...string) map[string][]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "records")
	l := prepare(t, append([]string{"--records", file}, args...)...)
	l.Cmd.Env = append(l.Cmd.Env, env...)
	status := l.run(t)
	require.Equal(t, wantStatus, status, "%s%s", l.Out.String(), l.Err.String())
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := map[string][]string{}
	form := regexp.MustCompile(`^(\d+\.\d+) \d+ (\S+)\+0x[0-9a-f]+ (> |\d+ )(.*)$`)
	address := regexp.MustCompile(`0x[0-9a-f]{6,}|\b\d{9,}\b`)
	for _, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		m := form.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		entry := ""
		if m[3] == "> " {
			entry = "> "
		}
		lines[m[1]] = append(lines[m[1]], m[2]+" "+entry+address.ReplaceAllString(m[4], "A"))
	}
	return lines
}

const recordedProgram = `
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 1 && fork() == 0)
		_exit(0);
	MPI_Init(&argc, &argv);
	int rank, in, out = 1, counts[2] = {1, 1}, displs[2] = {0, 1}, data[2], length;
	char name[MPI_MAX_OBJECT_NAME];
	double *base, x = 1;
	MPI_Win win;
	MPI_Request r[2];
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, "halo");
	MPI_Win_fence(0, win);
	MPI_Put(&x, 1, MPI_DOUBLE, 1 - rank, 3, 1, MPI_DOUBLE, win);
	MPI_Win_fence(0, win);
	MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(&out, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Gatherv(&out, 1, MPI_INT, data, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Win_get_name(win, name, &length);
	if (argc > 1) {
		pid_t child = fork();
		if (child == 0) { // a forked process and the commands that it runs are not the rank and leave no records
			MPI_Initialized(&in);
			execlp("true", "true", NULL);
		}
		waitpid(child, NULL, 0);
		waitpid(-1, NULL, 0);
		if (system("true") != 0)
			return 1;
	}
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Get(&x, 1, MPI_DOUBLE, 77, 3, 1, MPI_DOUBLE, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
`

// calls returns the records that a rank of recordedProgram must leave.
func calls(name string, rank int) []string {
	gathered := [2]string{"recvcounts=[1 1], displs=[0 1]", "recvcounts=-, displs=-"}[rank]
	put := fmt.Sprintf("origin_addr=A, origin_count=1, origin_datatype=0x214, target_rank=%d, target_disp=3, "+
		"target_count=1, target_datatype=0x214, win=A", 1-rank)
	get := strings.Replace(put, fmt.Sprintf("target_rank=%d", 1-rank), "target_rank=77", 1)
	gatherv := "MPI_Gatherv(sendbuf=A, sendcount=1, sendtype=0x209, recvbuf=A, " + gathered +
		", recvtype=0x209, root=0, comm=0x101)"
	lines := []string{
		"> MPI_Init(argc=[ARGC], argv=A)",
		"MPI_Init(argc=[ARGC], argv=A) = 0 (argc=[ARGC])",
		fmt.Sprintf("MPI_Comm_rank(comm=0x101) = 0 (rank=[%d])", rank),
		"> MPI_Win_allocate(size=80, disp_unit=8, info=0x130, comm=0x101)",
		"MPI_Win_allocate(size=80, disp_unit=8, info=0x130, comm=0x101) = 0 (baseptr=[A], win=[A])",
		`MPI_Win_set_name(win=A, win_name="halo") = 0`,
		"> MPI_Win_fence(assert=0, win=A)",
		"MPI_Win_fence(assert=0, win=A) = 0",
		"MPI_Put(" + put + ") = 0",
		"> MPI_Win_fence(assert=0, win=A)",
		"MPI_Win_fence(assert=0, win=A) = 0",
		"> MPI_Irecv(buf=A, count=1, datatype=0x209, source=-1, tag=7, comm=0x101)",
		"MPI_Irecv(buf=A, count=1, datatype=0x209, source=-1, tag=7, comm=0x101) = 0 (request=[A])",
		fmt.Sprintf("> MPI_Isend(buf=A, count=1, datatype=0x209, dest=%d, tag=7, comm=0x101)", 1-rank),
		fmt.Sprintf("MPI_Isend(buf=A, count=1, datatype=0x209, dest=%d, tag=7, comm=0x101) = 0 "+
			"(request=[0x181])", 1-rank),
		"> MPI_Waitall(count=2, array_of_requests=[A 0x181])",
		"MPI_Waitall(count=2, array_of_requests=[A 0x181]) = 0 (array_of_requests=[0x180 0x180], " +
			"array_of_statuses=NULL)",
		"> " + gatherv,
		gatherv + " = 0",
		`MPI_Win_get_name(win=A) = 0 (win_name="halo", resultlen=[4])`,
		"MPI_Win_set_errhandler(win=A, errhandler=0x143) = 0",
		fmt.Sprintf("MPI_Get(%s) = %d", get, abi.MPI_ERR_RANK),
		"> MPI_Win_free(win=[A])",
		"MPI_Win_free(win=[A]) = 0 (win=[0x110])",
		"> MPI_Finalize()",
		"MPI_Finalize() = 0",
	}
	for i := range lines {
		lines[i] = name + " " + lines[i]
	}
	return lines
}

// TestInsightRecords checks the recorded calls of a program, with arguments and callers. A shell starts the program in
// some of the runs, and the program forks in others.
func TestInsightRecords(t *testing.T) {
	program := compile(t, recordedProgram)
	for name, c := range map[string]struct {
		argc string
		args []string
	}{
		"program": {"1", []string{"-n", "2", program}},
		"shell":   {"1", []string{"-n", "2", "sh", "-c", "true; " + program + "; true"}},
		"nodes":   {"1", []string{"-n", "2", "--nodes", "2", program}},
		"forks":   {"2", []string{"-n", "2", program, "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := runRecorded(t, nil, 0, c.args...)
			require.Len(t, got, 2)
			for rank := range 2 {
				want := calls("program", rank)
				for i := range want {
					want[i] = strings.ReplaceAll(want[i], "ARGC", c.argc)
				}
				have := got[fmt.Sprintf("%d.0", rank)]
				for i := range have { // remove what differs if a send completes immediately
					have[i] = strings.ReplaceAll(have[i], "request=[A]", "request=[0x181]")
					have[i] = strings.ReplaceAll(have[i], "[A A]", "[A 0x181]")
					if strings.Contains(have[i], "MPI_Irecv") {
						have[i] = strings.ReplaceAll(have[i], "[0x181]", "[A]")
					}
				}
				require.Equal(t, want, have)
			}
		})
	}
	t.Run("no program of MPI", func(t *testing.T) {
		l := prepare(t, "--records", filepath.Join(t.TempDir(), "r"), "-n", "2", "true")
		require.Zero(t, l.run(t), l.Err.String())
	})
}

// TestInsightSecondTool checks that another profiling tool works together with gompirma's tool: it sees each call, and
// each call is recorded once. The other tool is a second preloaded library, a library linked to the program, or part of
// the program itself.
func TestInsightSecondTool(t *testing.T) {
	const tool = `
#include <mpi.h>
#include <stdio.h>
static int puts_seen;
int MPI_Put(const void *o, int n, MPI_Datatype t, int rank, MPI_Aint d, int m, MPI_Datatype u, MPI_Win win)
{
	puts_seen++;
	return PMPI_Put(o, n, t, rank, d, m, u, win);
}
int MPI_Finalize(void)
{
	printf("%d puts\n", puts_seen);
	return PMPI_Finalize();
}
`
	dir := t.TempDir()
	file, library := filepath.Join(dir, "tool.c"), filepath.Join(dir, "libtool.so")
	require.NoError(t, os.WriteFile(file, []byte(tool), 0o644))
	runTool(t, "gompicc", "-shared", "-fPIC", "-o", library, file)
	for name, c := range map[string]struct {
		program string
		env     []string
		puts    int // expected number of recorded puts
	}{
		"preloaded": {compile(t, recordedProgram), []string{"LD_PRELOAD=" + library}, 1},
		"named": {compile(t, recordedProgram, "-L"+dir, "-Wl,--no-as-needed", "-ltool", "-Wl,-rpath,"+dir),
			nil, 1},
		"in the program": {compile(t, recordedProgram+tool), nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "records")
			l := prepare(t, "--records", file, "-n", "2", c.program)
			l.Cmd.Env = append(l.Cmd.Env, c.env...)
			require.Zero(t, l.run(t), l.Err.String())
			require.Equal(t, "1 puts\n1 puts\n", l.Out.String())
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, 2*c.puts, bytes.Count(content, []byte(" MPI_Put(")))
			require.Equal(t, 2, bytes.Count(content, []byte(" MPI_Get(")))
		})
	}
}

// TestInsightThreads checks that no records are lost or mixed if several threads write more records than the ring
// holds.
func TestInsightThreads(t *testing.T) {
	const threads, each = 4, 20000
	program := compile(t, fmt.Sprintf(`
#include <mpi.h>
#include <pthread.h>
static void *calls(void *number)
{
	for (long i = 0; i < %d; i++) {
		int size;
		MPI_Type_size((long)number * 4 + i %% 4 == 0 ? MPI_INT : MPI_DOUBLE, &size);
	}
	return NULL;
}
int main(void)
{
	int level;
	pthread_t thread[%d];
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	for (long i = 0; i < %[2]d; i++)
		pthread_create(&thread[i], NULL, calls, (void *)i);
	for (int i = 0; i < %[2]d; i++)
		pthread_join(thread[i], NULL);
	MPI_Finalize();
	return 0;
}`, each, threads), "-pthread")
	got := runRecorded(t, []string{"GOMPIRMA_INSIGHT_RING=1"}, 0, "-n", "1", program)
	require.Len(t, got, threads+1)
	all := 0
	for thread, lines := range got {
		if thread == "0.0" {
			require.Len(t, lines, 4)
			continue
		}
		require.Len(t, lines, each)
		for _, line := range lines {
			require.Regexp(t, `MPI_Type_size\(datatype=0x2(09|14)\) = 0 \(size=\[[48]\]\)$`, line)
		}
		all += strings.Count(strings.Join(lines, "\n"), "size=[4]")
	}
	require.Equal(t, each/4, all)
}

// TestInsightKilled checks that a killed rank leaves all its records, including that of the call in which it was
// killed.
func TestInsightKilled(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(void)
{
	int rank, size;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		MPI_Recv(&size, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 50000; i++)
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	kill(getpid(), SIGKILL);
	return 0;
}`)
	got := runRecorded(t, nil, 128+9, "-n", "2", program)
	require.Equal(t, "program > MPI_Recv(buf=A, count=1, datatype=0x209, source=1, tag=1, comm=0x101)",
		got["0.0"][len(got["0.0"])-1])
	require.Len(t, got["1.0"], 3+50000)
}

// TestInsightLoadedLater checks that calls are recorded in a program that loads MPI with a plugin, as an interpreter
// loads an extension module.
func TestInsightLoadedLater(t *testing.T) {
	dir := t.TempDir()
	file, library := filepath.Join(dir, "extension.c"), filepath.Join(dir, "extension.so")
	source := strings.Replace(recordedProgram, "int main(", "int extension(", 1)
	require.NoError(t, os.WriteFile(file, []byte(source), 0o644))
	runTool(t, "gompicc", "-shared", "-fPIC", "-o", library, file)
	main := filepath.Join(dir, "main.c")
	require.NoError(t, os.WriteFile(main, []byte(`
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *library = dlopen("`+library+`", RTLD_NOW | RTLD_LOCAL);
	int (*extension)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "extension") : 0;
	return extension ? extension(argc, argv) : 7;
}`), 0o644))
	program := filepath.Join(dir, "main")
	harness.Output(t, exec.Command("gcc", "-o", program, main))
	got := runRecorded(t, nil, 0, "-n", "2", program)
	want := calls("extension.so", 0)
	require.Len(t, got["0.0"], len(want))
	require.Equal(t, want[9], got["0.0"][9])
}

// TestInsightFortran checks that Fortran calls are recorded, under MPI and PMPI names, with the Fortran program as the
// caller. The bindings also call MPI to convert arguments, such as array sections to datatypes. Those calls are not
// recorded.
func TestInsightFortran(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	file, program := filepath.Join(dir, "program.f90"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(file, []byte(`program p
  use mpi_f08
  implicit none
  integer :: rank, data(4), list(8) = 0
  type(MPI_Win) :: win
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Win_create(data, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_fence(0, win)
  call MPI_Put(rank, 1, MPI_INTEGER, 1 - rank, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
  call PMPI_Win_fence(0, win)
  call MPI_Win_free(win)
  call PMPI_Irecv(list(2), 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, request)
  call MPI_Send(list(1:8:7), 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD)
  call PMPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Finalize()
end program
`), 0o644))
	runTool(t, "gompifort", "-o", program, file)
	got := runRecorded(t, nil, 0, "-n", "2", program)
	var names []string
	for _, line := range got["1.0"] {
		object, call, _ := strings.Cut(line, " ")
		require.Equal(t, "program", object, line)
		if name, _, _ := strings.Cut(call, "("); !strings.HasPrefix(name, ">") {
			names = append(names, name)
		}
	}
	require.Equal(t, []string{"MPI_Init", "MPI_Comm_rank", "MPI_Win_create", "MPI_Win_fence", "MPI_Put",
		"MPI_Win_fence", "MPI_Win_free", "MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Finalize"}, names)
	require.Contains(t, strings.Join(got["1.0"], "\n"), "target_rank=0, target_disp=1")
}

// TestInsightNestedCalls checks that calls that callbacks make are recorded inside the outer call, and that recording
// continues after a longjmp out of a call.
func TestInsightNestedCalls(t *testing.T) {
	program := compile(t, `
#include <mpi.h>
#include <setjmp.h>
static jmp_buf away;
static void leave(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	longjmp(away, 1);
}
static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	int size;
	(void)key, (void)value, (void)extra;
	return MPI_Comm_size(comm, &size);
}
static __attribute__((noinline)) int deeper(MPI_Comm comm)
{
	int size;
	return MPI_Comm_test_inter(comm, &size) + size;
}
int main(void)
{
	int key, rank;
	MPI_Comm comm;
	MPI_Errhandler handler;
	MPI_Init(NULL, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
	MPI_Comm_set_attr(comm, key, NULL);
	MPI_Comm_create_errhandler(leave, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	if (setjmp(away) == 0)
		MPI_Send(NULL, -1, MPI_INT, 0, 0, comm);
	deeper(comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}`)
	var names []string
	for _, line := range runRecorded(t, nil, 0, "-n", "1", program)["0.0"] {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "program "), "(")
		names = append(names, name)
	}
	require.Equal(t, []string{"> MPI_Init", "MPI_Init", "> MPI_Comm_dup", "MPI_Comm_dup", "MPI_Comm_create_keyval",
		"MPI_Comm_set_attr", "MPI_Comm_create_errhandler", "MPI_Comm_set_errhandler", "> MPI_Send",
		"MPI_Comm_test_inter", "MPI_Comm_rank", "> MPI_Comm_free", "MPI_Comm_free", "> MPI_Finalize",
		"MPI_Finalize"}, names)
}

// TestInsightDropped checks that a rank drops the records that do not fit into the ring, and counts them. In a mode
// without waiting it drops them at once; otherwise it first waits ten seconds for a reader.
func TestInsightDropped(t *testing.T) {
	const n = 100000
	program := compile(t, fmt.Sprintf(`
#include <mpi.h>
int main(void)
{
	int size;
	for (int i = 0; i < %d; i++)
		MPI_Initialized(&size);
	return 0;
}`, n))
	for name, waits := range map[string]insight.Mode{"lost": 0, "nobody reads": insight.WaitForSpace} {
		t.Run(name, func(t *testing.T) {
			if waits != 0 {
				t.Parallel() // the program waits ten seconds for a reader
			}
			m, err := insight.Create(1, insight.Records|waits, 0)
			require.NoError(t, err)
			defer m.Close()
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), insight.EnvFd+"=3", "PMI_RANK=0",
				"LD_PRELOAD="+filepath.Join(built(t), "lib/libgompirma-insight.so"))
			cmd.ExtraFiles = []*os.File{m.File()}
			harness.Output(t, cmd)
			lost := m.Rank(0).Dropped()
			require.Positive(t, lost)
			var r insight.Record
			got, err := m.Rank(0).Read(func(words []uint64) {
				require.NoError(t, r.Decode(words))
				require.Equal(t, "MPI_Initialized", r.Function.Name)
			})
			require.NoError(t, err)
			require.Equal(t, n, got+int(lost))
			require.Equal(t, cmd.Process.Pid, m.Rank(0).Pid())
		})
	}
}
