package gotest

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What gompirun says of jobs that hang, and that it says nothing of others.

// hangs compiles the program whose ways to hang the tests go through.
func hangs(t *testing.T) string {
	source, err := os.ReadFile("testdata/hangs.c")
	require.NoError(t, err)
	return compile(t, string(source), "-pthread")
}

// deadlocks are ways to hang, with the options of gompirun for each; what it says of why nobody goes on; and behind a
// "+" what it says, too.
const deadlocks = `
receives -n 2
    0 waits in MPI_Recv (tag 7) for 1; 1 waits in MPI_Recv (tag 7) for 0
    + rank 0 waits in MPI_Recv (tag 7) for rank 1
    + rank 1 waits in MPI_Recv (tag 7) for rank 0
receives -n 2 --nodes 2
    0 waits in MPI_Recv (tag 7) for 1; 1 waits in MPI_Recv (tag 7) for 0
sends -n 2
    0 waits in MPI_Ssend (tag 3) for 1 to receive; 1 waits in MPI_Ssend (tag 3) for 0 to receive
start-first -n 2
    0 waits in MPI_Win_start for 1 to post window 'halo'; 1 waits in MPI_Win_start for 0 to post window 'halo'
three -n 3
    0 waits in MPI_Win_start for 1 to post window 'halo'; 1 waits in MPI_Recv (tag 7) for 2;
    2 waits in MPI_Win_wait for 0 to complete an epoch on window 'halo'
groups -n 3
    0 waits in MPI_Win_wait for 1 more of ranks 1-2 to complete an epoch on window 'halo';
    1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0
    + rank 0 waits in MPI_Win_wait for 1 more of ranks 1-2 to complete an epoch on window 'halo'
    + ranks 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for rank 0
groups-late -n 3
    0 waits in MPI_Win_wait for 1 more of ranks 1-2 to complete an epoch on window 'halo';
    1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0
no-post -n 3
    0 waits in MPI_Barrier on MPI_COMM_WORLD for 2; 2 waits in MPI_Win_start for 0 to post window 'halo'
    + ranks 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for rank 2
progress -n 2
    0 waits in MPI_Recv (tag 5) for 1; 1 waits in MPI_Win_wait for 0 to complete an epoch on window 'halo'
progress -n 2 --nodes 2
    0 waits in MPI_Recv (tag 5) for 1; 1 waits in MPI_Win_wait for 0 to complete an epoch on window 'halo'
wait-first -n 2
    0 waits in MPI_Win_wait for 1 to complete an epoch on window 'halo';
    1 waits in MPI_Win_wait for 0 to complete an epoch on window 'halo'
collectives -n 4
    rank 0 is in MPI_Barrier, ranks 1-3 in MPI_Allreduce on the same communicator MPI_COMM_WORLD
    + ranks 1-3 wait in MPI_Allreduce on MPI_COMM_WORLD for rank 0
collectives -n 4 --nodes 2
    rank 0 is in MPI_Barrier, ranks 1-3 in MPI_Allreduce on the same communicator MPI_COMM_WORLD
handles -n 3
    ranks 0,2 are in MPI_Barrier, rank 1 in MPI_Allreduce on the same communicator 'mine'
fence -n 2
    0 waits in MPI_Win_fence on window 'halo' for 1; 1 waits in MPI_Recv (tag 4) for 0
fence -n 4 --nodes 2
    0 waits in MPI_Win_fence on window 'halo' for 1; 1 waits in MPI_Recv (tag 4) for 0
lock -n 2
    0 waits in MPI_Recv (tag 6) for 1;
    1 waits in MPI_Win_lock for the lock of window 'halo' at target 1, which 0 holds
    + rank 0 has held window 'halo' at target 1 since
    + s: it waits in MPI_Recv (tag 6) for rank 1
lock-all -n 2
    0 waits in MPI_Recv (tag 6) for 1;
    1 waits in MPI_Win_lock for the lock of window 'halo' at target 1, which 0 holds
    + s, shared: it waits in MPI_Recv (tag 6) for rank 1
finalize -n 2
    all ranks wait in MPI
    + rank 0 waits in MPI_Recv (tag 2) for rank 1
    + rank 1 waits in MPI_Finalize
joins -n 2
    0 waits in MPI_Recv (tag 1) for 1; 1 waits in MPI_Recv (tag 1) for 0
`

// Each hang is told once, with why nobody goes on where that is certain, and the job ends.
func TestDeadlocks(t *testing.T) {
	program := hangs(t)
	for _, one := range regexp.MustCompile(`(?m)^\S.*\n(?: .*\n)+`).FindAllString(deadlocks, -1) {
		name, says, _ := strings.Cut(one, "\n")
		way, options, _ := strings.Cut(name, " ")
		why, lines, _ := strings.Cut(says, "\n    + ")
		args := append([]string{"--deadlock=abort", "--deadlock-after", "0.6"}, strings.Fields(options)...)
		status, _, err := gompirun(t, append(args, program, way)...)
		require.Equal(t, 4, status, "%s: %s", name, err)
		first, _, _ := strings.Cut(err, "\n")
		require.Regexp(t, `^gompirun: deadlock: `+regexp.QuoteMeta(strings.Join(strings.Fields(why), " "))+
			` \(nothing has moved for \d+ s\)$`, first, name)
		for _, line := range strings.Split(lines, "\n    + ") {
			require.Contains(t, err, strings.TrimSpace(line), name)
		}
		require.Equal(t, 1, strings.Count(err, "deadlock:"), err)
	}
}

