package gotest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Tests of gompirun's reports about jobs that hang, and of jobs about which it must report nothing.

// buildHangs compiles the program with the deadlocks and hangs that the tests run.
func buildHangs(t *testing.T) string {
	source, err := os.ReadFile("testdata/hangs.c")
	require.NoError(t, err)
	return compile(t, string(source), "-pthread")
}

// deadlocks lists the hangs of testdata/hangs.c. The first line of an entry has the name of the hang and the options of
// gompirun. The indented lines that follow have the expected reason why no rank can proceed and, after each "+",
// another expected line of output.
const deadlocks = `
receives -n 2
    rank 0 waits in MPI_Recv (tag 7) for rank 1; rank 1 waits in MPI_Recv (tag 7) for rank 0
    + rank 0 waits in MPI_Recv (tag 7) for rank 1
    + rank 1 waits in MPI_Recv (tag 7) for rank 0
receives -n 2 --nodes 2
    rank 0 waits in MPI_Recv (tag 7) for rank 1; rank 1 waits in MPI_Recv (tag 7) for rank 0
sends -n 2
    rank 0 waits in MPI_Ssend (tag 3) for rank 1 to receive; rank 1 waits in MPI_Ssend (tag 3) for rank 0 to receive
start-first -n 2
    rank 0 waits in MPI_Win_start for rank 1 to call MPI_Win_post on window 'halo';
    rank 1 waits in MPI_Win_start for rank 0 to call MPI_Win_post on window 'halo'
three -n 3
    rank 0 waits in MPI_Win_start for rank 1 to call MPI_Win_post on window 'halo';
    rank 1 waits in MPI_Recv (tag 7) for rank 2;
    rank 2 waits in MPI_Win_wait for rank 0 to call MPI_Win_complete on window 'halo'
groups -n 3
    rank 0 waits in MPI_Win_wait for 1 more of ranks 1-2 to call MPI_Win_complete on window 'halo';
    ranks 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for rank 0
    + rank 0 waits in MPI_Win_wait for 1 more of ranks 1-2 to call MPI_Win_complete on window 'halo'
    + ranks 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for rank 0
groups-late -n 3
    rank 0 waits in MPI_Win_wait for 1 more of ranks 1-2 to call MPI_Win_complete on window 'halo';
    ranks 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for rank 0
no-post -n 3
    rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 2;
    rank 2 waits in MPI_Win_start for rank 0 to call MPI_Win_post on window 'halo'
    + ranks 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for rank 2
progress -n 2
    rank 0 waits in MPI_Recv (tag 5) for rank 1;
    rank 1 waits in MPI_Win_wait for rank 0 to call MPI_Win_complete on window 'halo'
progress -n 2 --nodes 2
    rank 0 waits in MPI_Recv (tag 5) for rank 1;
    rank 1 waits in MPI_Win_wait for rank 0 to call MPI_Win_complete on window 'halo'
wait-first -n 2
    rank 0 waits in MPI_Win_wait for rank 1 to call MPI_Win_complete on window 'halo';
    rank 1 waits in MPI_Win_wait for rank 0 to call MPI_Win_complete on window 'halo'
collectives -n 4
    different collectives on MPI_COMM_WORLD: rank 0 is in MPI_Barrier, ranks 1-3 in MPI_Allreduce
    + ranks 1-3 wait in MPI_Allreduce on MPI_COMM_WORLD for rank 0
collectives -n 4 --nodes 2
    different collectives on MPI_COMM_WORLD: rank 0 is in MPI_Barrier, ranks 1-3 in MPI_Allreduce
handles -n 3
    different collectives on communicator 'mine': ranks 0,2 are in MPI_Barrier, rank 1 in MPI_Allreduce
fence -n 2
    rank 0 waits in MPI_Win_fence on window 'halo' for rank 1; rank 1 waits in MPI_Recv (tag 4) for rank 0
fence -n 4 --nodes 2
    rank 0 waits in MPI_Win_fence on window 'halo' for rank 1; rank 1 waits in MPI_Recv (tag 4) for rank 0
lock -n 2
    rank 0 waits in MPI_Recv (tag 6) for rank 1;
    rank 1 waits in MPI_Win_lock for the lock of target 1 in window 'halo', which rank 0 holds
    + rank 0 has held the exclusive lock of target 1 in window 'halo' for
    + s: it waits in MPI_Recv (tag 6) for rank 1
lock-all -n 2
    rank 0 waits in MPI_Recv (tag 6) for rank 1;
    rank 1 waits in MPI_Win_lock for the lock of target 1 in window 'halo', which rank 0 holds
    + rank 0 has held the shared lock of target 1 in window 'halo' for
    + s: it waits in MPI_Recv (tag 6) for rank 1
finalize -n 2
    rank 0 waits in MPI_Recv (tag 2) for rank 1; rank 1 is in MPI_Finalize and will send nothing more to rank 0
    + rank 0 waits in MPI_Recv (tag 2) for rank 1
    + rank 1 is in MPI_Finalize and will send nothing more to rank 0
finalize -n 2 --nodes 2
    rank 0 waits in MPI_Recv (tag 2) for rank 1; rank 1 is in MPI_Finalize and will send nothing more to rank 0
joins -n 2
    rank 0 waits in MPI_Recv (tag 1) for rank 1; rank 1 waits in MPI_Recv (tag 1) for rank 0
waitany -n 3
    rank 0 waits in MPI_Waitany for a message from rank 1 (tag 3) or a message from rank 2 (tag 4);
    ranks 1-2 wait in MPI_Recv (tag 7) for rank 0
waitsome -n 3
    rank 0 waits in MPI_Waitsome for a message from rank 1 (tag 3) or rank 2 to receive (tag 4);
    ranks 1-2 wait in MPI_Recv (tag 7) for rank 0
two-threads -n 3
    rank 0 waits in MPI_Recv (tag 7) for rank 1, in MPI_Recv (tag 8) for rank 2;
    ranks 1-2 wait in MPI_Recv (tag 7) for rank 0
partitions -n 2
    rank 0 waits in MPI_Wait (tag 3) for partitions from rank 1; rank 1 waits in MPI_Recv (tag 7) for rank 0
partitions -n 2 --nodes 2
    rank 0 waits in MPI_Wait (tag 3) for partitions from rank 1; rank 1 waits in MPI_Recv (tag 7) for rank 0
pready -n 2
    rank 0 waits in MPI_Wait for MPI_Pready, which another thread of this rank must call
grequest -n 2
    rank 0 waits in MPI_Wait for MPI_Grequest_complete, which another thread of this rank must call
lock-put -n 2 --nodes 2
    rank 0 waits in MPI_Recv (tag 6) for rank 1;
    rank 1 waits in MPI_Win_lock for the lock of target 1 in window 'halo', which rank 0 holds
    + rank 0 has held the exclusive lock of target 1 in window 'halo' for
lock-put -n 4 --nodes 2
    rank 0 waits in MPI_Recv (tag 6) for rank 1;
    rank 1 waits in MPI_Win_flush for the lock of target 3 in window 'halo', which rank 0 holds
    + rank 0 has held the exclusive lock of target 3 in window 'halo' for
ibarrier -n 2
    rank 0 waits in MPI_Recv (tag 7) for rank 1;
    rank 1 waits in MPI_Wait (MPI_Ibarrier, nonblocking collective 1) on MPI_COMM_WORLD for rank 0
ibarrier -n 4 --nodes 2
    rank 0 waits in MPI_Recv (tag 7) for rank 1;
    rank 1 waits in MPI_Wait (MPI_Ibarrier, nonblocking collective 1) on MPI_COMM_WORLD for rank 0
    + ranks 1-3 wait in MPI_Wait (MPI_Ibarrier, nonblocking collective 1) on MPI_COMM_WORLD for rank 0
ibarrier-send -n 2
    rank 0 waits in MPI_Recv (tag 7) for rank 1; rank 1 waits in MPI_Ssend (tag 0) for rank 0 to receive
ibarrier-barrier -n 2
    different collectives on MPI_COMM_WORLD: rank 0 is in MPI_Barrier, rank 1 in MPI_Ibarrier
ibarrier-barrier -n 4 --nodes 2
    different collectives on MPI_COMM_WORLD: rank 0 is in MPI_Barrier, ranks 1-3 in MPI_Ibarrier
ibcast -n 3
    rank 0 waits in MPI_Recv (tag 7) for rank 1;
    rank 1 waits in MPI_Wait (MPI_Ibcast, nonblocking collective 1) on MPI_COMM_WORLD for rank 0
ibcast -n 3 --nodes 3
    rank 0 waits in MPI_Recv (tag 7) for rank 1;
    rank 1 waits in MPI_Wait (MPI_Ibcast, nonblocking collective 1) on MPI_COMM_WORLD for rank 0
barrier-init -n 2
    rank 0 waits in MPI_Recv (tag 7) for rank 1;
    rank 1 waits in MPI_Wait (MPI_Barrier_init, round 3) on MPI_COMM_WORLD for rank 0
neighbors -n 3
    rank 0 waits in MPI_Recv (tag 7) for rank 1;
    rank 1 waits in MPI_Neighbor_alltoall on communicator 'ring' for rank 0
neighbors -n 4 --nodes 2
    rank 0 waits in MPI_Recv (tag 7) for rank 1;
    rank 1 waits in MPI_Neighbor_alltoall on communicator 'ring' for rank 0
probe -n 2
    rank 0 waits in MPI_Probe (tag 9) for rank 1; rank 1 waits in MPI_Mprobe (tag 8) for rank 0
window -n 2 --nodes 2
    rank 0 waits in MPI_Win_create on MPI_COMM_WORLD for rank 1; rank 1 waits in MPI_Recv (tag 4) for rank 0
split -n 2
    rank 0 waits in MPI_Comm_split on MPI_COMM_WORLD for rank 1; rank 1 waits in MPI_Recv (tag 4) for rank 0
idup -n 2
    rank 0 waits in MPI_Recv (tag 4) for rank 1;
    rank 1 waits in MPI_Wait (MPI_Comm_idup, nonblocking collective 1) on MPI_COMM_WORLD for rank 0
intercommunicator -n 2
    rank 0 waits in MPI_Recv (tag 7) on communicator 'bridge' for rank 1;
    rank 1 waits in MPI_Recv (tag 7) on communicator 'bridge' for rank 0
recv-init -n 2
    rank 0 waits in MPI_Wait (tag 5) for rank 1; rank 1 waits in MPI_Wait (tag 5) for rank 0
large-sends -n 2
    rank 0 waits in MPI_Send (tag 3) for rank 1 to receive; rank 1 waits in MPI_Send (tag 3) for rank 0 to receive
`

