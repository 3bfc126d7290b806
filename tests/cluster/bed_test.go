package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// needBed skips the test unless it runs in the test bed (bed.sh) with hosts h1, h2 and h3.
func needBed(t *testing.T) {
	t.Helper()
	if os.Getenv("BED") == "" {
		t.Skip("needs several hosts: run make test-cluster as root")
	}
}

// programs compiles the test programs in testdata, once for all tests.
var programs = sync.OnceValue(func() error {
	for _, name := range []string{"where", "busy", "held", "holder", "network", "survivors", "spawn_keys"} {
		out, err := exec.Command("../../build/bin/gompicc", "-O2", "-Wall", "-Wextra", "-Werror",
			"testdata/"+name+".c", "-o", program(name)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("gompicc %s.c: %w\n%s", name, err, out)
		}
	}
	return nil
})

// built updates build/ and the test programs, and returns the path of build/.
func built(t *testing.T) string {
	t.Helper()
	build := harness.Built(t, "../..")
	require.NoError(t, programs())
	return build
}

// program returns the path of a test program. The path is valid on all hosts, because it is not in /tmp, which the
// hosts do not share.
func program(name string) string { return os.Getenv("BED") + "/" + name }

var slurmOnce = sync.OnceValue(func() error {
	out, err := exec.Command("slurm", "start").CombinedOutput()
	if err != nil {
		return fmt.Errorf("slurm start: %w\n%s", err, out)
	}
	return nil
})

// launcher is a launcher that can start processes on several hosts, such as Hydra or srun.
type launcher struct {
	name    string
	needs   string // required command
	slurm   bool
	aborted int // exit status of the launcher after MPI_Abort with error code 7
	// command returns the command that starts a program with per[i] ranks on host i; ranks are assigned in blocks.
	command func(per []int, program ...string) []string
}

func (l *launcher) prepare(t *testing.T) {
	t.Helper()
	needBed(t)
	built(t)
	harness.NeedCommand(t, l.needs)
	if l.slurm {
		require.NoError(t, slurmOnce())
	}
}

// total returns the number of ranks of a job.
func total(per []int) (n int) {
	for _, some := range per {
		n += some
	}
	return n
}

// slotArguments returns the placement of a job's ranks in two forms. `slots` lists the hosts with their numbers of
// ranks, as in "h1:2,h2:1". `each` lists the host of every rank, as in "h1,h1,h2".
func slotArguments(per []int) (slots, each string) {
	var a, b []string
	for i, some := range per {
		if some == 0 {
			continue
		}
		a = append(a, fmt.Sprintf("h%d:%d", i+1, some))
		for range some {
			b = append(b, fmt.Sprintf("h%d", i+1))
		}
	}
	return strings.Join(a, ","), strings.Join(b, ",")
}

func srun(mpi string) func(per []int, program ...string) []string {
	return func(per []int, program ...string) []string {
		_, each := slotArguments(per)
		nodes := 0
		for _, some := range per {
			nodes += min(some, 1)
		}
		return append([]string{"slurm", "srun", "--mpi=" + mpi, "-N" + strconv.Itoa(nodes),
			"-n" + strconv.Itoa(total(per)), "-w", each, "--distribution=arbitrary", "--overcommit",
			"--quiet"},
			program...)
	}
}

var launchers = []*launcher{
	{"hydra", "mpiexec.mpich", false, 7, func(per []int, program ...string) []string {
		slots, _ := slotArguments(per)
		return append([]string{"on", "h1", "mpiexec.mpich", "-launcher", "ssh", "-launcher-exec",
			os.Getenv("BED") + "/bin/remote", "-hosts", slots, "-n", strconv.Itoa(total(per))}, program...)
	}},
	{"mpirun", "mpirun.openmpi", false, 7, func(per []int, program ...string) []string {
		slots, _ := slotArguments(per)
		return append([]string{"on", "h1", "mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent",
			os.Getenv("BED") + "/bin/remote", "--mca", "oob_tcp_if_include", "10.77.0.0/16",
			"--bind-to", "none", "--map-by", "slot:OVERSUBSCRIBE",
			"-H", slots, "-n", strconv.Itoa(total(per))}, program...)
	}},
	{"srun-pmi2", "srun", true, 137, srun("pmi2")},
	{"srun-pmix", "srun", true, 7, srun("pmix")},
}

// eachLauncher runs a subtest for every launcher.
func eachLauncher(t *testing.T, test func(t *testing.T, l *launcher)) {
	for _, l := range launchers {
		t.Run(l.name, func(t *testing.T) {
			l.prepare(t)
			test(t, l)
		})
	}
}

// run is a command that runs outside of the hosts of the test bed, such as a launcher.
type run struct {
	harness.Run
	t     *testing.T
	began time.Time
}

// limit is the time after which a hung command is killed.
const limit = 30 * time.Second

func start(t *testing.T, input string, args ...string) *run {
	t.Helper()
	r := &run{t: t, began: time.Now()}
	r.Prepare(t, limit, args[0], args[1:]...)
	r.Cmd.Stdin = strings.NewReader(input)
	r.Cmd.WaitDelay = time.Second
	// Hydra kills the process group of a child. Until the child has called setsid, this is Hydra's own process
	// group. So Hydra must not be in the process group of the tests.
	r.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, r.Cmd.Start())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\nstdout:\n%s\nstderr:\n%s", strings.Join(args, " "), tail(r.Out.String()),
				tail(r.Err.String()))
		}
		for _, pid := range running() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return r
}

// tail returns the last 2,000 bytes of a command's output.
func tail(all string) string { return all[max(0, len(all)-2000):] }

// wait returns the exit status, or 128 + the signal that ended the command, and the duration of the command.
func (r *run) wait() (int, time.Duration) {
	r.t.Helper()
	status := r.Status(r.t)
	return status, time.Since(r.began)
}

// running returns the process ids of all test programs on all hosts. It finds them in /proc, because all hosts of the
// test bed share one process namespace.
func running() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range all {
		target, _ := os.Readlink(exe)
		if filepath.Dir(target) == os.Getenv("BED") {
			pid, _ := strconv.Atoi(strings.Split(exe, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// requireNoProcesses waits until no process of the job runs on any host.
func requireNoProcesses(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(running()) == 0 }, 10*time.Second, 20*time.Millisecond,
		"processes of the job remain")
}

// runCommand runs a command outside of the hosts. It fails the test if the command fails.
func runCommand(t *testing.T, args ...string) {
	t.Helper()
	harness.Output(t, exec.Command(args[0], args[1:]...))
}