// The job goes on to hang if it shall only be told: once. With off nothing is said.
func TestDeadlockIsReportedOnce(t *testing.T) {
	program := hangs(t)
	status, _, err := gompirun(t, "--deadlock-after", "0.5", "--timeout", "4", "-n", "2", program, "receives")
	require.Equal(t, 124, status, err)
	told, late, ended := strings.Cut(err, "gompirun: not done after 4s\n")
	require.True(t, ended, err)
	require.Equal(t, 1, strings.Count(told, "deadlock: 0 waits in MPI_Recv (tag 7) for 1;"), err)
	require.Contains(t, late, "deadlock: 0 waits in MPI_Recv (tag 7) for 1;", "it still is one")
	require.Contains(t, late, "gompirun: rank 0 waits in MPI_Recv (tag 7) for rank 1\n")
	_, _, err = gompirun(t, "--timeout", "2", "-n", "2", program, "receives")
	require.NotContains(t, err, "deadlock", "that is not known so soon")
	for _, quiet := range []string{"--deadlock=off", "--quiet"} {
		args := []string{quiet, "--deadlock-after", "0.5", "--timeout", "3", "-n", "2", program, "receives"}
		_, _, err = gompirun(t, args...)
		told, _, _ = strings.Cut(err, "gompirun: not done")
		require.Empty(t, told, quiet)
	}
}

// Whoever is not in MPI may call it at any time, so nothing is said.
func TestNoDeadlock(t *testing.T) {
	program := hangs(t)
	for _, healthy := range []string{"sleeps -n 2", "sleeps -n 2 --nodes 2", "threads -n 2", "polls -n 2",
		"ping-pong -n 4", "ping-pong -n 4 --nodes 2", "many -n 16"} {
		way, options, _ := strings.Cut(healthy, " ")
		args := append([]string{"--deadlock=abort", "--deadlock-after", "1"}, strings.Fields(options)...)
		status, _, err := gompirun(t, append(args, program, way)...)
		require.Zero(t, status, "%s: %s", healthy, err)
		require.Empty(t, err, healthy)
	}
	for way, says := range map[string]string{
		"lock-computes": "rank 0 runs outside MPI or does not wait\n",
		"no-init":       "rank 1 has not called MPI_Init\n",
	} {
		args := []string{"--deadlock=abort", "--deadlock-after", "0.5", "--timeout", "3", "-n", "2"}
		status, _, err := gompirun(t, append(args, program, way)...)
		require.Equal(t, 124, status, "%s: %s", way, err)
		require.Contains(t, err, says, way)
		require.NotContains(t, err, "deadlock", way)
	}
}

// A rank that is stopped is not taken for one that waits.
func TestNoDeadlockOfStoppedRank(t *testing.T) {
	program := hangs(t)
	l := prepare(t, "--deadlock=abort", "--deadlock-after", "0.3", "-n", "2", "sh", "-c",
		"echo $PMI_RANK $$; exec "+program+" ping-pong")
	require.NoError(t, l.cmd.Start())
	require.Eventually(t, func() bool { return strings.Count(l.out.String(), "up\n") == 2 }, hang, time.Millisecond)
	for _, line := range strings.Split(l.out.String(), "\n") {
		rank, pid, _ := strings.Cut(line, " ")
		if number, err := strconv.Atoi(pid); err == nil && rank == "0" {
			require.NoError(t, syscall.Kill(number, syscall.SIGSTOP))
			time.Sleep(3 * time.Second) // as long as it would take; to be too short hides an error only
			require.NoError(t, syscall.Kill(number, syscall.SIGCONT))
		}
	}
	require.Zero(t, l.wait(t), &l.err)
	require.Empty(t, l.err.String())
}

// SIGUSR1 has gompirun say what the ranks do, and does not reach ranks that it would end.
func TestSignalTellsWhatRanksDo(t *testing.T) {
	program := hangs(t)
	l := prepare(t, "-n", "2", program, "lock-computes")
	require.NoError(t, l.cmd.Start())
	t.Cleanup(func() { l.cmd.Process.Signal(syscall.SIGTERM) })
	require.Eventually(t, func() bool { return strings.Count(l.out.String(), "up\n") == 2 }, hang, time.Millisecond)
	require.Eventually(t, func() bool {
		require.NoError(t, l.cmd.Process.Signal(syscall.SIGUSR1))
		time.Sleep(100 * time.Millisecond)
		const waits = "rank 1 waits in MPI_Win_lock for the lock of window 'halo' at target 1\n"
		return strings.Contains(l.err.String(), waits)
	}, hang, time.Millisecond)
	require.NoError(t, l.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 128+15, l.wait(t))
	err := l.err.String()
	require.Contains(t, err, "gompirun: what the ranks do:\n")
	require.Contains(t, err, "gompirun: rank 0 runs outside MPI or does not wait\n")
	require.Regexp(t, `gompirun: rank 0 has held window 'halo' at target 1 since \d+ s: it is not in MPI`, err)
	require.NotContains(t, err, "deadlock")
}
