package gotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/tests/go/harness"
)

// launchDenied prepares a command for which the given system calls fail with errno. A container's seccomp profile has
// the same effect. It skips the test if the system has no seccomp filters.
func launchDenied(t *testing.T, deny string, errno unix.Errno, calls string, command ...string) *launch {
	args := append([]string{strconv.Itoa(int(errno))}, strings.Fields(calls)...)
	l := prepareProgram(t, deny, append(append([]string{}, args...), "--", "true")...)
	if l.run(t) == 77 {
		t.Skip(l.Err.String())
	}
	return prepareProgram(t, deny, append(append(args, "--"), command...)...)
}

// TestDenied checks that jobs run if memfd_create, fallocate or both fail.
func TestDenied(t *testing.T) {
	program, deny := compile(t, usesAllDescriptors), compileFile(t, "deny.c")
	gompirun := filepath.Join(built(t), "bin/gompirun")
	defer requireNoSegments(t)()
	for _, calls := range []string{"memfd_create", "fallocate", "memfd_create fallocate"} {
		for _, errno := range []unix.Errno{unix.EPERM, unix.ENOSYS, unix.EACCES} {
			for _, c := range []struct {
				command string
				ranks   int
			}{{gompirun + " -n 4 ", 4}, {"", 1}, {"mpiexec.mpich -n 2 ", 2}} {
				t.Run(fmt.Sprint(calls, int(errno), filepath.Base(c.command)), func(t *testing.T) {
					if c.ranks == 2 {
						harness.NeedCommand(t, "mpiexec.mpich")
					}
					l := launchDenied(t, deny, errno, calls, strings.Fields(c.command+program)...)
					l.Cmd.Env = append(l.Cmd.Env, "GOMPIRMA_SHARE_IN_PLACE=1")
					requireRight(t, l, c.ranks)
				})
			}
		}
	}
}

// TestDeniedAll checks that, if both memfd_create and shmget fail, the error names a system call that the user must
// permit.
func TestDeniedAll(t *testing.T) {
	program, deny := compile(t, usesAllDescriptors), compileFile(t, "deny.c")
	for _, command := range []string{filepath.Join(built(t), "bin/gompirun") + " -n 2 " + program, program} {
		l := launchDenied(t, deny, unix.EPERM, "memfd_create shmget", strings.Fields(command)...)
		require.NotZero(t, l.run(t))
		require.Regexp(t,
			`^gompi\S+: .*memfd_create: operation not permitted, and shmget: operation not permitted: `+
				`permit memfd_create, for example in the seccomp profile of the container.*\n$`,
			l.Err.String())
	}
}

// sleepers is a program whose ranks wait for each other so long that they sleep in futex(2).
const sleepers = `
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int rank, size, sum, got;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 100; i++) {
        if (i % size == rank)
            usleep(1500);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size * (size - 1) / 2)
            return 3;
        if ((i + 1) % size == rank)
            usleep(1500);
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (got != i)
            return 4;
    }
    MPI_Finalize();
    puts("over");
    return 0;
}
`

// TestDeniedMembarrier checks that no wake-up is lost if membarrier(2) fails in all processes or in one process. The
// waking threads must then use a full memory fence.
func TestDeniedMembarrier(t *testing.T) {
	program, deny := compile(t, sleepers), compileFile(t, "deny.c")
	gompirun := filepath.Join(built(t), "bin/gompirun")
	one := fmt.Sprintf("%s -n 1 %s %d membarrier -- %s : -n 2 %s", gompirun, deny, int(unix.EPERM), program,
		program)
	l := launchDenied(t, deny, unix.EPERM, "membarrier", gompirun, "-n", "3", program)
	for _, l := range []*launch{l, prepareProgram(t, strings.Fields(one)[0], strings.Fields(one)[1:]...)} {
		require.Zero(t, l.run(t), "%s%s", &l.Out, &l.Err)
		require.Equal(t, strings.Repeat("over\n", 3), l.Out.String())
		require.Empty(t, l.Err.String())
	}
}

