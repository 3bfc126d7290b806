package cluster

import (
	"context"
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

	"gompirma/tests/go/output"
)

// needBed skips the test unless it runs in the test bed with hosts h1, h2 and h3.
func needBed(t *testing.T) {
	t.Helper()
	if os.Getenv("BED") == "" {
		t.Skip("jobs over several hosts: make test-cluster (root) runs them")
	}
}

// needCommand skips the test if a command is missing.
func needCommand(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(name + " is not installed")
	}
}

var buildOnce = sync.OnceValues(func() (string, error) {
	build, err := filepath.Abs("../../build")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("../../scripts/build.sh", build).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("scripts/build.sh: %w\n%s", err, out)
	}
	for _, name := range []string{"where", "busy", "held", "holder", "network"} {
		cmd := exec.Command(build+"/bin/gompicc", "-O2", "-Wall", "-Wextra", "-Werror",
			"testdata/"+name+".c", "-o", program(name))
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("gompicc %s.c: %w\n%s", name, err, out)
		}
	}
	return build, nil
})

// built updates build/ and the programs of this directory, and returns the path of build/.
func built(t *testing.T) string {
	t.Helper()
	build, err := buildOnce()
	require.NoError(t, err)
	return build
}

// program returns the path of one of this directory's programs. The path is valid on all hosts, which do not share
// /tmp.
func program(name string) string { return os.Getenv("BED") + "/" + name }

var slurmOnce = sync.OnceValue(func() error {
	out, err := exec.Command("slurm", "start").CombinedOutput()
	if err != nil {
		return fmt.Errorf("slurm start: %w\n%s", err, out)
	}
	return nil
})

// launcher is a launcher that can start processes on several hosts.
type launcher struct {
	name    string
	needs   string // required command
	slurm   bool
	aborted int // status of the launcher after MPI_Abort(7)
	// command returns the command that starts a program with per[i] ranks on host i, in blocks.
	command func(per []int, program ...string) []string
}

func (l *launcher) prepare(t *testing.T) {
	t.Helper()
	needBed(t)
	built(t)
	needCommand(t, l.needs)
	if l.slurm {
		require.NoError(t, slurmOnce())
	}
}

// total returns the number of ranks.
func total(per []int) (n int) {
	for _, some := range per {
		n += some
	}
	return n
}

// slotArguments formats hosts as "h1:2,h2:1"; each lists a host once for each of its ranks, "h1,h1,h2".
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

// eachLauncher runs a test for every launcher.
func eachLauncher(t *testing.T, test func(t *testing.T, l *launcher)) {
	for _, l := range launchers {
		t.Run(l.name, func(t *testing.T) {
			l.prepare(t)
			test(t, l)
		})
	}
}

// run is a command that runs outside of the hosts.
type run struct {
	cmd      *exec.Cmd
	out, err output.Buffer
	began    time.Time
	cancel   func()
}

// limit is the time after which a hung command is killed.
const limit = 30 * time.Second

func start(t *testing.T, input string, args ...string) *run {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	r := &run{cmd: exec.CommandContext(ctx, args[0], args[1:]...), began: time.Now(), cancel: cancel}
	r.cmd.Stdin = strings.NewReader(input)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	r.cmd.WaitDelay = time.Second
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Logf("%s\nstdout:\n%s\nstderr:\n%s", strings.Join(args, " "), tail(r.out.String()),
				tail(r.err.String()))
		}
		for _, pid := range running() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return r
}

// tail returns the end of a command's output.
func tail(all string) string { return all[max(0, len(all)-2000):] }

// wait returns the exit status, or 128 + the signal that ended the command, and the time that the command took.
func (r *run) wait() (int, time.Duration) {
	r.cmd.Wait()
	took := time.Since(r.began)
	r.cancel()
	status := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), took
	}
	return status.ExitStatus(), took
}

// running returns the processes that run programs of this directory, on all hosts: the bed has its own process
// namespace.
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

// hostOf returns the host on which a process runs.
func hostOf(pid int) string {
	name, _ := exec.Command("nsenter", "-t", strconv.Itoa(pid), "-u", "hostname").Output()
	return strings.TrimSpace(string(name))
}

// requireNoProcesses waits until no process of the job runs on any host.
func requireNoProcesses(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(running()) == 0 }, 10*time.Second, 20*time.Millisecond,
		"processes are left")
}

// runCommand runs a command outside of the hosts, and fails the test if the command fails.
func runCommand(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	require.NoError(t, err, "%s: %s", strings.Join(args, " "), out)
}
