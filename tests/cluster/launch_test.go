package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// TestStart checks that every rank knows its rank, its host, and which ranks share its host's memory.
func TestStart(t *testing.T) {
	eachLauncher(t, func(t *testing.T, l *launcher) {
		for _, per := range [][]int{{3}, {2, 2}, {1, 1, 1}, {3, 1, 2}} {
			status, took := start(t, "", l.command(per, program("where"))...).expect(t, per)
			require.Equal(t, 0, status)
			t.Logf("%v: %v", per, took.Round(time.Millisecond))
		}
	})
}

// expect waits for the end of a job of the program `where`, and checks what its ranks printed.
func (r *run) expect(t *testing.T, per []int) (int, time.Duration) {
	t.Helper()
	status, took := r.wait()
	rank := 0
	for i, some := range per {
		for k := range some {
			require.Contains(t, r.Out.String(), fmt.Sprintf("rank %d of %d on h%d, %d of %d there\n",
				rank, total(per), i+1, k, some))
			rank++
		}
	}
	return status, took
}

// TestEnds checks that a job ends with the right exit status, however a rank ends, and that no process remains on any
// host.
func TestEnds(t *testing.T) {
	eachLauncher(t, func(t *testing.T, l *launcher) {
		for _, c := range []struct {
			per    []int
			how    string
			rank   int
			status int // 0 stands for any status except 0
			says   string
		}{
			{[]int{2, 2}, "abort", 1, l.aborted, "MPI_Abort"},
			{[]int{2, 2}, "abort", 3, l.aborted, "MPI_Abort"},
			{[]int{2, 2}, "exit", 3, 0, ""},
			{[]int{2, 2}, "kill", 1, 0, ""},
			{[]int{2, 2}, "kill", 3, 0, ""},
			{[]int{1, 1}, "kill", 0, 0, ""}, // rank 0 is alone on its host, so no rank there sees its end
			{[]int{1, 1}, "kill", 1, 0, ""},
			{[]int{1, 1}, "exit", 1, 0, ""},
			{[]int{2, 2}, "late", 2, 4, ""},
		} {
			t.Run(fmt.Sprint(c.how, c.rank, "of", total(c.per)), func(t *testing.T) {
				r := start(t, "", l.command(c.per, program("where"), c.how, strconv.Itoa(c.rank))...)
				status, took := r.wait() // ignores output: Hydra loses lines when a rank dies
				t.Logf("status %d in %v", status, took.Round(time.Millisecond))
				if c.status == 0 {
					require.NotEqual(t, 0, status)
				} else {
					require.Equal(t, c.status, status)
				}
				require.Contains(t, r.Err.String(), c.says)
				require.Less(t, took, 15*time.Second)
				requireNoProcesses(t)
			})
		}
	})
}

// awaitRanks waits until all n ranks of a job have printed a line and all their processes exist.
func (r *run) awaitRanks(t *testing.T, n int) {
	t.Helper()
	all := func() bool { return strings.Count(r.Out.String(), "\n") >= n && len(running()) == n }
	require.Eventually(t, all, 20*time.Second, 10*time.Millisecond)
	time.Sleep(300 * time.Millisecond) // waits until the ranks are in MPI_Barrier
}

// TestSignals checks that the job ends on all hosts if a signal ends or kills the launcher.
func TestSignals(t *testing.T) {
	per := []int{2, 1, 1}
	eachLauncher(t, func(t *testing.T, l *launcher) {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
			t.Run(s.String(), func(t *testing.T) {
				r := start(t, "", l.command(per, program("where"), "sleep")...)
				r.awaitRanks(t, 4)
				sent := time.Now()
				require.NoError(t, r.Cmd.Process.Signal(s))
				if s == syscall.SIGINT && l.slurm { // srun ends only after a second SIGINT
					time.Sleep(200 * time.Millisecond)
					require.NoError(t, r.Cmd.Process.Signal(s))
				}
				requireNoProcesses(t)
				t.Logf("ended in %v", time.Since(sent).Round(time.Millisecond))
				status, _ := r.wait()
				// After SIGTERM or SIGINT, Hydra sometimes returns 0, even for a job that does not use
				// MPI.
				if l.name != "hydra" || s == syscall.SIGKILL {
					require.NotEqual(t, 0, status)
				}
			})
		}
	})
}

// characters returns how often each character occurs in a text.
func characters(text string) map[rune]int {
	counts := map[rune]int{}
	for _, c := range text {
		counts[c]++
	}
	return counts
}

