package gotest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// This file tests jobs on several simulated nodes in which a rank is late, stops or dies, or whose launcher dies.

// phases is a program whose rank 1 stays in one phase of the program, while the other ranks wait for rank 1. The
// arguments are the phase and the number of seconds. Each rank prints "up RANK PID" before the phase.
const phases = `
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *phase;
static int rank, seconds;
static void up(void) { printf("up %d %d\n", rank, (int)getpid()); fflush(stdout); }
static void stay(const char *where)
{
    if (strcmp(phase, where) != 0)
        return;
    up();
    if (rank == 1)
        sleep((unsigned)seconds);
}
/* what the library calls when it opens the network between nodes */
int getifaddrs(struct ifaddrs **list)
{
    static int (*next)(struct ifaddrs **);
    if (next == NULL) {
        next = (int (*)(struct ifaddrs **))dlsym(RTLD_NEXT, "getifaddrs");
        stay("network");
    }
    return next(list);
}
int main(int argc, char **argv)
{
    if (argc < 3 || getenv("PMI_RANK") == NULL)
        return 99;
    phase = argv[1];
    seconds = atoi(argv[2]);
    rank = atoi(getenv("PMI_RANK"));
    stay("init");
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    stay("barrier");
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(phase, "barriers") == 0 || strcmp(phase, "busy") == 0) {
        up();
        for (volatile long i = 1;; i++)
            if (strcmp(phase, "barriers") == 0 || i % 1000000 == 0)
                MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(phase, "alone") == 0) {
        up();
        for (;;)
            pause();
    }
    stay("finalize");
    MPI_Finalize();
    printf("done\n");
    return 0;
}
`

// pids waits until all ranks of a job have printed "up", and returns their process ids.
func (l *launch) pids(t *testing.T, n int) []int {
	t.Helper()
	pids := make([]int, n)
	require.Eventually(t, func() bool {
		seen := 0
		for _, line := range strings.Split(l.Out.String(), "\n") {
			var rank, pid int
			if k, _ := fmt.Sscanf(line, "up %d %d", &rank, &pid); k == 2 {
				pids[rank] = pid
				seen++
			}
		}
		return seen == n
	}, hangTimeout, time.Millisecond, "%s%s", &l.Out, &l.Err)
	return pids
}

// hydra returns the command line with which MPICH's mpiexec starts a program of n ranks on the given number of
// simulated nodes.
func hydra(t *testing.T, nodes, n int, program ...string) []string {
	t.Helper()
	mpiexec, err := exec.LookPath("mpiexec.mpich")
	require.NoError(t, err)
	args := []string{mpiexec}
	for i := range nodes {
		if i > 0 {
			args = append(args, ":")
		}
		args = append(args, "-n", fmt.Sprint(n/nodes), "-env", "GOMPIRMA_NODE", fmt.Sprint(i))
		args = append(args, program...)
	}
	return args
}

// TestLateRankInInit checks that MPI_Init waits for a rank that is alive but late. The rank is later than two time
// limits, which must not end the wait. After GOMPIRMA_PEER_TIMEOUT (1 s) a silent peer counts as failed. minInitTimeout
// (10 s) is the time for which MPI_Init waits for a rank that has not answered yet.
func TestLateRankInInit(t *testing.T) {
	t.Parallel()
	program := compile(t, phases, "-rdynamic")
	const timeout, late = "GOMPIRMA_PEER_TIMEOUT=1", "12"
	runs := []*launch{prepare(t, "--nodes", "4", "-n", "4", program, "network", late)}
	if _, err := exec.LookPath("mpiexec.mpich"); err == nil {
		args := hydra(t, 2, 4, program, "network", late)
		runs = append(runs, prepareProgram(t, args[0], args[1:]...))
	}
	for _, l := range runs {
		l.Cmd.Env = append(l.Cmd.Env, timeout)
		require.NoError(t, l.Cmd.Start())
	}
	for _, l := range runs {
		require.Zero(t, l.wait(t), "%s", &l.Err)
		require.Empty(t, l.Err.String())
		require.Equal(t, 4, strings.Count(l.Out.String(), "done\n"))
	}
}

// TestStoppedOverNodes checks that one stopped process counts as failed, but not its whole node, even if the process is
// the node leader. No process may remain. In the phase "barrier" all ranks wait for rank 1, so that only the failure
// detection between nodes can notice the stopped process.
func TestStoppedOverNodes(t *testing.T) {
	t.Parallel()
	program := compile(t, phases, "-rdynamic")
	for _, phase := range []string{"barriers", "busy", "barrier"} {
		l := prepare(t, "--nodes", "2", "-n", "6", program, phase, "600")
		l.Cmd.Env = append(l.Cmd.Env, "GOMPIRMA_PEER_TIMEOUT=2")
		require.NoError(t, l.Cmd.Start())
		victim := l.pids(t, 6)[3]
		require.NoError(t, syscall.Kill(victim, syscall.SIGSTOP))
		require.NotZero(t, l.wait(t))
		require.Contains(t, l.Err.String(), "rank 3 of MPI_COMM_WORLD")
		require.NotContains(t, l.Err.String(), "whole node")
		require.Error(t, syscall.Kill(victim, 0), "the stopped process still exists")
	}
}

