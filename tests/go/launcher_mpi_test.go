package gotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// This file tests gompirun with MPI programs. It also runs the same programs under other launchers and without a
// launcher.

// endings is a program that ends in the way that the first argument names. In most of these ways one rank, usually rank
// 1, ends abnormally.
const endings = `
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int is(char **argv, const char *name) { return strcmp(argv[1], name) == 0; }
static void *receive(void *tag)
{
    MPI_Recv(NULL, 0, MPI_INT, 1, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}
int main(int argc, char **argv)
{
    int rank, size, tags[] = {1, 2, 3}, provided;
    if (argc < 2)
        return 99;
    if (is(argv, "no-init")) {
        if (atoi(getenv("PMI_RANK")) == 1)
            return 0;
    }
    MPI_Init_thread(&argc, &argv, is(argv, "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("up %d of %d\n", rank, size);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(argv, "abort") && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    if (is(argv, "raise") && (rank == 1 || size == 1))
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, atoi(argv[2]));
    if (is(argv, "own") && rank == 1) {
        int code;
        MPI_Add_error_code(MPI_ERR_ARG, &code);
        MPI_Add_error_string(code, "the mesh has 7 corners");
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
    }
    if (is(argv, "fatal") && rank == 1)
        MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD);
    if (is(argv, "no-finalize") && rank == 1)
        return 0;
    if (is(argv, "status") && rank == 1)
        return 5;
    if (is(argv, "signal") && rank == 1)
        raise(atoi(argv[2]));
    if (is(argv, "loop"))
        for (;;)
            ;
    if (is(argv, "sleep"))
        for (;;)
            pause();
    if (is(argv, "threads") && rank == 0) {
        pthread_t thread;
        for (int i = 0; i < 2; i++)
            pthread_create(&thread, NULL, receive, &tags[i]);
        MPI_Probe(MPI_ANY_SOURCE, tags[2], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is(argv, "hang") && rank == 0)
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!is(argv, "fine") && !is(argv, "after"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (is(argv, "after")) {
        if (rank == 1)
            return 5;
        usleep(100000);
        printf("still here\n");
    }
    return 0;
}
`

func TestLauncherMPI(t *testing.T) {
	program := compile(t, endings, "-pthread")
	up := "up 0 of 3\nup 1 of 3\nup 2 of 3"
	for _, c := range []struct {
		args   string
		status int
		out    string
		says   string
	}{
		{"fine", 0, up, ""},
		{"abort 42", 42, up, "gompirun: rank 1 (program) called MPI_Abort with status 42\n"},
		{"abort 0", 1, up, "gompirun: rank 1 (program) called MPI_Abort with status 1\n"},
		{"abort 256", 1, up, "gompirun: rank 1 (program) called MPI_Abort with status 1\n"},
		{"abort -1", 255, up, "gompirun: rank 1 (program) called MPI_Abort with status "},
		{"raise 300", 300 - 256, up, "gompirma: rank 1: MPI_Comm_call_errhandler on communicator " +
			"MPI_COMM_WORLD: error code 300\ngompirun: rank 1 (program) was ended by the MPI error that " +
			"it printed " +
			"(MPI_ERRORS_ARE_FATAL), with status 44\n"},
		{"raise 256", 1, up, "gompirun: rank 1 (program) was ended by the MPI error that it printed " +
			"(MPI_ERRORS_ARE_FATAL), with status 1\n"},
		{"own", 1, up, "gompirma: rank 1: MPI_Comm_call_errhandler on communicator MPI_COMM_WORLD: error " +
			"code 16384 (the mesh has 7 corners)\ngompirun: "},
		{"no-finalize", 1, up, "gompirun: rank 1 (program) exited with status 0 before " +
			"MPI_Finalize\n"},
		{"status", 5, up, "gompirun: rank 1 (program) exited with status 5; it had not called MPI_Finalize\n"},
		{"signal 11", 139, up, "gompirun: rank 1 (program) was killed by signal 11 (segmentation fault"},
		{"signal 9", 137, up, "gompirun: rank 1 (program) was killed by signal 9 (killed); it had not called " +
			"MPI_Finalize\n"},
		{"no-init", 1, "", "gompirun: rank 1 (program) exited with status 0 without MPI_Init, but " +
			"other ranks called MPI_Init\n"},
		{"after", 5, "still here\nstill here\n" + up,
			"gompirun: rank 1 (program) exited with status 5; it had already called MPI_Finalize\n"},
	} {
		status, out, err := gompirun(t, append([]string{"-n", "3", program}, strings.Fields(c.args)...)...)
		require.Equal(t, c.status, status, "%s: %s", c.args, err)
		require.Equal(t, c.out, strings.Join(sorted(out), "\n"), c.args)
		require.Contains(t, err, c.says)
		if c.says == "" {
			require.Empty(t, err)
		}
		// gompirun prints one line about the end of a rank. MPI_Abort and a fatal error print a line of their
		// own.
		most := 1
		if strings.HasPrefix(c.args, "abort") || strings.HasPrefix(c.args, "raise") || c.args == "own" {
			most = 2
		}
		require.LessOrEqual(t, strings.Count(err, "\n"), most, err)
	}
	status, _, err := gompirun(t, "-n", "3", program, "fatal")
	require.NotZero(t, status)
	require.Contains(t, err, "MPI_Send")
	require.Contains(t, err, "gompirun: rank 1 (program) was ended by the MPI error that it printed")
}

