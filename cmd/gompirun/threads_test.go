package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What the threads of a process do decides whether one of them may still call MPI.
func TestThreadsOutsideOfMPI(t *testing.T) {
	const stat = "%s (a b) %s 1 1 1"
	proc := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(proc, "7", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("maps", "1000-2000 r--p 0 0:0 1 /lib.so\n2000-3000 r-xp 0 0:0 1 /lib.so\n8000-9000 r-xp 0 0:0 1 "+
		"/libc.so\n")
	x := &rankProcess{pid: 7, code: 0x2800, own: []int{12}, waiting: []int{11}}
	call := func(number int, op, timeout, pc int) string {
		return fmt.Sprintf("%d 0x1 %#x 0x0 %#x 0x0 0x0 0x7f %#x\n", number, op, timeout, pc)
	}
	for _, c := range []struct {
		name, state, call string
		ok                bool
		sleeps            int
	}{
		{"waits for another thread", "S", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), true, 1},
		{"waits for a mutex", "S", call(unix.SYS_FUTEX, 0x86, 0, 0x8100), true, 1},
		{"waits for some time", "S", call(unix.SYS_FUTEX, 0x80, 0x7f00, 0x8100), false, 0},
		{"wakes another", "S", call(unix.SYS_FUTEX, 0x81, 0, 0x8100), false, 0},
		{"sleeps", "S", call(unix.SYS_NANOSLEEP, 0, 0, 0x8100), false, 0},
		{"is of the Go runtime", "S", call(unix.SYS_NANOSLEEP, 0, 0, 0x2100), true, 0},
		{"computes", "R", "running\n", false, 0},
		{"is about to compute", "S", "running\n", false, 0},
		{"has a page read", "D", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), false, 0},
		{"is stopped", "T", call(unix.SYS_FUTEX, 0x80, 0, 0x8100), false, 0},
		{"is not told of", "S", "", false, 0},
	} {
		for thread, state := range map[string]string{"11": "S", "12": "S", "13": c.state} {
			write("task/"+thread+"/stat", fmt.Sprintf(stat, thread, state))
			write("task/"+thread+"/syscall", call(unix.SYS_NANOSLEEP, 0, 0, 0x8100))
			write("task/"+thread+"/status", "Name: a\nvoluntary_ctxt_switches:\t5\n")
		}
		write("task/13/syscall", c.call)
		what, ok := x.asleep(proc)
		require.Equal(t, c.ok, ok, c.name)
		require.Len(t, what, c.sleeps, c.name)
	}
	write("task/13/syscall", call(unix.SYS_FUTEX, 0x80, 0, 0x8100))
	write("task/13/stat", "13 (a) S 1 1 1")
	before, _ := x.asleep(proc)
	write("task/13/status", "voluntary_ctxt_switches:\t6\n")
	after, ok := x.asleep(proc)
	require.True(t, ok)
	require.NotEqual(t, before, after, "it has run in between")
	x.code = 0x5000
	_, ok = x.asleep(proc)
	require.False(t, ok, "without the library's code nobody's threads are known")
}

func TestCatches(t *testing.T) {
	proc := t.TempDir()
	require.NoError(t, os.MkdirAll(proc+"/7", 0o755))
	require.NoError(t, os.WriteFile(proc+"/7/status", []byte("Name:\ta\nSigCgt:\t0000000000000200\n"), 0o644))
	require.True(t, catches(proc, 7, unix.SIGUSR1))
	require.False(t, catches(proc, 7, unix.SIGUSR2))
	require.False(t, catches(proc, 8, unix.SIGUSR1))
}
