package gotest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// This file tests programs that fault while Go code runs, or on Go's stack. The user must see one line with the signal,
// and no output of the Go runtime.

// faults is a program that faults in the call or function that its argument names.
const faults = `
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static int *volatile nowhere;

static void reduce(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
    *nowhere = 1;
}
static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return *nowhere;
}
static int divide(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)in, (void)out, (void)flag;
    volatile int zero = (int)(intptr_t)extra;
    return 1000 / zero;
}
static int give_up(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    abort();
}
static char *stack_from, *stack_to; /* of the main thread */
/* Ends the job where it has interrupted code on another stack, as that of the library which is Go. */
static void give_up_now(int sig, siginfo_t *info, void *context)
{
#if defined(__x86_64__)
    char *at = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#else
    char *at = (char *)((ucontext_t *)context)->uc_mcontext.sp;
#endif
    (void)sig, (void)info;
    if (at < stack_from || at >= stack_to)
        MPI_Abort(MPI_COMM_WORLD, 7);
}
static void on_fault(int sig, siginfo_t *info, void *context)
{
    static const char text[] = "the program's handler\n";
    (void)sig, (void)context;
    if (info->si_addr == (void *)nowhere && write(2, text, sizeof text - 1) > 0)
        _exit(42);
}

int main(int argc, char **argv)
{
    const char *volatile place = argc > 1 ? argv[1] : "";
    int rank, key, a = 1, b = 0;
    struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    if (strcmp(place, "handler-before") == 0)
        sigaction(SIGSEGV, &mine, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(place, "handler-after") == 0)
        sigaction(SIGSEGV, &mine, NULL);
    if (strcmp(place, "reduction") == 0 || strncmp(place, "handler", 7) == 0) {
        MPI_Op op;
        MPI_Op_create(reduce, 1, &op);
        MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
        MPI_Allreduce(&a, &b, 1, MPI_INT, op, MPI_COMM_SELF);
    } else if (strcmp(place, "attribute") == 0 || strcmp(place, "division") == 0 || strcmp(place, "abort") == 0) {
        MPI_Comm other;
        MPI_Comm_create_keyval(strcmp(place, "attribute") == 0 ? copy : strcmp(place, "division") == 0 ? divide : MPI_COMM_NULL_COPY_FN, give_up, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &a);
        MPI_Comm_dup(MPI_COMM_SELF, &other);
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    } else if (strcmp(place, "buffer") == 0) {
        static char bytes[100];
        MPI_Sendrecv((void *)0x200000, 100, MPI_BYTE, 0, 0, bytes, 100, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else if (strcmp(place, "displacement") == 0) {
        int counts[2] = {1, 1}, displs[2] = {0, 0}, size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        displs[size - 1] = 1 << 30;
        MPI_Allgatherv(&a, 1, MPI_INT, &b, counts, displs, MPI_INT, MPI_COMM_WORLD);
    } else if (strcmp(place, "agent") == 0) {
        /* the target's memory is gone when another rank writes to it, without the target's help */
        MPI_Win win;
        size_t n = 1 << 20;
        char *m = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MPI_Win_create(m, n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        if (rank == 0)
            munmap(m, n);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            long x = 7, y;
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Fetch_and_op(&x, &y, MPI_LONG, 0, 8, MPI_SUM, win);
            MPI_Win_unlock(0, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(place, "memory") == 0) {
        /* no more address space: Go's heap cannot grow */
        struct rlimit l;
        unsigned long pages = 0;
        FILE *f = fopen("/proc/self/statm", "r");
        if (f == NULL || fscanf(f, "%lu", &pages) != 1)
            return 9;
        fclose(f);
        enum { BLOCKS = 12 << 20 };
        int *lengths = malloc(BLOCKS * sizeof *lengths), *at = malloc(BLOCKS * sizeof *at);
        for (int i = 0; i < BLOCKS; i++) {
            lengths[i] = 1;
            at[i] = 2 * i;
        }
        pages += 2 * BLOCKS * sizeof(int) / 4096;
        l.rlim_cur = l.rlim_max = pages * 4096 + (150 << 20);
        setrlimit(RLIMIT_AS, &l);
        MPI_Datatype type;
        MPI_Type_indexed(BLOCKS, lengths, at, MPI_INT, &type);
    } else if (strncmp(place, "alarm", 5) == 0) {
        struct itimerval t = {{0, 1000}, {0, 1000}};
        stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
        struct sigaction on_alarm = {.sa_sigaction = give_up_now, .sa_flags = SA_SIGINFO};
        pthread_attr_t attributes;
        void *from;
        size_t size;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &from, &size);
        stack_from = from;
        stack_to = stack_from + size;
        if (strcmp(place, "alarm-onstack") == 0) {
            sigaltstack(&other, NULL);
            on_alarm.sa_flags |= SA_ONSTACK;
        }
        sigaction(SIGALRM, &on_alarm, NULL);
        setitimer(ITIMER_REAL, &t, NULL);
        for (;;) {
            MPI_Comm copy;
            MPI_Comm_dup(MPI_COMM_SELF, &copy);
            MPI_Comm_free(&copy);
        }
    } else if (place[0] != 0) {
        return 9;
    }
    MPI_Finalize();
    return 0;
}
`