// TestFatalWithoutLauncher checks that a fatal error ends a process without a launcher with a nonzero exit status. An
// error code of the application whose low 8 bits are 0 would otherwise become status 0.
func TestFatalWithoutLauncher(t *testing.T) {
	program := compile(t, endings, "-pthread")
	for code, want := range map[string]int{"0": 1, "1": 1, "44": 44, "256": 1, "300": 44, "65536": 1} {
		cmd := exec.Command(program, "raise", code)
		cmd.Run()
		require.Equal(t, want, cmd.ProcessState.ExitCode(), code)
	}
}

// TestAbortWithLockedStdio checks that MPI_Abort ends a process without a launcher even if another thread holds the
// lock of a stdio stream. exit() would wait for the lock to flush the stream.
func TestAbortWithLockedStdio(t *testing.T) {
	t.Parallel()
	program := compile(t, `
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_barrier_t held;
static void *hold(void *arg)
{
    flockfile(stdout);
    pthread_barrier_wait(&held);
    for (;;)
        pause();
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    MPI_Init(&argc, &argv);
    pthread_barrier_init(&held, NULL, 2);
    pthread_create(&thread, NULL, hold, NULL);
    pthread_barrier_wait(&held);
    MPI_Abort(MPI_COMM_WORLD, 7);
    return 0;
}
`, "-pthread")
	l := prepareProgram(t, program)
	require.Equal(t, 7, l.run(t), &l.Err)
}

func TestLauncherMPITimeout(t *testing.T) {
	t.Parallel()
	program := compile(t, endings, "-pthread")
	status, _, err := gompirun(t, "--timeout", "0.5", "-n", "4", program, "hang")
	require.Equal(t, 124, status, err)
	require.Contains(t, err, "gompirun: rank 0 waits in MPI_Recv (tag 0) for rank 1\n")
	require.Contains(t, err, "gompirun: ranks 1-3 wait in MPI_Barrier on MPI_COMM_WORLD for rank 0\n")
	status, _, err = gompirun(t, "--nodes", "3", "--timeout", "4", "-n", "4", program, "hang")
	require.Equal(t, 124, status, err)
	require.Contains(t, err, "gompirun: rank 0 waits in MPI_Recv (tag 0) for rank 1\n", "rank 1 is on another node")
	require.Contains(t, err, "in MPI_Barrier on MPI_COMM_WORLD for rank 0\n")
	status, _, err = gompirun(t, "--timeout", "1", "-n", "2", program, "threads")
	require.Equal(t, 124, status, err)
	require.Contains(t, err, "gompirun: rank 0 waits in MPI_Probe (tag 3) for any rank of MPI_COMM_WORLD, "+
		"in MPI_Recv (tag 1) for rank 1, in MPI_Recv (tag 2) for rank 1\n")
	status, _, err = gompirun(t, "--timeout", "0.5", "-n", "2", program, "sleep")
	require.Equal(t, 124, status, err)
	require.Contains(t, err, "gompirun: ranks 0-1 are not blocked in MPI (computing, or polling with MPI_Test)\n")
}