// TestInputAndOutput checks that rank 0 receives the launcher's input, and that no output of a rank is lost.
func TestInputAndOutput(t *testing.T) {
	per := []int{2, 2}
	eachLauncher(t, func(t *testing.T, l *launcher) {
		input := strings.Repeat("0123456789\n", 5000)
		args := l.command(per, program("where"), "input")
		if l.slurm {
			args = append(args[:2:2], append([]string{"--input=0"}, args[2:]...)...)
		}
		r := start(t, input, args...)
		status, _ := r.expect(t, per)
		require.Equal(t, 0, status)
		require.Contains(t, r.Out.String(), fmt.Sprintf("rank 0 has read %d bytes\n", len(input)))

		r = start(t, "", l.command(per, program("where"), "lines")...)
		status, _ = r.expect(t, per)
		require.Equal(t, 0, status)
		// Hydra and mpirun may mix parts of lines of several ranks. So compare only how often each character
		// occurs.
		var wanted strings.Builder
		for i := range 2000 {
			for rank := range 4 {
				fmt.Fprintf(&wanted, "line %d of rank %d\n", i, rank)
			}
		}
		for rank := range 4 {
			fmt.Fprintf(&wanted, "rank %d of 4 on h%d, %d of 2 there\n", rank, rank/2+1, rank%2)
		}
		require.Equal(t, characters(wanted.String()), characters(r.Out.String()))
	})
}

// TestTasksWithoutSrun checks tasks that srun starts without PMI. Each task must run as a job of one process, and only
// one of the tasks must report the missing PMI.
func TestTasksWithoutSrun(t *testing.T) {
	needBed(t)
	built(t)
	harness.NeedCommand(t, "srun")
	require.NoError(t, slurmOnce())
	r := start(t, "", srun("none")([]int{2, 1}, program("where"))...)
	status, _ := r.wait()
	require.Equal(t, 0, status)
	require.Equal(t, 3, strings.Count(r.Out.String(), "rank 0 of 1 on"))
	require.Equal(t, 1, strings.Count(r.Err.String(), "srun started 3 tasks without PMI"), r.Err.String())
	require.Contains(t, r.Err.String(), "--mpi=pmi2")
}

// throughEach calls the function `test` for each launcher with which gompirun can start processes on other hosts. The
// argument `command` of `test` is a command line that starts gompirun on the first host.
func throughEach(t *testing.T, test func(t *testing.T, command []string)) {
	needBed(t)
	gompirun := built(t) + "/bin/gompirun"
	remote := program("bin/remote")
	for _, c := range []struct {
		name, needs string
		command     []string
	}{
		{"hydra", "mpiexec.hydra", []string{"on", "h1", gompirun, "-launcher-exec", remote}},
		{"mpirun", "mpirun.openmpi", []string{"on", "h1", "env", "PATH=" + program("only"), gompirun,
			"--allow-run-as-root", "--mca", "plm_rsh_agent", remote, "--mca", "oob_tcp_if_include",
			"10.77.0.0/16"}},
		{"srun", "srun", []string{"slurm", "salloc", "--quiet", "-N3", gompirun}},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.NeedCommand(t, c.needs)
			switch c.name {
			case "srun":
				require.NoError(t, slurmOnce())
			case "mpirun": // hide all other launchers
				var commands []string
				for _, name := range strings.Fields("mpirun.openmpi orted on remote nsenter sh cat") {
					path, err := exec.LookPath(name)
					require.NoError(t, err)
					commands = append(commands, path)
				}
				runCommand(t, "mkdir", "-p", program("only"))
				runCommand(t, append([]string{"ln", "-sf", "-t", program("only")}, commands...)...)
			}
			test(t, slices.Clip(c.command))
		})
	}
}

// TestGompirunOnHosts checks that gompirun starts a job on other machines through a launcher.
func TestGompirunOnHosts(t *testing.T) {
	throughEach(t, func(t *testing.T, command []string) {
		per := []int{2, 1, 1}
		r := start(t, "", append(command, "-H", "h1:2,h2,h3", program("where"))...)
		status, _ := r.expect(t, per)
		require.Equal(t, 0, status)
		require.Contains(t, r.Err.String(), "is another machine; using ")
		require.Contains(t, r.Err.String(), "to start the job on h1:2,h2:1,h3:1\n")
		r = start(t, "", append(command, "-q", "-H", "h1,h2", "-ppn", "2", program("where"), "late",
			"3")...)
		status, _ = r.expect(t, []int{2, 2})
		require.Equal(t, 4, status)
		requireNoProcesses(t)
	})
}

