// Package gotest holds the tests that need the whole project: installation, launcher, many processes, and the rules for
// the source code.
package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// top is the project's directory, relative to this package.
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

// built updates build/, once for all tests, and returns its absolute path. The directory contains bin/gompirun,
// bin/gompicc, lib and include.
func built(t *testing.T) string {
	t.Helper()
	build, err := buildOnce()
	require.NoError(t, err, "scripts/build.sh")
	return build
}

// compile compiles a program from C source text with the wrapper in build/ and returns its path.
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