// TestDeadlocks checks that gompirun reports each deadlock once, with the reason why no rank can proceed, and ends the
// job.
func TestDeadlocks(t *testing.T) {
	program := buildHangs(t)
	for _, one := range regexp.MustCompile(`(?m)^\S.*\n(?: .*\n)+`).FindAllString(deadlocks, -1) {
		name, says, _ := strings.Cut(one, "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way, options, _ := strings.Cut(name, " ")
			why, lines, _ := strings.Cut(says, "\n    + ")
			args := strings.Fields("--deadlock=abort --deadlock-after 0.6 " + options)
			status, _, err := gompirun(t, append(args, program, way)...)
			require.Equal(t, 4, status, err)
			first, _, _ := strings.Cut(err, "\n")
			why = regexp.QuoteMeta(strings.Join(strings.Fields(why), " "))
			require.Regexp(t, `^gompirun: deadlock: `+why+` \(no progress for \d+ s\)$`, first)
			for _, line := range strings.Split(lines, "\n    + ") {
				require.Contains(t, err, strings.TrimSpace(line))
			}
			require.Equal(t, 1, strings.Count(err, "deadlock:"), err)
		})
	}
}

// TestDeadlocksHavePlaces checks that each reported wait shows the source line where the program called the function.
// It tests calls that C and Go implement, with and without optimization, debug information and --check.
func TestDeadlocksHavePlaces(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/hangs.c")
	require.NoError(t, err)
	line := func(text string) string {
		before, _, found := strings.Cut(string(source), text)
		require.True(t, found, text)
		return "program.c:" + strconv.Itoa(strings.Count(before, "\n")+1)
	}
	says := func(program, way string, options ...string) string {
		args := append([]string{"--deadlock=abort", "--deadlock-after", "0.6", "-n", "2"}, options...)
		status, _, err := gompirun(t, append(args, program, way)...)
		require.Equal(t, 4, status, "%s: %s", way, err)
		return err
	}
	receive, behind := line("MPI_Recv(&one, 1, MPI_INT, from"), ", from "+line("ways[i].does()")+" in main\n"
	for _, flags := range []string{"-O0", "-O2 -fno-inline -fno-optimize-sibling-calls"} {
		program := compile(t, string(source), append(strings.Fields(flags), "-pthread")...)
		for _, options := range [][]string{nil, {"--check"}} {
			text := says(program, "split", options...)
			require.Contains(t, text, "\ngompirun: rank 0 waits in MPI_Comm_split on MPI_COMM_WORLD for "+
				"rank 1\ngompirun:   MPI_Comm_split was called at "+line("MPI_Comm_split(")+" in split"+
				behind, flags)
			require.Contains(t, text, "gompirun:   MPI_Recv was called at "+receive+" in receive, from "+
				line("receive(0, 4); /* split */")+" in split"+behind, flags)
		}
	}
	bare := compile(t, string(source), "-g0", "-pthread")
	require.Regexp(t, `MPI_Comm_split was called at split\+0x[0-9a-f]+ in program, `+
		`from main\+0x[0-9a-f]+ in program\n`, says(bare, "split"))
}

