// Package gotest holds the tests that need the whole project: installation, launcher, many processes, and the rules
// that the code keeps.
package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// top is the project's folder, seen from this package.
const top = "../.."

var buildOnce = sync.OnceValues(func() (string, error) {
	build, err := filepath.Abs(filepath.Join(top, "build"))
	if err != nil {
		return "", err
	}
	cmd := exec.Command(filepath.Join(top, "scripts/build.sh"), build)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return build, cmd.Run()
})

// built brings build/ up to date, once for all tests, and returns its absolute path: bin/gompirun, bin/gompicc, lib,
// include are in it.
func built(t *testing.T) string {
	t.Helper()
	build, err := buildOnce()
	require.NoError(t, err, "scripts/build.sh")
	return build
}

// compile makes a program from C source text with the wrapper in build/ and returns its path.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o644))
	args := append([]string{"-g", "-Wall", "-Wextra", "-Werror", "-o", program, file}, flags...)
	out, err := exec.Command(filepath.Join(built(t), "bin/gompicc"), args...).CombinedOutput()
	require.NoError(t, err, "gompicc: %s", out)
	return program
}
