package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInstanceRestart checks that a process can create its instance, end it and create it again (core.Instance): alone,
// on one node and on two. Sessions rely on that. MPI has no other call for it, so the test builds the library with one
// (capi/reopen.go).
func TestInstanceRestart(t *testing.T) {
	t.Parallel()
	// Only the library differs from the prefix in build/.
	out := filepath.Join(t.TempDir(), "again")
	require.NoError(t, os.Mkdir(out, 0o755))
	copied, err := exec.Command("sh", "-c", `cd "$0" && cp -a bin include lib libexec obj share "$1"`, built(t),
		out).CombinedOutput()
	require.NoError(t, err, "%s", copied)
	build := exec.Command(filepath.Join(top, "scripts/build.sh"), out)
	build.Env = append(os.Environ(), "GOMPIRMA_GOFLAGS=-tags=gompi_reopen")
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s", text)
	program := filepath.Join(t.TempDir(), "again")
	text, err = exec.Command(filepath.Join(out, "bin/gompicc"), "-g", "-Wall", "-Wextra", "-Werror", "-pthread",
		"-o", program, "testdata/again.c").CombinedOutput()
	require.NoError(t, err, "%s", text)
	for name, args := range map[string][]string{"alone": {"-n", "1"}, "one node": {"-n", "3"},
		"two nodes": {"-n", "4", "--nodes", "2"}} {
		t.Run(name, func(t *testing.T) {
			args = append(append([]string{"--timeout", "100"}, args...), program)
			text, err := exec.Command(filepath.Join(out, "bin/gompirun"), args...).CombinedOutput()
			require.NoError(t, err, "%s", text)
			require.Equal(t, "fine\n", string(text))
		})
	}
	text, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err, "%s", text)
	require.Equal(t, "fine\n", string(text))
}