// TestLauncherLibraries checks that a program under gompirun finds gompirma's library if neither an rpath nor
// LD_LIBRARY_PATH names its directory. The program is linked to another MPI's library of the standard ABI, or to
// libgompirma. gompirun starts it directly or through another command. Directories in LD_LIBRARY_PATH take precedence.
func TestLauncherLibraries(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
		return path
	}
	source, stub := write("p.c", ringProgram),
		write("stub.c", "int "+strings.Join(
			strings.Fields(`MPI_Init MPI_Comm_rank MPI_Comm_size MPI_Win_allocate
		MPI_Win_fence MPI_Put MPI_Win_free MPI_Finalize`), "(void) { return 0; }\nint ")+"(void) { return 0; }\nint stub;\n")
	include := "-I" + filepath.Join(built(t), "include")
	command(t, dir, nil, "gcc", include, "-o", "bare", source, "-L"+filepath.Join(built(t), "lib"), "-lgompirma")
	programs := []string{"bare"}
	for _, soname := range []string{"libmpi_abi.so", "libmpi_abi.so.0", "libmpi_abi.so.1"} {
		command(t, dir, nil, "gcc", "-shared", "-fPIC", "-Wl,-soname,"+soname, "-o", soname, stub)
		command(t, dir, nil, "gcc", include, "-o", "p-"+soname, source, soname)
		programs = append(programs, "p-"+soname)
	}
	// The working directory of the ranks contains another MPI's library, which must not be used.
	for _, path := range []string{"unset", "", "/nowhere"} {
		for _, program := range programs {
			for _, args := range [][]string{{"./" + program}, {"sh", "-c", "./" + program},
				{"env", "A=1", "./" + program}} {
				l := prepare(t, append([]string{"-n", "2"}, args...)...)
				l.Cmd.Dir = dir
				l.Cmd.Env = slices.DeleteFunc(l.Cmd.Env,
					func(v string) bool { return strings.HasPrefix(v, "LD_LIBRARY_PATH=") })
				if path != "unset" {
					l.Cmd.Env = append(l.Cmd.Env, "LD_LIBRARY_PATH="+path)
				}
				require.Equal(t, 0, l.run(t), "LD_LIBRARY_PATH %q, %v: %s", path, args, &l.Err)
				require.Equal(t, "rank 0 of 2 got 1\nrank 1 of 2 got 0",
					strings.Join(sorted(l.Out.String()), "\n"), args)
			}
		}
	}
	for _, program := range programs[1:] {
		l := prepare(t, "-n", "1", "-x", "LD_LIBRARY_PATH="+dir, "sh", "-c", "LD_DEBUG=files ./"+program+
			" 2>&1 | grep -c /libgompirma.so")
		l.Cmd.Dir = dir
		l.run(t)
		require.Equal(t, "0\n", l.Out.String(),
			"%s: gompirma's library was loaded, although LD_LIBRARY_PATH names another", program)
	}
}

