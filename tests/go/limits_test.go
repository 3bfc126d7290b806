package gotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/version"
	"gompirma/tests/go/harness"
)

// This file tests programs under limits of setrlimit(2), set by a shell's ulimit. The program must run, or one line
// must report which limit is too low.

// usesAllDescriptors is a program that uses all features that need memory or descriptors: windows of every kind,
// MPI_Alloc_mem, large and small messages, and communicators.
const usesAllDescriptors = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 1 << 18 };
static int rank, size, wrong;
static void use(MPI_Win win, double *mem)
{
    double x = rank + 1, y = 0;
    MPI_Aint at = 0;
    if (mem != NULL) {
        MPI_Get_address(mem, &at);
        MPI_Sendrecv_replace(&at, 1, MPI_AINT, (rank + size - 1) % size, 0, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Put(&x, 1, MPI_DOUBLE, (rank + 1) % size, at, 1, MPI_DOUBLE, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&y, 1, MPI_DOUBLE, (rank + 1) % size, at, 1, MPI_DOUBLE, win);
    MPI_Win_unlock_all(win);
    wrong += y != x;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}
int main(void)
{
    double *mem, *other, sum;
    MPI_Win win;
    MPI_Comm comm;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(8 * N, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, 8 * N);
    use(win, NULL);
    MPI_Win_allocate_shared(8 * N, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    use(win, NULL);
    mem = calloc(N, 8);
    MPI_Win_create(mem, 8 * N, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use(win, NULL);
    MPI_Alloc_mem(8 * N, MPI_INFO_NULL, &other);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, other, 8 * N);
    MPI_Barrier(MPI_COMM_WORLD);
    use(win, other);
    MPI_Free_mem(other);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Sendrecv_replace(mem, N, MPI_DOUBLE, (rank + 1) % size, 1, (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    mem[0] = 1;
    MPI_Allreduce(mem, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Bcast(mem, N, MPI_DOUBLE, 0, comm);
    wrong += sum != size;
    MPI_Comm_free(&comm);
    MPI_Finalize();
    printf("%s %d of %d\n", wrong ? "wrong" : "right", rank, size);
    return 0;
}
`

// launchLimited prepares a command that runs under a shell's ulimit without root's capabilities.
func launchLimited(t *testing.T, ulimit string, command ...string) *launch {
	shell, err := exec.LookPath("bash")
	if err != nil {
		shell = "/bin/sh"
	}
	// Close the descriptors that this test inherited, because they count toward the limit.
	command = append([]string{shell, "-c", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit " + ulimit +
		` && exec "$0" "$@"`}, command...)
	if os.Geteuid() == 0 { // drop only root's capabilities: another user might not be able to read the programs
		command = append([]string{"setpriv", "--bounding-set", "-all", "--"}, command...)
	}
	program, err := exec.LookPath(command[0])
	require.NoError(t, err)
	return prepareProgram(t, program, command[1:]...)
}

// requireRight runs l, and checks that each of n ranks prints one line and that standard error is empty.
func requireRight(t *testing.T, l *launch, n int) {
	t.Helper()
	require.Zero(t, l.run(t), "%s%s", &l.Out, &l.Err)
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("right %d of %d", i, n))
	}
	require.Equal(t, want, sorted(l.Out.String()))
	require.Empty(t, l.Err.String())
}

// requireNoSegments returns a function that checks that no System V segment was added since the call of
// requireNoSegments.
func requireNoSegments(t *testing.T) func() {
	before, err := os.ReadFile("/proc/sysvipc/shm")
	require.NoError(t, err)
	return func() {
		after, err := os.ReadFile("/proc/sysvipc/shm")
		require.NoError(t, err)
		require.Equal(t, strings.Count(string(before), "\n"), strings.Count(string(after), "\n"), "%s%s",
			before, after)
	}
}

// TestLimitFiles checks that the file size limit (ulimit -f) does not limit the library's memory, although that memory
// is in memfds. Only a limit of 0 is an error.
func TestLimitFiles(t *testing.T) {
	program := compile(t, usesAllDescriptors)
	gompirun := filepath.Join(built(t), "bin/gompirun")
	defer requireNoSegments(t)()
	for _, limit := range []string{"-f 1000", "-S -f 1000", "-f 1"} {
		for _, c := range []struct {
			command string
			ranks   int
		}{{gompirun + " -n 4 ", 4}, {gompirun + " -n 1 ", 1}, {"", 1}, {"mpiexec.mpich -n 2 ", 2}} {
			t.Run(limit+" "+filepath.Base(c.command), func(t *testing.T) {
				if c.ranks == 2 {
					harness.NeedCommand(t, "mpiexec.mpich")
				}
				l := launchLimited(t, limit, strings.Fields(c.command+program)...)
				requireRight(t, l, c.ranks)
			})
		}
	}
	for _, command := range []string{gompirun + " -n 2 " + program, program} {
		l := launchLimited(t, "-f 0", strings.Fields(command)...)
		require.NotZero(t, l.run(t))
		require.Regexp(t, `^gompi\S+: .*the file size limit is 0 \(ulimit -f\).*\n$`, l.Err.String())
	}
}

// TestLimitFilesOutput checks that gompirun reports the file size limit when the file with a rank's output exceeds it.
func TestLimitFilesOutput(t *testing.T) {
	l := launchLimited(t, "-f 4", filepath.Join(built(t), "bin/gompirun"), "-n", "1", "/bin/sh", "-c",
		"yes | head -n 100000")
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	l.Cmd.Stdout = file
	require.Equal(t, 1, l.run(t))
	require.Regexp(t, `^gompirun: cannot write the output: .*file too large\n$`, l.Err.String())
}

// TestLimitDescriptors checks that a rank runs with a low limit of open files, and that an error names a limit that is
// too low.
func TestLimitDescriptors(t *testing.T) {
	program := compile(t, usesAllDescriptors)
	for _, limit := range []string{"-n 9", "-n 64"} {
		l := launchLimited(t, limit, program)
		l.Cmd.Env = append(l.Cmd.Env, "GOMPIRMA_SHARE_IN_PLACE=require")
		require.Zero(t, l.run(t), "%s: %s", limit, l.Err.String())
		require.Equal(t, "right 0 of 1\n", l.Out.String(), limit)
	}
	l := launchLimited(t, "-n 6", program)
	require.NotZero(t, l.run(t))
	require.Regexp(t, `^gompirma: .*\(ulimit -n 6\)\n$`, l.Err.String())
	l = launchLimited(t, "-n 20", filepath.Join(built(t), "bin/gompirun"), "-n", "4", program)
	require.NotZero(t, l.run(t))
	require.Regexp(t,
		`^gompirun: a job of 4 processes needs \d+ file descriptors, but the limit is 20: raise ulimit -n\n$`,
		l.Err.String())
	l = launchLimited(t, "-n 20", filepath.Join(built(t), "bin/gompirun"), "--nodes", "2", "-n", "2", program)
	require.NotZero(t, l.run(t))
	require.Regexp(t, `^gompirun: a job of 2 processes on 2 nodes needs \d+ file descriptors, `+
		`but the limit is 20: raise ulimit -n\n$`, l.Err.String())
}

// TestLimitIsNamed checks that gompirun and a rank each report, in one line, the limit that prevents them from running.
func TestLimitIsNamed(t *testing.T) {
	program := compile(t, usesAllDescriptors)
	gompirun := filepath.Join(built(t), "bin/gompirun")
	for _, c := range []struct{ limit, says string }{
		{"-v 300000",
			`^gompirma: the Go runtime in this process failed: .* \(ulimit -v 300000; \d+ is enough to start\)\n$`},
		{"-v 1000000",
			`^gompirun: the limit on address space is too low \(ulimit -v 1000000\): at least \d+ KiB are needed\n$`},
		{"-v 1500000",
			`^gompirun: the limit on address space is too low \(ulimit -v 1500000\): at least \d+ KiB are needed\n$`},
		{"-v 1800000", `gompirma: the limit on address space is too low \(ulimit -v 1800000\): .*\n`},
		{"-d 30000",
			`^gompirma: the Go runtime in this process failed: .* \(ulimit -d 30000; \d+ is enough to start\)\n$`},
		{"-d 90000", `gompirma: the limit on the data segment is too low \(ulimit -d 90000\): .*\n`},
		{"-u 1", `^gompirma: the Go runtime in this process failed: .*ulimit -u.*\n$`},
		{"-u 12", `ulimit -u`},
	} {
		t.Run(c.limit, func(t *testing.T) {
			l := launchLimited(t, c.limit, gompirun, "-n", "2", program)
			if strings.HasPrefix(c.limit, "-u") {
				runAsOtherUser(t, l, program)
			}
			require.NotZero(t, l.run(t))
			require.Regexp(t, c.says, l.Err.String())
			require.NotContains(t, l.Err.String(), "goroutine")
			require.LessOrEqual(t, strings.Count(l.Err.String(), "\n"), 3, l.Err.String())
		})
	}
	for _, limit := range []string{"-v 3000000", "-d 400000", "-s 64", "-s unlimited", "-l 0", "-m 100", "-c 0",
		"-i 0", "-q 0"} {
		l := launchLimited(t, limit, gompirun, "-n", "2", program)
		require.Zero(t, l.run(t), "%s: %s", limit, l.Err.String())
		require.Equal(t, []string{"right 0 of 2", "right 1 of 2"}, sorted(l.Out.String()), limit)
		require.Empty(t, l.Err.String(), limit)
	}
}

// locksAllMemory is a program that calls mlockall for its future memory. It then creates a window, or a datatype of
// many blocks.
const locksAllMemory = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    enum { BLOCKS = 4 << 20 };
    double *mem;
    MPI_Win win;
    MPI_Datatype type;
    int *lengths = calloc(BLOCKS, sizeof *lengths), *at = calloc(BLOCKS, sizeof *at);
    MPI_Init(&argc, &argv);
    if (mlockall(MCL_FUTURE) != 0)
        return 77;
    if (argc == 1)
        MPI_Win_allocate(64 << 20, 8, MPI_INFO_NULL, MPI_COMM_SELF, &mem, &win);
    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = 1 + i % 2;
        at[i] = 3 * i + i % 3;
    }
    MPI_Type_indexed(BLOCKS, lengths, at, MPI_INT, &type);
    puts("done");
    return 0;
}
`

// TestLimitLockedMemory checks that an error names the limit of locked memory (ulimit -l) if an allocation fails
// because of it.
func TestLimitLockedMemory(t *testing.T) {
	program := compile(t, locksAllMemory)
	l := launchLimited(t, "-l 8192", program)
	status := l.run(t)
	if status == 77 {
		t.Skip("this process may not lock memory")
	}
	require.NotZero(t, status)
	require.Regexp(t,
		`^gompirma: .*the process has locked \d+ KiB of memory; the limit is 8192 KiB, ulimit -l\)\n$`,
		l.Err.String())
	l = launchLimited(t, "-l 8192", program, "type")
	require.NotZero(t, l.run(t))
	require.Regexp(t, `ulimit -l 8192`, l.Err.String())
}

// runAsOtherUser makes a launch of gompirun run as a user who has no other processes, because ulimit -u does not apply
// to root. It copies the programs to a directory that any user can read.
func runAsOtherUser(t *testing.T, l *launch, program string) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run the job as a user without other processes")
	}
	dir := t.TempDir()
	for _, folder := range []string{filepath.Dir(dir), dir} {
		require.NoError(t, os.Chmod(folder, 0o755))
	}
	copied := map[string]string{}
	for _, file := range []string{program, filepath.Join(built(t), "bin/gompirun"),
		filepath.Join(built(t), "lib/libgompirma.so."+version.Major())} {
		bytes, err := os.ReadFile(file)
		require.NoError(t, err)
		copied[file] = filepath.Join(dir, filepath.Base(file))
		require.NoError(t, os.WriteFile(copied[file], bytes, 0o755))
	}
	args := l.Cmd.Args[4:] // remove setpriv --bounding-set -all --
	for i, arg := range args {
		if to, ok := copied[arg]; ok {
			args[i] = to
		}
	}
	l.Cmd.Path, l.Cmd.Args, l.Cmd.Dir = args[0], args, dir
	l.Cmd.Env = append(l.Cmd.Env, "LD_LIBRARY_PATH="+dir)
	l.Cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64999, Gid: 64999}}
}

// usesAllMappings is a program whose first argument is the number of memory mappings that the system permits. It
// creates nearly as many mappings, and then allocates memory until allocation fails.
const usesAllMappings = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    long most = argc > 1 ? atol(argv[1]) : 0, have = 0;
    char line[1000], text[MPI_MAX_ERROR_STRING], *mem[64];
    int rc = MPI_SUCCESS, n;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (FILE *maps = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, maps) != NULL; have++)
        ;
    char *pages = mmap(NULL, 4096 * most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 1; have < most - 40; i += 2, have += 2)
        mprotect(pages + 4096 * i, 4096, PROT_READ);
    int got = 0;
    while (got < 64 && (rc = MPI_Alloc_mem(2 << 20, MPI_INFO_NULL, &mem[got])) == MPI_SUCCESS)
        got++;
    MPI_Error_string(rc, text, &n);
    printf("%s\n", text);
    while (got > 0)
        MPI_Free_mem(mem[--got]);
    munmap(pages, 4096 * most);
    rc = MPI_Alloc_mem(2 << 20, MPI_INFO_NULL, &mem[0]);
    printf("%d\n", rc);
    MPI_Free_mem(mem[0]);
    MPI_Finalize();
    return 0;
}
`

// TestLimitMappings checks that an error caused by too many memory mappings names the setting vm.max_map_count.
func TestLimitMappings(t *testing.T) {
	program := compile(t, usesAllMappings)
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	require.NoError(t, err)
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	if most > 1<<20 {
		t.Skipf("vm.max_map_count is %d: creating so many mappings takes too long", most)
	}
	status, out, stderr := gompirun(t, "-n", "1", program, strconv.Itoa(most))
	require.Zero(t, status, stderr)
	require.Regexp(t, fmt.Sprintf(
		`MPI_ERR_NO_MEM: .*the process has \d+ mappings; the limit vm\.max_map_count is %d\)\)?\n0\n$`, most),
		out)
}