// TestMayHang checks that gompirun reports no deadlock and does not end the job if an event outside of the job may end
// a wait. It reports at most a possible hang.
func TestMayHang(t *testing.T) {
	program := buildHangs(t)
	const may = `^gompirun: possible hang: thread \d+ of rank 0 waits outside MPI in `
	for way, says := range map[string]string{
		"outside-semaphore": may + `futex \(shared\)\n`,
		"outside-signal":    may + `futex, which a signal handler may wake\n`,
		"outside-pipe":      `^$`,
		"outside-file":      `^$`,
		"waitany-late":      `^$`,
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields("--deadlock=abort --deadlock-after 0.4 -n 2")
			status, _, err := gompirun(t, append(args, program, way)...)
			require.Zero(t, status, err)
			require.Regexp(t, says, err)
			require.NotContains(t, err, "deadlock")
		})
	}
}

// TestDeadlockIsReportedOnce checks that gompirun without --deadlock=abort reports a deadlock once and lets the job run
// on. With --deadlock=off or --quiet it reports nothing.
func TestDeadlockIsReportedOnce(t *testing.T) {
	t.Parallel()
	program := buildHangs(t)
	status, _, err := gompirun(t, "--deadlock-after", "0.5", "--timeout", "4", "-n", "2", program, "receives")
	require.Equal(t, 124, status, err)
	told, late, ended := strings.Cut(err, "gompirun: the job exceeded its time limit of 4s (--timeout)\n")
	require.True(t, ended, err)
	require.Equal(t, 1, strings.Count(told, "deadlock: rank 0 waits in MPI_Recv (tag 7) for rank 1;"), err)
	require.Contains(t, late, "deadlock: rank 0 waits in MPI_Recv (tag 7) for rank 1;",
		"the report at the time limit omits the deadlock")
	require.Contains(t, late, "gompirun: rank 0 waits in MPI_Recv (tag 7) for rank 1\n")
	_, _, err = gompirun(t, "--timeout", "2", "-n", "2", program, "receives")
	require.NotContains(t, err, "deadlock", "a deadlock was reported before --deadlock-after")
	for _, quiet := range []string{"--deadlock=off", "--quiet"} {
		args := []string{quiet, "--deadlock-after", "0.5", "--timeout", "3", "-n", "2", program, "receives"}
		_, _, err = gompirun(t, args...)
		told, _, _ = strings.Cut(err, "gompirun: the job exceeded its time limit")
		require.Empty(t, told, quiet)
	}
}

