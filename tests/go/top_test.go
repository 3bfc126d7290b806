// Package gotest holds the tests that need the whole project: installation, launcher, many processes, and the rules for
// the source code.
package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// top is the project's directory, relative to this package.
const top = "../.."

// built updates build/, once for all tests, and returns its absolute path.
func built(t *testing.T) string {
	t.Helper()
	return harness.Built(t, top)
}

// runTool runs a program of build/bin, fails the test if it fails, and returns its output.
func runTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	return harness.Output(t, exec.Command(filepath.Join(built(t), "bin", name), args...))
}

// compile compiles a program from C source text with the wrapper in build/ and returns its path.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o644))
	args := append([]string{"-g", "-Wall", "-Wextra", "-Werror", "-o", program, file}, flags...)
	runTool(t, "gompicc", args...)
	return program
}