func TestFaults(t *testing.T) {
	program := compile(t, faults)
	for place, c := range map[string]struct {
		n    int
		says string
	}{
		"reduction":    {1, "signal 11"},
		"attribute":    {1, "signal 11"},
		"division":     {1, "signal 8"},
		"abort":        {1, "signal 6"},
		"buffer":       {1, "signal 11"},
		"displacement": {2, "signal 11"},
		"agent":        {2, "signal 11"},
		"memory":       {1, "status 39"},
	} {
		t.Run(place, func(t *testing.T) {
			status, _, stderr := gompirun(t, "-n", fmt.Sprint(c.n), program, place)
			assert.NotZero(t, status)
			assert.Contains(t, stderr, c.says)
			assert.NotContains(t, stderr, "goroutine")
			lines := 1
			if place == "memory" {
				lines = 2
				assert.Contains(t, stderr, "out of memory (ulimit -v ")
			}
			assert.Equal(t, lines, strings.Count(strings.TrimSpace(stderr), "\n")+1, stderr)
		})
	}
	// A signal handler of the program stays installed, whether the program installed it before or after MPI_Init.
	for _, place := range []string{"handler-before", "handler-after"} {
		t.Run(place, func(t *testing.T) {
			_, _, stderr := gompirun(t, "-n", "1", program, place)
			assert.Contains(t, stderr, "the program's handler\n")
			assert.Contains(t, stderr, "status 42")
		})
	}
	// A signal handler that interrupts Go code can end the process.
	for _, place := range []string{"alarm", "alarm-onstack"} {
		t.Run(place, func(t *testing.T) {
			status, _, stderr := gompirun(t, "-n", "2", program, place)
			assert.Equal(t, 7, status, stderr)
			assert.NotContains(t, stderr, "goroutine")
		})
	}
	t.Run("debugger", func(t *testing.T) { assert.Contains(t, stopOfFault(t, program, "reduction"), program) })
}

// stopOfFault runs a program under ptrace until its first thread faults. It returns the line of /proc/PID/maps for the
// mapping that contains the faulting instruction.
func stopOfFault(t *testing.T, args ...string) string {
	t.Helper()
	runtime.LockOSThread() // this thread is the tracer
	defer runtime.UnlockOSThread()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	pid := cmd.Process.Pid
	defer syscall.Kill(pid, syscall.SIGKILL)
	for deliver := 0; ; {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(pid, &status, 0, nil)
		require.NoError(t, err)
		require.True(t, status.Stopped(), "the program ended without a fault: wait status %#x", status)
		if status.StopSignal() == syscall.SIGSEGV {
			break
		}
		if deliver = int(status.StopSignal()); deliver == int(syscall.SIGTRAP) {
			deliver = 0
		}
		require.NoError(t, syscall.PtraceCont(pid, deliver))
	}
	var regs syscall.PtraceRegs
	require.NoError(t, syscall.PtraceGetRegs(pid, &regs))
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	require.NoError(t, err)
	for _, line := range strings.Split(string(maps), "\n") {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err == nil && regs.PC() >= from && regs.PC() < to {
			return line
		}
	}
	return ""
}

