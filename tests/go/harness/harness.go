// Package harness starts programs for the tests in tests/go and tests/cluster, and collects what they print.
package harness

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	buildOnce sync.Once
	build     string
	buildErr  error
)

// Built updates build/ of the project in directory top, once for all tests, and returns its absolute path. The
// directory contains bin/gompirun, bin/gompicc, lib and include.
func Built(t *testing.T, top string) string {
	t.Helper()
	buildOnce.Do(func() {
		if build, buildErr = filepath.Abs(filepath.Join(top, "build")); buildErr != nil {
			return
		}
		out, err := exec.Command(filepath.Join(top, "scripts/build.sh"), build).CombinedOutput()
		if err != nil {
			buildErr = fmt.Errorf("scripts/build.sh: %w\n%s", err, out)
		}
	})
	require.NoError(t, buildErr)
	return build
}

// NeedCommand skips the test if a command is missing.
func NeedCommand(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
}

// outputLimit is the time after which Output kills a command.
const outputLimit = 10 * time.Minute

// Output runs a command, fails the test if the command fails, and returns all its output.
func Output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(outputLimit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(cmd.Args, " "), out)
	return string(out)
}

// Run is a program that a test observes while it runs.
type Run struct {
	Cmd      *exec.Cmd
	Out, Err Buffer
}

// Prepare sets a program that is not started yet. It is killed after limit, or when the test ends.
func (r *Run) Prepare(t *testing.T, limit time.Duration, program string, args ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	r.Cmd = exec.CommandContext(ctx, program, args...)
	r.Cmd.Stdout, r.Cmd.Stderr = &r.Out, &r.Err
}

// Status waits for the program, and returns its exit status, or 128 + the signal that killed it.
func (r *Run) Status() int {
	r.Cmd.Wait()
	status := r.Cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