// TestLauncherMPIKills checks that no process remains or hangs after a signal kills gompirun or a rank.
func TestLauncherMPIKills(t *testing.T) {
	program := compile(t, endings, "-pthread")
	start := func(mode string, wrapped bool) *launch {
		args := []string{"-n", "3", program, mode}
		if wrapped {
			args = []string{"-n", "3", "sh", "-c", `"$0" ` + mode + `; echo ended`, program}
		}
		l := prepare(t, args...)
		require.NoError(t, l.Cmd.Start())
		require.Eventually(t, func() bool { return strings.Count(l.Out.String(), "up") == 3 }, hangTimeout,
			time.Millisecond, "%s", &l.Err)
		return l
	}
	for _, mode := range []string{"loop", "sleep", "hang"} {
		for _, wrapped := range []bool{false, true} {
			for signal, status := range map[syscall.Signal]int{syscall.SIGKILL: 137, syscall.SIGTERM: 143,
				syscall.SIGINT: 130} {
				l := start(mode, wrapped)
				require.NoError(t, l.Cmd.Process.Signal(signal))
				require.Equal(t, status, l.wait(t), "%s, wrapped: %v, %v", mode, wrapped, signal)
			}
		}
		// Kill a rank, not gompirun.
		l := start(mode, false)
		victim := 0
		for _, p := range l.processes() {
			if pid, command, _ := strings.Cut(p, " "); strings.HasPrefix(command, program) {
				fmt.Sscan(pid, &victim)
			}
		}
		require.NotZero(t, victim)
		require.NoError(t, syscall.Kill(victim, syscall.SIGKILL))
		require.Equal(t, 137, l.wait(t), mode)
		require.Contains(t, l.Err.String(), "was killed by signal 9 (killed); it had not called MPI_Finalize\n")
	}
}

func TestLauncherTwoPrograms(t *testing.T) {
	program := compile(t, endings, "-pthread")
	// A rank must not run two MPI programs one after the other: the second program is an error.
	status, _, err := gompirun(t, "-n", "2", "sh", "-c", `"$0" fine && "$0" fine`, program)
	require.NotZero(t, status)
	require.Contains(t, err, "before")
	// But several programs in one command line form one job, even if a script starts one of them.
	status, out, err := gompirun(t, "-n", "1", program, "fine", ":", "-n", "2", "sh", "-c", `exec "$0" fine`,
		program)
	require.Zero(t, status, err)
	require.Equal(t, []string{"up 0 of 3", "up 1 of 3", "up 2 of 3"}, sorted(out))
}

// TestLauncherLateMessage checks that gompirun reads a PMI message that a rank has sent just before its end. This must
// work even if gompirun notices the end before it reads the message.
func TestLauncherLateMessage(t *testing.T) {
	for range 5 {
		status, _, err := gompirun(t, "-n", "20", "sh", "-c",
			`printf "cmd=init pmi_version=1 pmi_subversion=1\ncmd=finalize\n" >&3; sleep 600 >/dev/null 2>&1 & :`)
		require.Zero(t, status, err)
	}
}

func TestWithoutLauncher(t *testing.T) {
	program := compile(t, endings, "-pthread")
	for _, c := range []struct {
		mode   string
		status int
	}{{"fine", 0}, {"no-finalize", 0}} {
		l := prepareProgram(t, program, c.mode)
		require.Equal(t, c.status, l.run(t), &l.Err)
		require.Equal(t, "up 0 of 1\n", l.Out.String())
	}
	// A command between gompirun and the program has closed the descriptors of gompirun. The ranks must fail with
	// an error, because otherwise they would be n jobs of one process each.
	status, out, err := gompirun(t, "-n", "2", "sh", "-c", `exec "$0" fine 3>&- 4>&-`, program)
	require.NotZero(t, status)
	require.Empty(t, out)
	require.Contains(t, err, "PMI_FD")
	// If only the control segment is missing, the ranks create their own.
	status, out, err = gompirun(t, "-n", "3", "sh", "-c", `exec "$0" all 4>&-`, program)
	require.Zero(t, status, err)
	require.Len(t, sorted(out), 3)
}

func TestUnderHydra(t *testing.T) {
	harness.NeedCommand(t, "mpiexec.mpich")
	mpiexec, err := exec.LookPath("mpiexec.mpich")
	require.NoError(t, err)
	program := compile(t, endings, "-pthread")
	for _, args := range [][]string{{"-n", "4"}, {"-pmi-port", "-n", "4"}} {
		l := prepareProgram(t, mpiexec, append(args, program, "all")...)
		require.Zero(t, l.run(t), &l.Err)
		require.Equal(t, []string{"up 0 of 4", "up 1 of 4", "up 2 of 4", "up 3 of 4"}, sorted(l.Out.String()))
	}
	l := prepareProgram(t, mpiexec, "-n", "3", program, "abort", "42")
	require.Equal(t, 42, l.run(t), &l.Err)
	l = prepareProgram(t, mpiexec, "-n", "3", program, "signal", "11")
	require.NotZero(t, l.run(t))
}

