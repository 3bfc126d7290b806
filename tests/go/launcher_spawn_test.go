package gotest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSpawned checks what gompirun prints and returns for processes that a rank has started (testdata/spawned.c), and
// that no process remains after a signal kills gompirun or the parent.
func TestSpawned(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "spawned.c")
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"fine", 0, ""},
		{"status", 3, "gompirun: job 1 rank 1 (program) exited with status 3; it had already called " +
			"MPI_Finalize\n"},
		{"crash", 139, "gompirun: job 1 rank 1 (program) was killed by signal 11 (segmentation fault"},
		{"abort", 42, "gompirun: job 1 rank 1 (program) called MPI_Abort with status 42\n"},
	} {
		status, out, err := gompirun(t, "-n", "2", "--tag-output", program, c.args)
		require.Equal(t, c.status, status, "%s: %s", c.args, err)
		require.Regexp(t, `(?m)^\[0\] parent 0 is up`, out)
		require.Regexp(t, `(?m)^\[1:0\] child 0 is up`, out)
		require.Contains(t, err, c.says)
	}
	status, out, err := gompirun(t, "-n", "2", program, "survive")
	require.Equal(t, 139, status, err)
	for rank := range 2 {
		require.Regexp(t, fmt.Sprintf(`(?m)^parent %d goes on: 1 .*a process of another job \(pid \d+\) ended `+
			`without calling MPI_Finalize`, rank), out)
	}
	require.Contains(t, err, "gompirun: job 1 rank 1 (program) was killed by signal 11")
	_, out, err = gompirun(t, "-n", "2", program, "others")
	require.Regexp(t, `(?m)^the waits of others continue: sum 2, 1 .*a process of another job \(pid \d+\) ended`, out,
		err)
	status, _, err = gompirun(t, "-n", "1", "--deadlock=abort", "--deadlock-after", "1", program, "stuck")
	require.NotZero(t, status)
	require.Regexp(t, `(?m)^gompirun: deadlock: rank 0 waits in MPI_Recv \(tag 3\) on communicator \S+ for job 1 rank 0; `+
		`job 1 rank 0 waits in MPI_Recv \(tag 3\) on communicator \S+ for rank 0 `, err)

	// All processes end with gompirun. Without gompirun, the children end with their parent.
	for _, l := range []*launch{prepare(t, "-n", "1", program, "wait"), prepareProgram(t, program, "wait"),
		prepareProgram(t, program, "leave")} {
		require.NoError(t, l.Cmd.Start())
		if l.Cmd.Args[len(l.Cmd.Args)-1] == "wait" {
			require.Eventually(t, func() bool { return strings.Count(l.Out.String(), "up") == 3 },
				hangTimeout, time.Millisecond, "%s", &l.Err)
			require.NoError(t, l.Cmd.Process.Kill())
		}
		l.wait(t)
	}
}
