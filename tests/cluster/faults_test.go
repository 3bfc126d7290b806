package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// startBusy starts a job that communicates for the given number of seconds, with the launcher that starts fastest.
func startBusy(t *testing.T, seconds string, variables ...string) *run {
	t.Helper()
	l := launchers[0]
	l.prepare(t)
	command := append([]string{"env"}, variables...)
	return start(t, "", l.command([]int{2, 2}, append(command, program("busy"), seconds)...)...)
}

// TestSlowLossyNetwork checks that a job gives correct results on a slow network, on a network with a long latency, and
// on a network that loses packets.
func TestSlowLossyNetwork(t *testing.T) {
	needBed(t)
	for name, c := range map[string][2][]string{
		"as it is": {{"true"}, {"true"}},
		"slow":     {{"bed", "rate", "h2", "100mbit"}, {"bed", "rate", "h2", "off"}},
		"losing":   {{"bed", "loss", "h2", "2"}, {"bed", "loss", "h2", "0"}},
		"far":      {{"bed", "delay", "h2", "20"}, {"bed", "delay", "h2", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "losing" {
				harness.NeedCommand(t, "nft")
			}
			runCommand(t, c[0]...)
			defer runCommand(t, c[1]...)
			r := startBusy(t, "3")
			status, _ := r.wait()
			require.Equal(t, 0, status)
			rounds := regexp.MustCompile(`fine after (\d+) rounds`).FindStringSubmatch(r.Out.String())
			require.NotNil(t, rounds, r.Out.String())
			if name == "far" { // each round waits for two replies of h2, delayed by 20 ms each
				n, err := strconv.Atoi(rounds[1])
				require.NoError(t, err)
				require.LessOrEqual(t, n, 3000/(2*20)+1, "the network has no delay")
			}
			t.Logf("%s", r.Out.String())
			runCommand(t, c[1]...) // ends the program that delays packets, which also runs on h2
			requireNoProcesses(t)
		})
	}
}

// TestInterrupted checks that a job continues without lost data after a link or host was interrupted for less than
// GOMPIRMA_PEER_TIMEOUT.
func TestInterrupted(t *testing.T) {
	needBed(t)
	for _, c := range []struct{ name, break_, mend string }{{"link", "cut", "mend"}, {"host", "freeze", "thaw"}} {
		t.Run(c.name, func(t *testing.T) {
			r := startBusy(t, "6", "GOMPIRMA_PEER_TIMEOUT=20")
			r.awaitRanks(t, 4)
			runCommand(t, "bed", c.break_, "h2")
			time.Sleep(2 * time.Second)
			runCommand(t, "bed", c.mend, "h2")
			status, _ := r.wait()
			require.Equal(t, 0, status)
			require.Contains(t, r.Out.String(), "fine after")
			requireNoProcesses(t)
		})
	}
}

// requireFailure waits until the job fails, which must happen within the time `within`. It then runs the command
// `repair`, which repairs the hosts, and checks that no process remains.
func (r *run) requireFailure(t *testing.T, within time.Duration, repair ...string) {
	t.Helper()
	broken := time.Now()
	status, _ := r.wait()
	took := time.Since(broken)
	if repair != nil {
		runCommand(t, repair...)
	}
	t.Logf("status %d in %v: %s%s", status, took.Round(time.Millisecond), tail(r.Out.String()),
		tail(r.Err.String()))
	require.NotEqual(t, 0, status)
	require.Less(t, took, within)
	requireNoProcesses(t)
}

// TestPeerUnreachable checks that a job ends within the time of GOMPIRMA_PEER_TIMEOUT if a link or host fails
// permanently, and that a message names the lost processes.
func TestPeerUnreachable(t *testing.T) {
	needBed(t)
	for _, c := range []struct {
		name, break_, mend string
		idle               bool
	}{{"link", "cut", "mend", false}, {"idle link", "cut", "mend", true}, {"host", "freeze", "thaw", false},
		{"idle host", "freeze", "thaw", true}} {
		t.Run(c.name, func(t *testing.T) {
			var r *run
			if c.idle {
				l := launchers[0]
				l.prepare(t)
				r = start(t, "", l.command([]int{2, 2}, "env", "GOMPIRMA_PEER_TIMEOUT=3",
					program("where"), "sleep", "3")...)
			} else {
				r = startBusy(t, "25", "GOMPIRMA_PEER_TIMEOUT=3")
			}
			r.awaitRanks(t, 4)
			runCommand(t, "bed", c.break_, "h2")
			r.requireFailure(t, 15*time.Second, "bed", c.mend, "h2")
			if r.Err.String() != "" { // the message may be missing: Hydra sometimes loses it
				require.Contains(t, r.Err.String(), "h2")
			}
		})
	}
}

