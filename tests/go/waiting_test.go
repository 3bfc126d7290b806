package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/core/shm"
)

// control maps the shared memory of a running job's node, as gompirun does.
func (l *launch) control(t *testing.T) *shm.Node {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", l.Cmd.Process.Pid))
	require.NoError(t, err)
	for _, path := range fds {
		if to, _ := os.Readlink(path); !strings.HasPrefix(to, "/memfd:gompirma") {
			continue
		}
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		node, err := shm.Open(fd, -1)
		require.NoError(t, err)
		return node
	}
	t.Fatalf("gompirun has no control segment open: %v", fds)
	return nil
}

// TestWaitRecords checks every function that waits. The wait record in shared memory must name the function as the
// program calls it, and the ranks for which it waits.
func TestWaitRecords(t *testing.T) {
	source, err := os.ReadFile("testdata/waiting.c")
	require.NoError(t, err)
	l := prepare(t, "-n", "2", compile(t, string(source)))
	l.Cmd.Env = append(l.Cmd.Env, "GOMPIRMA_NO_CMA=1") // a transfer by a system call does not wait
	require.NoError(t, l.Cmd.Start())
	t.Cleanup(func() { l.Cmd.Process.Signal(syscall.SIGTERM) })
	read, steps := 0, 0
	// `next` waits until both processes have stopped at the next step. It returns their process ids and the
	// function of the step.
	next := func() (pids [2]int, name string) {
		for range pids {
			var line string
			require.Eventually(t, func() (whole bool) {
				line, _, whole = strings.Cut(l.Out.String()[read:], "\n")
				return whole
			}, hangTimeout, time.Millisecond, "after %d steps, the last of which was %s: %s", steps,
				name, &l.Err)
			read += len(line) + 1
			var rank, pid int
			_, err := fmt.Sscan(line, &rank, &pid, &name)
			require.NoError(t, err, line)
			pids[rank] = pid
			require.Eventually(t, func() bool { return stopped(pid) }, hangTimeout, time.Millisecond,
				"%s: rank %d", name, rank)
		}
		return pids, name
	}
	var node *shm.Node
	for want := ""; want != "MPI_Finalize"; steps++ {
		var pids [2]int
		pids, want = next()
		if node == nil {
			node = l.control(t)
		}
		require.NoError(t, syscall.Kill(pids[0], syscall.SIGCONT))
		var got shm.Waiting
		require.Eventually(t, func() bool {
			ws, more := node.Waits(0)
			if len(ws) == 1 {
				got = ws[0]
			}
			return len(ws) == 1 && more == 0 && got.Call == want
		}, 20*time.Second, time.Millisecond,
			"step %d, %s: the wait record of rank 0 is %+v", steps, want, &got)
		require.Contains(t, []int32{1, shm.PeersAll, shm.PeersAny, shm.PeersSeveral}, got.Peer,
			"%s: the rank for which rank 0 waits", want)
		require.NoError(t, syscall.Kill(pids[1], syscall.SIGCONT))
	}
	require.Equal(t, 0, l.wait(t), "%s", &l.Err)
	require.Greater(t, steps, 90)
}