// TestOutside checks that calls that need MPI report MPI_ERR_OTHER before MPI_Init and after MPI_Finalize. The message
// must say that MPI is not initialized, or has been finalized.
func TestOutside(t *testing.T) {
	for name, call := range map[string]string{
		"MPI_Comm_rank":      "MPI_Comm_rank(MPI_COMM_WORLD, &x)",
		"MPI_Comm_dup":       "MPI_Comm_dup(MPI_COMM_SELF, &c)",
		"MPI_Barrier":        "MPI_Barrier(MPI_COMM_WORLD)",
		"MPI_Send":           "MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)",
		"MPI_Allreduce":      "MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)",
		"MPI_Win_create":     "MPI_Win_create(&x, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w)",
		"MPI_Win_fence":      "MPI_Win_fence(0, w)",
		"MPI_Put":            "MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, w)",
		"MPI_Query_thread":   "MPI_Query_thread(&x)",
		"MPI_Alloc_mem":      "MPI_Alloc_mem(8, MPI_INFO_NULL, &p)",
		"MPI_Comm_get_attr":  "MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &p, &x)",
		"MPI_Comm_set_name":  "MPI_Comm_set_name(MPI_COMM_WORLD, \"x\")",
		"MPI_Comm_group":     "MPI_Comm_group(MPI_COMM_WORLD, &g)",
		"MPI_Cart_create":    "MPI_Cart_create(MPI_COMM_WORLD, 1, &y, &x, 0, &c)",
		"MPI_Is_thread_main": "MPI_Is_thread_main(&x)",
		"MPI_Comm_get_name":  "MPI_Comm_get_name(MPI_COMM_NULL, name, &x)",
		"MPI_Win_get_name":   "MPI_Win_get_name(MPI_WIN_NULL, name, &x)",
	} {
		t.Run(name, func(t *testing.T) {
			program := compile(t, `
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static int x, y = 1;
    static MPI_Comm c;
    static MPI_Win w;
    static MPI_Group g;
    static void *p;
    static char name[MPI_MAX_OBJECT_NAME];
    (void)name, (void)c, (void)w, (void)p, (void)y, (void)g, (void)x;
    if (argc > 1) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
    }
    `+call+`;
    return 0;
}
`)
			for _, args := range [][]string{{}, {"after"}} {
				status, _, stderr := gompirun(t, append([]string{"-n", "1", program}, args...)...)
				assert.NotZero(t, status)
				assert.Contains(t, stderr, "MPI_ERR_OTHER: "+name+
					": MPI is not initialized, or has been finalized")
			}
		})
	}
}

// TestLimits checks that the library reports, in one line, the resource limit that prevents its start.
func TestLimits(t *testing.T) {
	program := compile(t, faults)
	for _, c := range []struct{ limit, says string }{
		{"-v 700000", "the limit on address space is too low (ulimit -v 700000)"},
		{"-v 1500000", "the limit on address space is too low (ulimit -v 1500000)"},
		{"-d 90000", "the limit on the data segment is too low (ulimit -d 90000)"},
	} {
		t.Run(c.limit, func(t *testing.T) {
			out, err := exec.Command("sh", "-c", "ulimit "+c.limit+"; exec "+program).CombinedOutput()
			assert.Error(t, err)
			assert.Contains(t, string(out), c.says)
			assert.Equal(t, 1, strings.Count(string(out), "\n"), string(out))
		})
	}
	t.Run("-v 3000000", func(t *testing.T) {
		out, err := exec.Command("sh", "-c", "ulimit -v 3000000; exec "+program).CombinedOutput()
		assert.NoError(t, err, string(out))
	})
}