// TestLauncherOtherMPI checks that gompirun starts programs of another MPI library that uses PMI-1.
func TestLauncherOtherMPI(t *testing.T) {
	harness.NeedCommand(t, "mpicc.mpich")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "program.c"), []byte(endings), 0o644))
	command(t, dir, nil, "mpicc.mpich", "-o", "program", "program.c")
	status, out, err := gompirun(t, "-n", "3", filepath.Join(dir, "program"), "fine")
	require.Zero(t, status, err)
	require.Equal(t, []string{"up 0 of 3", "up 1 of 3", "up 2 of 3"}, sorted(out))
	status, _, err = gompirun(t, "-n", "3", filepath.Join(dir, "program"), "abort", "42")
	require.Equal(t, 42, status)
	require.Contains(t, err, "rank 1 (program) called MPI_Abort with status 42")
}

// TestLauncherForeignMPI checks that gompirun rejects a program that is linked to an incompatible MPI library. If
// only a library of the program is linked to such an MPI library, gompirun warns. Stubs replace Open MPI's and MPICH's
// libraries.
func TestLauncherForeignMPI(t *testing.T) {
	dir := t.TempDir()
	command(t, dir, nil, "sh", "-ec", `
		library() { # FILE NAME SOURCE [LIBRARY...]
			echo "$3" | gcc -shared -fPIC -Wl,-soname,$2,-rpath,\$ORIGIN -o $1 -xc - -xnone $4
		}
		program() { echo "$2" | gcc -Wl,-rpath,\$ORIGIN -o $1 -xc - -xnone $3; }
		mkdir instead
		library libopen-pal.so.40 libopen-pal.so.40 "void opal(void) {}"
		library libmpi.so.40 libmpi.so.40 "void opal(void); void MPI_Init(void) { opal(); }" libopen-pal.so.40
		library libuser.so libuser.so "void MPI_Init(void); void user(void) { MPI_Init(); }" libmpi.so.40
		library libmpich.so.12 libmpich.so.12 "void MPI_Init(void) {}"
		library instead/libmpi.so.40 libmpi.so.40 "int stub; void MPI_Init(void) {}" # works with another MPI
		program open-mpi "void MPI_Init(void); int main(void) { MPI_Init(); return 0; }" libmpi.so.40
		program indirect "void user(void); int main(void) { user(); return 0; }" libuser.so
		program mpich "void MPI_Init(void); int main(void) { MPI_Init(); return 0; }" libmpich.so.12`)
	isOpenMPI := " is linked to Open MPI (" + dir + "/libmpi.so.40), so its 2 processes would be 2 jobs of one " +
		"process each: compile it with gompicc, or start it with Open MPI's mpirun\n"
	isMPICH := "gompirun: ./mpich is linked to MPICH (" + dir + "/libmpich.so.12), whose calls gompirun cannot " +
		"observe: compile the program with gompicc, or run it without --stats, --trace and --check\n"
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"-n 2 ./open-mpi", 2, "gompirun: ./open-mpi" + isOpenMPI},
		{"-n 1 true : -n 1 ./open-mpi", 2, "gompirun: ./open-mpi" + isOpenMPI},
		{"-n 2 ./indirect", 0, "gompirun: ./indirect uses a library that" + isOpenMPI},
		{"-n 2 --quiet ./indirect", 0, ""},
		{"-n 1 ./open-mpi", 0, ""},
		{"-n 2 sh -c ./open-mpi", 0, ""},
		{"-n 2 -x LD_LIBRARY_PATH=instead ./open-mpi", 0, ""},
		{"-n 2 ./mpich", 0, ""},
		{"-n 2 --stats ./mpich", 2, isMPICH},
	} {
		l := prepare(t, strings.Fields(c.args)...)
		l.Cmd.Dir = dir
		require.Equal(t, c.status, l.run(t), "%s: %s", c.args, &l.Err)
		require.Equal(t, c.says, l.Err.String(), c.args)
	}
}