// releasesMemory is a program that creates and frees windows. Some have memory that MPI allocates, others share the
// application's memory in place. For each window it prints the growth of the node's memory file during the window's
// life and after MPI_Win_free.
const releasesMemory = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
enum { SIZE = 8 << 20 };
static long blocks(void)
{
    struct stat s;
    return fstat(atoi(getenv("GOMPIRMA_CONTROL_FD")), &s) == 0 ? (long)s.st_blocks / 2048 : -1;
}
int main(void)
{
    MPI_Win win;
    MPI_Info info;
    char *mem, *own = malloc(SIZE);
    memset(own, 1, SIZE);
    MPI_Init(NULL, NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "gompirma_share_in_place", "require");
    long before = blocks();
    for (int i = 0; i < 3; i++) {
        MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
        long with = blocks();
        memset(mem, 1, SIZE);
        MPI_Win_free(&win);
        printf("%ld MiB, %ld\n", with - before, blocks() - before);
        MPI_Win_create(own, SIZE, 1, info, MPI_COMM_WORLD, &win);
        with = blocks();
        MPI_Win_free(&win);
        printf("%ld MiB, %ld\n", with - before, blocks() - before);
    }
    MPI_Finalize();
    return 0;
}
`

// TestDeniedFallocate checks that MPI_Win_free returns memory to the system if fallocate fails.
func TestDeniedFallocate(t *testing.T) {
	program, deny := compile(t, releasesMemory), compileFile(t, "deny.c")
	l := launchDenied(t, deny, unix.EPERM, "fallocate", filepath.Join(built(t), "bin/gompirun"), "-n", "1", program)
	require.Zero(t, l.run(t), "%s%s", &l.Out, &l.Err)
	require.Equal(t, strings.Repeat("8 MiB, 0\n", 6), l.Out.String())
}

// pingPong is a program that exchanges messages over the network for a second. After MPI_Init it installs a seccomp
// filter that kills a thread's process if the thread changes its CPU affinity.
const pingPong = `
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static void forbid(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        MPI_Abort(MPI_COMM_WORLD, 77);
}
int main(void)
{
    int rank, more = 1;
    double end;
    MPI_Init(NULL, NULL);
    forbid();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (end = MPI_Wtime() + 1; more;) {
        more = MPI_Wtime() < end;
        for (int i = 0; i < 100; i++)
            if (rank == 0) {
                MPI_Send(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            }
    }
    MPI_Finalize();
    puts("over");
    return 0;
}
`

// TestAffinityUnchanged checks that no thread of the library changes its CPU affinity, also on a busy machine.
func TestAffinityUnchanged(t *testing.T) {
	program := compile(t, pingPong)
	for range 2 {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		require.NoError(t, busy.Start())
		t.Cleanup(func() {
			busy.Process.Kill()
			busy.Wait()
		})
	}
	l := prepareProgram(t, filepath.Join(built(t), "bin/gompirun"), "--nodes", "2", "-n", "2", program)
	status := l.run(t)
	if status == 77 {
		t.Skip("this system has no seccomp filters")
	}
	require.Zero(t, status, "%s%s", &l.Out, &l.Err)
	require.Equal(t, "over\nover\n", l.Out.String())
}

// TestDeniedReads checks that collectives work if process_vm_readv and process_vm_writev, or only the latter, fail in
// all processes or in some.
func TestDeniedReads(t *testing.T) {
	t.Parallel()
	deny, gompirun := compileFile(t, "deny.c"), filepath.Join(built(t), "bin/gompirun")
	const one = `[ "$PMI_RANK" = 0 ] || exec "$0"; exec "$1" "$2" $3 -- "$0"`
	header, err := filepath.Abs("../c/check.h")
	require.NoError(t, err)
	for _, name := range []string{"coll_started", "coll_reduce_long"} {
		source, err := os.ReadFile(filepath.Join("../c/conformance", name+".c"))
		require.NoError(t, err)
		program := compile(t, strings.Replace(string(source), "../check.h", header, 1))
		for _, calls := range []string{"process_vm_readv process_vm_writev", "process_vm_writev"} {
			for _, n := range []string{"2", "3"} {
				t.Run(name+n+calls, func(t *testing.T) {
					l := launchDenied(t, deny, unix.EPERM, calls, gompirun, "-n", n, program)
					require.Zero(t, l.run(t), "%s%s", &l.Out, &l.Err)
					l = prepareProgram(t, gompirun, "-n", n, "sh", "-c", one, program, deny,
						strconv.Itoa(int(unix.EPERM)), calls)
					require.Zero(t, l.run(t), "%s%s", &l.Out, &l.Err)
				})
			}
		}
	}
}

// noHandlers is a program that takes arguments like those of testdata/deny.c: ERRNO handler -- COMMAND. It runs the
// command under a seccomp filter that ends the command when it installs a handler for a signal below 32. (The C library
// uses the signals from 32 on.)
const noHandlers = `
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 5),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 32, 3, 0),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (argc < 5 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 77;
    }
    execvp(argv[4], argv + 4);
    return 2;
}
`

// TestDeniedSignals checks that the library never installs a signal handler, not even while the Go runtime starts. With
// Go's handler, a fault of the application would be reported as a crash of Go.
func TestDeniedSignals(t *testing.T) {
	l := launchDenied(t, compile(t, noHandlers), 0, "handler", compile(t, usesAllDescriptors))
	require.Zero(t, l.run(t), "%s", &l.Err)
	require.Equal(t, "right 0 of 1\n", l.Out.String())
}

// TestDeniedRandom checks that the library reads /dev/urandom if getrandom fails.
func TestDeniedRandom(t *testing.T) {
	program, deny := compile(t, sleepers), compileFile(t, "deny.c")
	for _, command := range []string{program, filepath.Join(built(t), "bin/gompirun") + " -n 2 " + program,
		filepath.Join(built(t), "bin/gompirun") + " --nodes 2 -n 2 " + program} {
		l := launchDenied(t, deny, unix.EPERM, "getrandom", strings.Fields(command)...)
		require.Zero(t, l.run(t), "%s: %s", command, &l.Err)
		require.Empty(t, l.Err.String())
	}
}