// TestWithoutSSH checks that gompirun ends with a message if Hydra cannot start processes because ssh fails, and that
// a job over hosts starts if ssh connects.
func TestWithoutSSH(t *testing.T) {
	needBed(t)
	gompirun := built(t) + "/bin/gompirun"
	harness.NeedCommand(t, "mpiexec.mpich")
	folder := program("ssh.bin")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for script, connects := range map[string]bool{
		`echo "ssh: connect to host h2 port 22: Connection refused" >&2; exit 255`: false,
		`for option; do case $option in LocalCommand=*) sh -c "${option#LocalCommand=}" ;; esac; done
			while [ "$1" != -x ]; do shift; done; shift; exec remote "$@"`: true,
	} {
		require.NoError(t, os.WriteFile(folder+"/ssh", []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		r := start(t, "", "on", "h1", "env", "PATH="+folder+":"+os.Getenv("PATH"), gompirun, "-H", "h1,h2",
			program("where"))
		status, within := r.wait()
		require.Less(t, within, 20*time.Second)
		require.Equal(t, connects, status == 0, r.Err.String())
		const text = "gompirun: ssh cannot start processes on host h2 (status 255). " +
			"The command \"ssh h2 true\" must work without a password\n"
		require.Equal(t, !connects, strings.Contains(r.Err.String(), text), r.Err.String())
		requireNoProcesses(t)
	}
}

// TestAllocation checks that, in a Slurm allocation, a job that names no hosts runs on the hosts of the allocation.
// Each host gets the number of ranks that the allocation requests, or else an equal share. A job that names a host runs
// on that host.
func TestAllocation(t *testing.T) {
	needBed(t)
	gompirun := built(t) + "/bin/gompirun"
	harness.NeedCommand(t, "srun")
	require.NoError(t, slurmOnce())
	for _, c := range []struct {
		name      string
		allocated []string
		arguments []string
		per       []int
	}{
		{"nodes", []string{"-N3"}, []string{"-n", "4"}, []int{1, 1, 2}},
		{"tasks", []string{"-N2", "-n", "5", "-m", "plane=3"}, nil, []int{3, 2}},
		{"each", []string{"-N2", "--ntasks-per-node=2"}, []string{"-n", "4"}, []int{2, 2}},
		{"named", []string{"-N2"}, []string{"-H", "localhost", "-n", "2"}, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := append([]string{"slurm", "salloc", "--quiet"}, c.allocated...)
			command = append(append(command, gompirun), c.arguments...)
			r := start(t, "", append(command, program("where"))...)
			status, _ := r.expect(t, c.per)
			require.Equal(t, 0, status, r.Err.String())
			requireNoProcesses(t)
		})
	}
}

// TestPreflight checks that gompirun --preflight reports which hosts can connect to each other, and why the other pairs
// cannot.
func TestPreflight(t *testing.T) {
	needBed(t)
	gompirun := built(t) + "/bin/gompirun"
	look := func(command ...string) (int, string) {
		r := start(t, "", command...)
		status, _ := r.wait()
		return status, r.Out.String() + r.Err.String()
	}
	allConnect := func(t *testing.T, command ...string) {
		status, out := look(command...)
		require.Equal(t, 0, status, out)
		for _, pair := range []string{"h1 h2", "h1 h3", "h2 h1", "h2 h3", "h3 h1", "h3 h2"} {
			from, to, _ := strings.Cut(pair, " ")
			require.Regexp(t,
				from+` +`+to+` +10\.77\.0\.`+to[1:]+` +eth0 +[0-9.]+ us +[0-9.]+ [MG]B/s\n`, out)
		}
	}
	t.Run("srun", func(t *testing.T) {
		harness.NeedCommand(t, "srun")
		require.NoError(t, slurmOnce())
		allConnect(t, "slurm", "salloc", "--quiet", "-N3", gompirun, "--preflight")
	})
	harness.NeedCommand(t, "mpiexec.mpich")
	command := []string{"on", "h1", gompirun, "-q", "-launcher-exec", program("bin/remote"), "--preflight", "-H",
		"h1,h2,h3"}
	allConnect(t, command...)
	status, out := look(append([]string{"on", "h1", "env", "GOMPIRMA_INTERFACE=none0"}, command[2:]...)...)
	require.Equal(t, 1, status, out)
	require.Contains(t, out, "h1 and h2 cannot connect to each other")
	require.Contains(t, out, "h3: GOMPIRMA_INTERFACE=none0 is not an interface")
	harness.NeedCommand(t, "nft")
	runCommand(t, "bed", "second", "h3", "10.99.0.3/24")
	defer runCommand(t, "on", "h3", "ip", "link", "del", "docker0")
	runCommand(t, "bed", "wall", "h2", "reject")
	defer runCommand(t, "bed", "wall", "h2", "off")
	status, out = look(command...)
	require.Equal(t, 0, status, out)
	require.Regexp(t, `h1 +h3 +10\.99\.0\.3 +docker0 +- +network is unreachable\n`, out)
	require.Regexp(t, `h1 +h2 +10\.77\.0\.2 +eth0 +- +connection refused\n`, out)
	require.Contains(t, out, "h1 cannot connect to h2; in a job, h2 connects to h1 instead")
	requireNoProcesses(t)
}