// TestMayHangOnRequest checks that the report at the time limit includes threads that wait for an event outside of the
// job.
func TestMayHangOnRequest(t *testing.T) {
	args := strings.Fields("--deadlock-after 0.3 --timeout 1.5 -n 2")
	status, _, err := gompirun(t, append(args, buildHangs(t), "outside-pipe")...)
	require.Equal(t, 124, status, err)
	require.Regexp(t, `\ngompirun: possible hang: thread \d+ of rank 0 waits outside MPI in read\n`, err)
	require.NotContains(t, err, "deadlock")
}

// TestNoDeadlock checks that gompirun reports nothing while a rank runs outside of MPI, because it may call MPI at any
// time.
func TestNoDeadlock(t *testing.T) {
	t.Parallel()
	program := buildHangs(t)
	for _, healthy := range []string{"sleeps -n 2", "sleeps -n 2 --nodes 2", "threads -n 2", "polls -n 2",
		"ping-pong -n 4", "ping-pong -n 4 --nodes 2", "many -n 16"} {
		t.Run(healthy, func(t *testing.T) {
			t.Parallel()
			way, options, _ := strings.Cut(healthy, " ")
			args := []string{"--deadlock=abort", "--deadlock-after", "1"}
			args = append(args, strings.Fields(options)...)
			status, _, err := gompirun(t, append(args, program, way)...)
			require.Zero(t, status, err)
			require.Empty(t, err)
		})
	}
	for way, says := range map[string]string{
		"lock-computes": "rank 0 is not blocked in MPI (computing, or polling with MPI_Test)\n",
		"no-init":       "rank 1 has not called MPI_Init\n",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			args := []string{"--deadlock=abort", "--deadlock-after", "0.5", "--timeout", "3", "-n", "2"}
			status, _, err := gompirun(t, append(args, program, way)...)
			require.Equal(t, 124, status, err)
			require.Contains(t, err, says)
			require.NotContains(t, err, "deadlock")
		})
	}
}