// startHeld starts a job with one rank on each of h1 and h2. It waits until the rank on `host` stops at the point
// `place` of MPI_Init (testdata/held.c). The function `release` lets that rank continue.
func startHeld(t *testing.T, place, host string, variables ...string) (r *run, release func()) {
	t.Helper()
	l := launchers[0]
	l.prepare(t)
	folder, err := os.MkdirTemp(os.Getenv("BED"), "held") // hosts do not share /tmp
	require.NoError(t, err)
	command := append(append([]string{"env"}, variables...), program("held"), folder, place, host)
	r = start(t, "", l.command([]int{1, 1}, command...)...)
	require.Eventually(t, func() bool {
		held, _ := filepath.Glob(folder + "/held.*")
		return len(held) == 1
	}, limit, 10*time.Millisecond, "no rank is held")
	return r, func() { require.NoError(t, os.WriteFile(folder+"/go", nil, 0o600)) }
}

// TestUnreachableInInit checks that a job ends within the time of GOMPIRMA_PEER_TIMEOUT if a link fails during
// MPI_Init, although the launcher does not notice the failure.
func TestUnreachableInInit(t *testing.T) {
	needBed(t)
	for _, c := range []struct{ place, host string }{{"addresses", "h1"}, {"addresses", "h2"}, {"connect", "h1"}} {
		t.Run(c.place+" "+c.host, func(t *testing.T) {
			r, release := startHeld(t, c.place, c.host, "GOMPIRMA_PEER_TIMEOUT=3")
			runCommand(t, "bed", "cut", "h2")
			release()
			// The launcher waits 10 s for the unreachable host.
			r.requireFailure(t, 25*time.Second, "bed", "mend", "h2")
			require.NotContains(t, r.Out.String(), "MPI_Init is over")
		})
	}
}

// TestLockHolderFailed checks that no process waits forever for a lock whose holder has failed, on the target's node or
// on another node.
func TestLockHolderFailed(t *testing.T) {
	hold := func(t *testing.T, l *launcher, how, mend string) {
		r := start(t, "", l.command([]int{2, 1, 1}, "env", "GOMPIRMA_PEER_TIMEOUT=3", program("holder"),
			how)...)
		r.awaitRanks(t, 4)
		var repair []string
		if mend != "" {
			runCommand(t, "bed", how, "h3")
			repair = []string{"bed", mend, "h3"}
		}
		r.requireFailure(t, 15*time.Second, repair...)
	}
	eachLauncher(t, func(t *testing.T, l *launcher) { hold(t, l, "kill", "") })
	// Test only Hydra: mpirun waits for a host that it cannot reach.
	for how, mend := range map[string]string{"cut": "mend", "freeze": "thaw"} {
		t.Run(how, func(t *testing.T) {
			launchers[0].prepare(t)
			hold(t, launchers[0], how, mend)
		})
	}
}

// TestFaultTolerance checks that the other ranks of a fault-tolerant job continue and end when a rank is killed.
func TestFaultTolerance(t *testing.T) {
	needBed(t)
	gompirun, remote := built(t)+"/bin/gompirun", program("bin/remote")
	srun := func(mpi string) []string {
		return []string{"env", "GOMPIRMA_FT=1", "slurm", "srun", "--mpi=" + mpi, "-N2", "-n3", "--no-kill",
			"--kill-on-bad-exit=0", program("survivors")}
	}
	for _, c := range []struct {
		name, needs string
		command     []string
	}{
		{"hydra", "mpiexec.hydra", []string{"on", "h1", gompirun, "--ft", "-launcher-exec", remote,
			"-H", "h1:2,h2", program("survivors")}},
		{"srun", "srun", []string{"slurm", "salloc", "--quiet", "-N2", gompirun, "--ft", "-n", "3",
			program("survivors")}},
		{"pmi2", "srun", srun("pmi2")},
		{"pmix", "srun", srun("pmix")},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.NeedCommand(t, c.needs)
			if c.needs == "srun" {
				require.NoError(t, slurmOnce())
			}
			r := start(t, "", c.command...)
			_, within := r.wait()
			require.Less(t, within, 30*time.Second)
			for rank := range 2 {
				require.Contains(t, r.Out.String(), fmt.Sprintf("%d of 2 survivors: sum 1\n", rank))
			}
			requireNoProcesses(t)
		})
	}
}
