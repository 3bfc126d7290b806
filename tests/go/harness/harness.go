// Package harness starts programs for the tests in tests/go and tests/cluster, and collects their output.
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

// Built updates build/ of the project in the directory `top`, once per test process, and returns its absolute path. The
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
const outputLimit = 2 * time.Minute

// Output runs a command and returns its standard output and standard error. It fails the test if the command fails or
// runs longer than outputLimit. It also fails the test if a child of the command still has the output open 10 s after
// the command's end.
func Output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	return OutputWithin(t, cmd, outputLimit)
}

// OutputWithin runs a command like Output, with another time limit.
func OutputWithin(t *testing.T, cmd *exec.Cmd, limit time.Duration) string {
	t.Helper()
	cmd.WaitDelay = 10 * time.Second
	start := time.Now()
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: ended after %v, with a limit of %v\n%s", strings.Join(cmd.Args, " "),
		time.Since(start), limit, out)
	return string(out)
}

// Run is a program that a test observes while it runs.
type Run struct {
	Cmd      *exec.Cmd
	Out, Err Buffer
	ctx      context.Context
	limit    time.Duration
}

// Prepare sets r.Cmd without starting it. The program is killed after the time `limit`, or when the test ends.
func (r *Run) Prepare(t *testing.T, limit time.Duration, program string, args ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	r.ctx, r.limit = ctx, limit
	r.Cmd = exec.CommandContext(ctx, program, args...)
	r.Cmd.Stdout, r.Cmd.Stderr = &r.Out, &r.Err
}

// Status waits for the program. It returns the exit status, or 128 + the signal that killed the program. It fails the
// test if the program has exceeded its time limit.
func (r *Run) Status(t *testing.T) int {
	t.Helper()
	r.Cmd.Wait()
	require.NoError(t, r.ctx.Err(), "%s: killed after %v\n%s%s", strings.Join(r.Cmd.Args, " "), r.limit, &r.Out,
		&r.Err)
	status := r.Cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
