package fabric

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestFailed checks that the error for a lack of file descriptors states the limit of their number.
func TestFailed(t *testing.T) {
	var l unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &l))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &l)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 77, Max: l.Max}))
	require.EqualError(t, failed(errors.New("listening: Too many open files")),
		"listening: Too many open files (ulimit -n 77)")
	require.EqualError(t, failed(errors.New("listening: Permission denied")), "listening: Permission denied")
}
