// Package gotest holds the tests that need the whole project. They test the installation, the launcher, jobs with many
// processes, and the rules for the source code.
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

// built updates build/ once per test run, and returns its absolute path.
func built(t *testing.T) string {
	t.Helper()
	return harness.Built(t, top)
}

// runTool runs a program of build/bin and returns its output. It fails the test if the program fails.
func runTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	return harness.Output(t, exec.Command(filepath.Join(built(t), "bin", name), args...))
}

// compile compiles a C program from source text with gompicc of build/, and returns the path of the program.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o644))
	args := append([]string{"-g", "-Wall", "-Wextra", "-Werror", "-o", program, file}, flags...)
	runTool(t, "gompicc", args...)
	return program
}
