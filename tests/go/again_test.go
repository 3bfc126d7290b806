package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// TestInstanceRestart checks that a process can create its MPI instance (core.Instance), end it and create it again, as
// sessions need. It tests one process without gompirun, and jobs on one and on two nodes. No MPI call does only this,
// so the test builds the library with an additional function (capi/reopen.go).
func TestInstanceRestart(t *testing.T) {
	t.Parallel()
	// Copy build/ and rebuild only the library.
	out := filepath.Join(t.TempDir(), "again")
	require.NoError(t, os.Mkdir(out, 0o755))
	harness.Output(t, exec.Command("sh", "-c", `cd "$0" && cp -a bin include lib libexec obj share "$1"`, built(t),
		out))
	build := exec.Command(filepath.Join(top, "scripts/build.sh"), out)
	build.Env = append(os.Environ(), "GOMPIRMA_GOFLAGS=-tags=gompi_reopen")
	harness.OutputWithin(t, build, 10*time.Minute) // compiles the whole library, possibly on a busy machine
	program := filepath.Join(t.TempDir(), "again")
	harness.Output(t, exec.Command(filepath.Join(out, "bin/gompicc"), "-g", "-Wall", "-Wextra", "-Werror",
		"-pthread", "-o", program, "testdata/again.c"))
	for name, args := range map[string][]string{"alone": {"-n", "1"}, "one node": {"-n", "3"},
		"two nodes": {"-n", "4", "--nodes", "2"}} {
		t.Run(name, func(t *testing.T) {
			args = append(append([]string{"--timeout", "100"}, args...), program)
			cmd := exec.Command(filepath.Join(out, "bin/gompirun"), args...)
			require.Equal(t, "fine\n", harness.Output(t, cmd))
		})
	}
	require.Equal(t, "fine\n", harness.Output(t, exec.Command(program)))
}