// TestNoDeadlockOfStoppedRank checks that gompirun does not treat a rank that a signal has stopped as waiting.
func TestNoDeadlockOfStoppedRank(t *testing.T) {
	t.Parallel()
	program := buildHangs(t)
	l := prepare(t, "--deadlock=abort", "--deadlock-after", "0.3", "-n", "2", "sh", "-c",
		"echo $PMI_RANK $$; exec "+program+" ping-pong")
	require.NoError(t, l.Cmd.Start())
	require.Eventually(t, func() bool { return strings.Count(l.Out.String(), "up\n") == 2 }, hangTimeout,
		time.Millisecond)
	for _, line := range strings.Split(l.Out.String(), "\n") {
		rank, pid, _ := strings.Cut(line, " ")
		if number, err := strconv.Atoi(pid); err == nil && rank == "0" {
			require.NoError(t, syscall.Kill(number, syscall.SIGSTOP))
			time.Sleep(3 * time.Second) // a wrong report would appear in less time
			require.NoError(t, syscall.Kill(number, syscall.SIGCONT))
		}
	}
	require.Zero(t, l.wait(t), &l.Err)
	require.Empty(t, l.Err.String())
}

// TestSignalReportsRanks checks that gompirun reports the state of the ranks when it receives SIGUSR1. It must not
// forward the signal to the ranks, which the signal would end.
func TestSignalReportsRanks(t *testing.T) {
	program := buildHangs(t)
	l := prepare(t, "-n", "2", program, "lock-computes")
	require.NoError(t, l.Cmd.Start())
	t.Cleanup(func() { l.Cmd.Process.Signal(syscall.SIGTERM) })
	require.Eventually(t, func() bool { return strings.Count(l.Out.String(), "up\n") == 2 }, hangTimeout,
		time.Millisecond)
	require.Eventually(t, func() bool {
		require.NoError(t, l.Cmd.Process.Signal(syscall.SIGUSR1))
		time.Sleep(100 * time.Millisecond)
		const waits = "rank 1 waits in MPI_Win_lock for the lock of target 1 in window 'halo'\n"
		return strings.Contains(l.Err.String(), waits)
	}, hangTimeout, time.Millisecond)
	require.NoError(t, l.Cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 128+15, l.wait(t))
	err := l.Err.String()
	require.Contains(t, err, "gompirun: state of the ranks:\n")
	require.Contains(t, err, "gompirun: rank 0 is not blocked in MPI (computing, or polling with MPI_Test)\n")
	require.Regexp(t,
		`gompirun: rank 0 has held the exclusive lock of target 1 in window 'halo' for \d+ s: it is not blocked in `, err)
	require.NotContains(t, err, "deadlock")
}

