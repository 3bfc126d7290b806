package pmi1

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Checks that a write to a launcher that has ended returns an error and raises no signal.
func TestWriteAfterLauncherEnd(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	require.NoError(t, err)
	conn := os.NewFile(uintptr(fds[0]), "launcher")
	defer conn.Close()
	require.NoError(t, unix.Close(fds[1]))
	pipes := make(chan os.Signal, 10)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	assert.ErrorIs(t, writeString(conn, "cmd=barrier_in\n"), unix.EPIPE)
	assert.Empty(t, pipes)
	// Checks that the test can fail: without MSG_NOSIGNAL the signal is raised.
	_, err = unix.SendmsgN(fds[0], []byte("x"), nil, nil, 0)
	assert.ErrorIs(t, err, unix.EPIPE)
	assert.Equal(t, syscall.SIGPIPE, <-pipes)
}