// TestKilledOverNodes checks that gompirun reports only the rank whose death ended the job. The other ranks may notice
// the death earlier but must print nothing.
func TestKilledOverNodes(t *testing.T) {
	program := compile(t, phases, "-rdynamic")
	for i, phase := range []string{"barriers", "busy", "alone", "barriers", "busy", "barriers", "busy", "barrier",
		"finalize", "network", "init", "barriers", "busy"} {
		l := prepare(t, "--nodes", "2", "-n", "4", program, phase, "600")
		require.NoError(t, l.Cmd.Start())
		pids := l.pids(t, 4)
		victim := i % 4
		require.NoError(t, syscall.Kill(pids[victim], syscall.SIGKILL))
		require.Equal(t, 137, l.wait(t), "%s: %s", phase, &l.Err)
		lines := strings.Split(strings.TrimSpace(l.Err.String()), "\n")
		says := fmt.Sprintf("gompirun: rank %d (program) was killed by signal 9", victim)
		require.Len(t, lines, 1, "%s: %s", phase, &l.Err)
		require.Contains(t, lines[0], says, phase)
	}
}

// TestLauncherKilledInPhases checks that no process of a job remains after its launcher was killed in any phase of the
// job.
func TestLauncherKilledInPhases(t *testing.T) {
	program := compile(t, phases, "-rdynamic")
	for _, phase := range []string{"init", "network", "barrier", "barriers", "alone", "finalize"} {
		for nodes := 1; nodes <= 2; nodes++ {
			if phase == "network" && nodes == 1 {
				continue // a job on one node has no network to open
			}
			starts := [][]string{{"", "--nodes", fmt.Sprint(nodes), "-n", "2", program, phase, "600"}}
			if _, err := exec.LookPath("mpiexec.mpich"); err == nil {
				starts = append(starts, hydra(t, nodes, 2, program, phase, "600"))
			}
			for _, args := range starts {
				var l *launch
				if args[0] == "" {
					l = prepare(t, args[1:]...)
				} else {
					l = prepareProgram(t, args[0], args[1:]...)
				}
				require.NoError(t, l.Cmd.Start())
				l.pids(t, 2)
				require.NoError(t, l.Cmd.Process.Kill())
				require.Equal(t, 137, l.wait(t), "%s, nodes: %d, %v", phase, nodes, args)
			}
		}
	}
}

// inNetwork makes l start in a new network namespace, which the shell script `script` configures first.
func (l *launch) inNetwork(t *testing.T, script string) {
	t.Helper()
	unshare := []string{"unshare", "--net"}
	if os.Geteuid() != 0 { // root needs no user namespace, and in a chroot it may not create one
		unshare = append(unshare, "--map-root-user")
	}
	if exec.Command(unshare[0], append(slices.Clone(unshare[1:]), "true")...).Run() != nil {
		t.Skip("this system does not permit network namespaces")
	}
	l.Cmd.Args = slices.Concat(unshare, []string{"sh", "-ec", script + `exec "$0" "$@"`}, l.Cmd.Args)
	var err error
	l.Cmd.Path, err = exec.LookPath(unshare[0])
	require.NoError(t, err)
}

// TestLoopbackIsDown checks that, while the loopback interface is down, gompirun reports that simulated nodes cannot
// reach each other, and starts no rank.
func TestLoopbackIsDown(t *testing.T) {
	program := compile(t, phases, "-rdynamic")
	inside := func(args ...string) (int, string) {
		l := prepare(t, args...)
		l.inNetwork(t, "")
		return l.run(t), l.Err.String()
	}
	status, says := inside("--nodes", "2", "-n", "2", program, "none", "0")
	require.Equal(t, 2, status)
	require.Contains(t, says, "the loopback interface lo, which is down. Run: ip link set lo up\n")
	require.Equal(t, 1, strings.Count(says, "\n"), says)
	status, says = inside("-n", "2", program, "none", "0")
	require.Zero(t, status, says)
}

// TestNodesOnLoopback checks that simulated nodes use only the loopback interface unless the user names another one,
// even if the only address of the loopback interface is ::1.
func TestNodesOnLoopback(t *testing.T) {
	for given, want := range map[string]string{"": "lo", "eth9": "eth9"} {
		l := prepare(t, "--nodes", "2", "-n", "2", "sh", "-c", "echo $GOMPIRMA_INTERFACE")
		l.Cmd.Env = append(l.Cmd.Env, "GOMPIRMA_INTERFACE="+given)
		require.Zero(t, l.run(t), &l.Err)
		require.Equal(t, want+"\n"+want+"\n", l.Out.String())
	}
	harness.NeedCommand(t, "ip")
	l := prepare(t, "--nodes", "2", "-H", "[::1]:2", compile(t, phases, "-rdynamic"), "none", "0")
	l.inNetwork(t, "ip link set lo up; ip address del 127.0.0.1/8 dev lo; ")
	require.Zero(t, l.run(t), &l.Err)
	require.Equal(t, "done\ndone\n", l.Out.String())
}
