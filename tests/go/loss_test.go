package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLoss kills a rank of a job that continues: gompirun does not notice the death, because it has started a shell
// that outlives the rank. The test checks that the other ranks still communicate, and that operations that need the
// failed process return an error that names the process. The job runs on one node, on two nodes and with one rank per
// node.
func TestLoss(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "loss.c")
	gompirun := filepath.Join(built(t), "bin/gompirun")
	for _, run := range []string{"1", "2", "4", "2 tcp;ofi_rxm", "2 ucx"} {
		nodes, provider, _ := strings.Cut(run, " ")
		t.Run(run, func(t *testing.T) {
			over := filepath.Join(t.TempDir(), "over")
			shell := filepath.Join(t.TempDir(), "shell")
			script := fmt.Sprintf("#!/bin/sh\n%s %s %s\nwhile [ ! -e %s ]; do sleep 0.1; done\n",
				program, over, nodes, over)
			require.NoError(t, os.WriteFile(shell, []byte(script), 0o755))
			l := prepareProgram(t, gompirun, "-n", "4", "--nodes", nodes, shell)
			l.Cmd.Env = append(l.Cmd.Env, useProvider(provider)...)
			l.run(t)
			require.Equal(t, []string{"right 0", "right 1", "right 2"}, sorted(l.Out.String()), "%s",
				&l.Err)
		})
	}
}

// useProvider returns the environment that selects a network provider, or nothing for "".
func useProvider(provider string) []string {
	if provider == "" {
		return nil
	}
	return []string{"GOMPIRMA_PROVIDER=" + provider, "UCX_TLS=tcp"}
}

// TestProviders checks calls of every kind on two nodes, with the networks that the other tests do not use.
func TestProviders(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "sanitized.c")
	// The variable has an effect, so the runs below use the network that it names.
	l := prepare(t, "-n", "2", "--nodes", "2", program, "little")
	l.Cmd.Env = append(l.Cmd.Env, useProvider("nonsense")...)
	require.NotZero(t, l.run(t))
	require.Contains(t, l.Err.String(), "GOMPIRMA_PROVIDER=nonsense: libfabric has no provider nonsense")
	for _, provider := range []string{"tcp;ofi_rxm", "ucx"} {
		t.Run(provider, func(t *testing.T) {
			l := prepare(t, "-n", "4", "--nodes", "2", program)
			l.Cmd.Env = append(l.Cmd.Env, useProvider(provider)...)
			require.Zero(t, l.run(t), "%s", &l.Err)
			require.Empty(t, l.Err.String())
		})
	}
}

// TestSurvivorsAreSilent checks that the messages of a job name the cause of its end. Ranks that see another rank end
// must not report this end as the cause. They ignore SIGTERM, so that they live long enough to see it.
func TestSurvivorsAreSilent(t *testing.T) {
	program := compileFile(t, "survivors.c")
	type end struct {
		*launch
		name      string
		interrupt bool
		cause     string // the job's messages begin with it
	}
	causes := map[string]string{
		"abort": "gompirma: rank 0: MPI_Abort(MPI_COMM_WORLD, 7)\ngompirun: rank 0 (program) called " +
			"MPI_Abort",
		"die":       "gompirun: rank 0 (program) was killed by signal 9 (killed)",
		"interrupt": "gompirun: received signal 2 (interrupt) and ended the job",
		"deadlock":  "gompirun: deadlock: ",
	}
	var ends []end
	for _, nodes := range []string{"1", "2"} {
		for _, way := range []string{"abort", "die", "interrupt", "deadlock"} {
			watch := map[bool]string{true: "abort", false: "off"}[way == "deadlock"]
			l := prepare(t, "--deadlock="+watch, "--deadlock-after", "0.5", "-n", "4", "--nodes", nodes,
				program, way)
			ends = append(ends, end{l, way + " on " + nodes, way == "interrupt", causes[way]})
		}
	}
	for _, e := range ends {
		require.NoError(t, e.Cmd.Start())
	}
	for _, e := range ends {
		if e.interrupt {
			require.Eventually(t, func() bool { return strings.Count(e.Out.String(), "up\n") == 4 },
				hangTimeout,
				time.Millisecond, e.name)
			require.NoError(t, e.Cmd.Process.Signal(syscall.SIGINT))
		}
		require.NotZero(t, e.wait(t), e.name)
		require.True(t, strings.HasPrefix(e.Err.String(), e.cause), "%s: %s", e.name, &e.Err)
		require.NotContains(t, e.Err.String(), "MPI_ERR_PROC_ABORTED", e.name)
	}
}