// TestProgress checks the line on the ranks: at SIGUSR2 in any job, which must not end ranks that do not catch the
// signal; with --progress at the end of the job, and once a second if the standard error is a terminal. With --stats it
// has the bytes of MPI calls.
func TestProgress(t *testing.T) {
	l := prepare(t, "-n", "2", buildHangs(t), "lock-computes")
	require.NoError(t, l.Cmd.Start())
	t.Cleanup(func() { l.Cmd.Process.Signal(syscall.SIGTERM) })
	require.Eventually(t, func() bool { return strings.Count(l.Out.String(), "up\n") == 2 }, hangTimeout,
		time.Millisecond)
	require.Eventually(t, func() bool {
		require.NoError(t, l.Cmd.Process.Signal(syscall.SIGUSR2))
		time.Sleep(100 * time.Millisecond)
		return strings.Contains(l.Err.String(), " s, 2 ranks: 1 computing, 1 waiting in MPI (1 MPI_Win_lock)\n")
	}, hangTimeout, time.Millisecond)
	require.NoError(t, l.Cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 128+15, l.wait(t))
	require.Regexp(t, `(?m)^gompirun: progress: \d+ s, 2 ranks: `, l.Err.String())

	l = prepare(t, "--progress", "-n", "2", "sleep", "1.2")
	require.Zero(t, l.run(t))
	require.Equal(t, "gompirun: progress: 1 s, 2 ranks: 2 ended\n", l.Err.String())

	for arg, bytes := range map[string]string{"0": "0 B", "1000": "19.5 KiB"} {
		program := compile(t, `
#include <mpi.h>
#include <stdlib.h>
static char data[1000];
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 10; i++)
		MPI_Bcast(data, atoi(argv[1]), MPI_CHAR, 0, MPI_COMM_WORLD);
	return MPI_Finalize();
}`)
		l = prepare(t, "--progress", "--stats", "-n", "2", program, arg)
		require.Zero(t, l.run(t))
		require.Regexp(t, `(?m)^gompirun: progress: \d s, 2 ranks: 2 ended; `+bytes+` in MPI calls$`, l.Err.String())
	}

	l = prepare(t, "--progress", "-n", "2", "sleep", "2.5")
	screen := onTerminal(t, l)
	l.Cmd.Stderr = l.Cmd.Stdin.(*os.File)
	require.NoError(t, l.Cmd.Start())
	shown := make(chan string)
	go func() {
		text := make([]byte, 4096)
		n := 0
		for !strings.Contains(string(text[:n]), "2 ended") && n < len(text) {
			k, err := screen.Read(text[n:])
			if n += k; err != nil {
				break
			}
		}
		shown <- string(text[:n])
	}()
	require.Zero(t, l.wait(t))
	const line = "gompirun: progress: %d s, 2 ranks: 2 before MPI_Init\r\n"
	require.Equal(t, fmt.Sprintf(line+line, 1, 2)+"gompirun: progress: 2 s, 2 ranks: 2 ended\r\n", <-shown)
}
