package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Checks that outside determines from the state of a process's threads whether one of them may still call MPI.
func TestThreadsOutsideOfMPI(t *testing.T) {
	const stat = "%s (a b) %s 1 1 1"
	proc := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(proc, "7", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("maps", "1000-2000 r--p 0 0:0 1 /lib.so\n2000-3000 r-xp 0 0:0 1 /lib.so\n5000-6000 rw-s 0 0:0 1\n"+
		"6000-7000 rw-p 0 0:0 1\n8000-9000 r-xp 0 0:0 1 /libc.so\n")
	x := &rankProcess{name: "rank 3", pid: 7, code: 0x2800, progressThreads: []int{12}, waiting: []int{11}}
	call := func(number int, op, timeout, pc int) string {
		return fmt.Sprintf("%d 0x5010 %#x 0x0 %#x 0x0 0x0 0x7f %#x\n", number, op, timeout, pc)
	}
	elsewhere := func(text string) string { return strings.Replace(text, "0x5010", "0x6010", 1) }
	for _, c := range []struct {
		name, state, call string
		active            bool
		sleeps            int
		may               string // expected text; "" if only a thread of this process can end the wait
		handled           int    // mask of handled signals
	}{
		{"waits for another thread", "S", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), false, 1, "", 0},
		{"waits for a mutex", "S", call(unix.SYS_FUTEX, 0x86, 0, 0x8100), false, 1, "", 0},
		{"waits for a thread's end", "S", elsewhere(call(unix.SYS_FUTEX, 0x109, 0, 0x8100)), false, 1, "", 0},
		{"waits for a process", "S", call(unix.SYS_FUTEX, 0x109, 0, 0x8100), false, 1, "futex (shared)", 0},
		{"has a handler", "S", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), false, 1,
			"futex, which a signal handler may wake", 1 << (unix.SIGUSR1 - 1)},
		{"has the runtime's handlers", "S", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), false, 1, "",
			1<<(unix.SIGSEGV-1) | 1<<(unix.SIGURG-1)},
		{"reads", "S", call(unix.SYS_READ, 0x80, 0, 0x8100), false, 1, "read", 0},
		{"locks a file", "S", call(unix.SYS_FCNTL, 7, 0, 0x8100), false, 1, "fcntl", 0},
		{"polls for some time", "S", call(unix.SYS_EPOLL_WAIT, 0, 10, 0x8100), true, 0, "", 0},
		{"polls", "S", call(unix.SYS_EPOLL_WAIT, 0, 0xffffffff, 0x8100), false, 1, "epoll_wait", 0},
		{"waits for some time", "S", call(unix.SYS_FUTEX, 0x80, 0x7f00, 0x8100), true, 0, "", 0},
		{"wakes another", "S", call(unix.SYS_FUTEX, 0x81, 0, 0x8100), true, 0, "", 0},
		{"sleeps", "S", call(unix.SYS_NANOSLEEP, 0, 0, 0x8100), true, 0, "", 0},
		{"is of the Go runtime", "S", call(unix.SYS_NANOSLEEP, 0, 0, 0x2100), false, 0, "", 0},
		{"computes", "R", "running\n", true, 0, "", 0},
		{"is about to compute", "S", "running\n", true, 0, "", 0},
		{"has a page read", "D", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), true, 0, "", 0},
		{"is stopped", "T", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), true, 0, "", 0},
		{"is not told of", "S", "", true, 0, "", 0},
	} {
		for thread, state := range map[string]string{"11": "S", "12": "S", "13": c.state} {
			write("task/"+thread+"/stat", fmt.Sprintf(stat, thread, state))
			write("task/"+thread+"/syscall", call(unix.SYS_NANOSLEEP, 0, 0, 0x8100))
			write("task/"+thread+"/status", "Name: a\nvoluntary_ctxt_switches:\t5\n")
		}
		write("status", fmt.Sprintf("SigCgt:\t%016x\n", c.handled))
		write("task/13/syscall", c.call)
		o := x.outside(proc)
		require.Equal(t, c.active, o.active, c.name)
		require.Len(t, o.asleep, c.sleeps, c.name)
		var may []string
		if c.may != "" {
			may = []string{"thread 13 of rank 3 waits outside MPI in " + c.may}
		}
		require.Equal(t, may, o.wakeable, c.name)
		require.Equal(t, may == nil || strings.HasPrefix(c.may, "futex"), o.allFutex, c.name)
	}
	write("task/13/syscall", call(unix.SYS_FUTEX, 0x80, 0, 0x8100))
	write("task/13/stat", "13 (a) S 1 1 1")
	before := x.outside(proc)
	write("task/13/status", "voluntary_ctxt_switches:\t6\n")
	after := x.outside(proc)
	require.False(t, after.active)
	require.NotEqual(t, before, after, "it has run in between")
	x.code = 0x5000
	require.True(t, x.outside(proc).active, "without the library's code nobody's threads are known")
}

func TestCatches(t *testing.T) {
	proc := t.TempDir()
	require.NoError(t, os.MkdirAll(proc+"/7", 0o755))
	require.NoError(t, os.WriteFile(proc+"/7/status", []byte("Name:\ta\nSigCgt:\t0000000000000200\n"), 0o644))
	require.True(t, catches(proc, 7, unix.SIGUSR1))
	require.False(t, catches(proc, 7, unix.SIGUSR2))
	require.False(t, catches(proc, 8, unix.SIGUSR1))
}
