package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMustFail checks that tests/c/must_fail.sh succeeds only if the program fails with the expected error.
func TestMustFail(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(top, "tests/c/must_fail.sh"))
	require.NoError(t, err)
	for _, c := range []struct {
		name, end, text, command string
		why                      string // reason of a rejection
	}{
		{"as it must", "nonzero", "class 6 (rank)", "echo PASS; echo 'of class 6 (rank)' >&2; exit 6", ""},
		{"any text", "nonzero", "", "exit 1", ""},
		{"no error", "nonzero", "", "exit 0", "status 0"},
		{"another error", "nonzero", "class 6", "echo class 5 >&2; exit 6", "standard error has no: class 6"},
		{"no pattern", "nonzero", "a.c", "echo abc >&2; exit 6", "standard error has no: a.c"},
		{"text elsewhere", "nonzero", "class 6", "echo class 6; exit 6", "standard error has no: class 6"},
		{"went on", "nonzero", "a", "echo a >&2; echo 'FAIL: went on'; exit 6", "it printed FAIL"},
		{"time limit", "nonzero", "a", "echo a >&2; exit 124", "time limit"},
		{"died", "nonzero", "a", "echo a >&2; kill -SEGV $$", "a signal ended it"},
		{"died under gompirun", "nonzero", "a", "echo a >&2; exit 139", "a signal ended it"},
		{"another rank died", "nonzero", "a", "echo 'a; rank 1 (x) was killed by signal 11' >&2; exit 6",
			"a signal ended it"},
		{"died as it must", "signal", "signal 9", "echo 'rank 1 (x) was killed by signal 9' >&2; exit 137", ""},
		{"did not die", "signal", "a", "echo a >&2; exit 6", "but a signal was to end the job"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", script, c.end, c.text, "sh", "-c", c.command)
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			out, err := cmd.Output()
			if c.why == "" {
				require.NoError(t, err, string(out))
				return
			}
			require.Error(t, err, string(out))
			require.Contains(t, string(out), "must_fail.sh: ")
			require.Contains(t, string(out), c.why)
		})
	}
}
