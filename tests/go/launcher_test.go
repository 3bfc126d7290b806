package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gompirma/tests/go/harness"
)

// This file tests gompirun with programs that do not use MPI. launcher_mpi_test.go has the tests with MPI programs.

// hangTimeout is the time after which a job counts as hung.
const hangTimeout = 60 * time.Second

// launch is one run of gompirun or another command. All its processes have the environment variable marker. By this
// variable the tests find the processes that remain.
type launch struct {
	harness.Run
	marker string
	tmp    string
	shm    map[string]bool
}

var launches atomic.Int32

// prepare returns a run of gompirun that is not started yet and whose output is collected. run and wait check that no
// process, memory or file remains after the run.
func prepare(t *testing.T, args ...string) *launch {
	t.Helper()
	return prepareProgram(t, filepath.Join(built(t), "bin/gompirun"), args...)
}

func prepareProgram(t *testing.T, program string, args ...string) *launch {
	t.Helper()
	l := &launch{tmp: t.TempDir(), shm: entries(t, "/dev/shm")}
	l.marker = fmt.Sprintf("GOMPIRMA_TEST_MARKER=%d.%d", os.Getpid(), launches.Add(1))
	l.Prepare(t, hangTimeout, program, args...)
	l.Cmd.Env = append(os.Environ(), l.marker, "TMPDIR="+l.tmp)
	return l
}

// wait returns the exit status, or 128 + signal if a signal killed gompirun. It checks that no process, memory or file
// of the run remains.
func (l *launch) wait(t *testing.T) int {
	t.Helper()
	status := l.Status(t)
	l.requireNoLeftovers(t)
	return status
}

func (l *launch) run(t *testing.T) int {
	t.Helper()
	require.NoError(t, l.Cmd.Start())
	return l.wait(t)
}

// gompirun runs a job to its end, and returns its exit status, standard output and standard error.
func gompirun(t *testing.T, args ...string) (status int, out, err string) {
	t.Helper()
	l := prepare(t, args...)
	status = l.run(t)
	return status, l.Out.String(), l.Err.String()
}

func entries(t *testing.T, dir string) map[string]bool {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, e := range list {
		names[e.Name()] = true
	}
	return names
}

// processes returns the processes of this run, with their command lines.
func (l *launch) processes() (found []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || !slices.Contains(strings.Split(string(environ), "\x00"), l.marker) {
			continue
		}
		command, _ := os.ReadFile(dir + "/cmdline")
		found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(command), "\x00", " "))
	}
	return found
}

// otherMPIs lists the prefixes of the names of other MPI libraries' files in /dev/shm. Their jobs may run at the same
// time as the tests.
var otherMPIs = []string{"mpich", "vader", "sm_segment", "ucx", "psm", "osc", "sem."}

// requireNoLeftovers checks that the run has left no processes, no memfds in the test process, and no files in TMPDIR
// and /dev/shm. It waits for killed processes, because a process releases its memfds only when it has exited.
func (l *launch) requireNoLeftovers(t *testing.T) {
	t.Helper()
	var left []string
	require.Eventually(t, func() bool { left = l.processes(); return len(left) == 0 }, 5*time.Second,
		5*time.Millisecond, "%v", &left)
	fds, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, fd := range fds {
		to, _ := os.Readlink(fd)
		require.NotContains(t, to, "memfd:gompirma")
	}
	require.Empty(t, entries(t, l.tmp), "files that the job has left in TMPDIR")
	for name := range entries(t, "/dev/shm") {
		others := slices.ContainsFunc(otherMPIs,
			func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		require.True(t, l.shm[name] || others, "the job has left /dev/shm/%s", name)
	}
}

// sorted returns the lines of a text in order, without the newline at the end of the text.
func sorted(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestLauncherVariables(t *testing.T) {
	status, out, err := gompirun(t, "-n", "3", "sh", "-c",
		"echo $PMI_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS $GOMPIRMA_CONTROL_FD; echo e$PMI_RANK >&2")
	require.Zero(t, status, err)
	require.Equal(t, []string{"0 3 0 3 4", "1 3 1 3 4", "2 3 2 3 4"}, sorted(out))
	require.Equal(t, []string{"e0", "e1", "e2"}, sorted(err))

	status, out, err = gompirun(t, "sh", "-c", "echo $PMI_SIZE")
	require.Zero(t, status, err)
	require.Len(t, sorted(out), runtime.NumCPU())

	status, _, err = gompirun(t, "-n", "300", "true")
	require.Zero(t, status, err)
	require.Empty(t, err)
}

func TestLauncherSeveralPrograms(t *testing.T) {
	dir, err1 := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err1)
	require.NoError(t, os.WriteFile(dir+"/own.sh",
		[]byte("#!/bin/sh\necho $PMI_RANK $PMI_SIZE \"$A\" \"$B\" $(pwd) $PWD $*\n"), 0o755))
	l := prepare(t, "-n", "1", "-x", "A=1 2", dir+"/own.sh", "x", ":", "-n", "2", "--wdir", dir, "-x", "B", "-x",
		"ABSENT", "./own.sh", "y", "z")
	here, err1 := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err1)
	l.Cmd.Dir = here
	l.Cmd.Env = append(l.Cmd.Env, "A=0", "B=3", "PWD="+here)
	require.Zero(t, l.run(t), &l.Err)
	require.Equal(t, []string{"0 3 1 2 3 " + here + " " + here + " x", "1 3 0 3 " + dir + " " + dir + " y z",
		"2 3 0 3 " + dir + " " + dir + " y z"},
		sorted(l.Out.String()))
}

func TestLauncherRefuses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/data", []byte("x"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/noshell", []byte("echo hello\n"), 0o755))
	require.NoError(t, os.WriteFile(dir+"/badshell", []byte("#!/nowhere/sh\n"), 0o755))
	require.NoError(t, os.WriteFile(dir+"/code.c", []byte("int main(void) { return 0; }\n"), 0o644))
	started := dir + "/started"
	touch := []string{"-n", "1", "touch", started, ":", "-n", "1"}
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "no program"},
		{[]string{"-n", "0", "true"}, "-n must be from 1 to 4096, not 0"},
		{[]string{"-n", "-5", "true"}, "-n must be from 1 to 4096, not -5"},
		{[]string{"-n", "1000000", "true"}, "-n must be from 1 to 4096, not 1000000"},
		{[]string{"-n", "two", "true"}, `-n must be a number from 1 to 4096, not "two"`},
		{[]string{"--frobnicate", "a", "true"}, "unknown option --frobnicate (gompirun --help lists the " +
			"options)"},
		{[]string{"--cheque", "a", "true"}, "unknown option --cheque. Did you mean --check?"},
		{[]string{"--hosts", "192.0.2.1", "true"}, "host 192.0.2.1 has no number of slots: use -n, -ppn or " +
			"-host 192.0.2.1:N"},
		{[]string{"-hostfile", dir + "/none", "true"}, dir + "/none: no such file"},
		{[]string{"-outfile-pattern", dir + "/data/x.%r", "-n", "1", "touch", started}, "/data"},
		{[]string{"-n", "1", dir + "/code.c"}, "/code.c is source code. Compile it first: gompicc " + dir +
			"/code.c -o " + dir + "/code"},
		{append(touch, "no-such-program"), "no-such-program: not found in PATH"},
		{append(touch, "./no/such/program"), "./no/such/program: no such file"},
		{append(touch, dir), "is a directory, not a program"},
		{append(touch, dir+"/data"), "is not executable (chmod +x)"},
		{append(touch, "--wdir", dir+"/nowhere", "true"), "--wdir " + dir + "/nowhere: no such file"},
		{[]string{"--output-dir", dir + "/data/x", "touch", started}, "--output-dir"},
		{[]string{"-n", "2", dir + "/noshell"}, "#! line"},
		{[]string{"-n", "2", dir + "/badshell"}, "interpreter"},
	} {
		status, out, err := gompirun(t, c.args...)
		require.Equal(t, 2, status, c.args)
		require.Empty(t, out)
		require.Contains(t, err, c.says, c.args)
		require.Equal(t, 1, strings.Count(err, "\n"), err)
		require.NoFileExists(t, started, "%v", c.args)
	}
	status, out, _ := gompirun(t, "--help")
	require.Zero(t, status)
	require.Contains(t, out, "usage: gompirun")
	status, out, _ = gompirun(t, "--version")
	require.Zero(t, status)
	require.Regexp(t, `^gompirun \(gompirma\) \d+\.\d+\.\d+\n$`, out)
}

func TestLauncherStatus(t *testing.T) {
	on := func(rank int, what string) []string {
		return []string{"sh", "-c", fmt.Sprintf("[ $PMI_RANK = %d ] && %s; exec sleep 600", rank, what)}
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"true"}, 0, ""},
		{on(2, "exit 3"), 3, "gompirun: rank 2 (sh) exited with status 3; it had not called MPI_Init\n"},
		{on(0, "exit 255"), 255, "rank 0 (sh) exited with status 255"},
		{on(1, "kill -SEGV $$"), 128 + 11, "rank 1 (sh) was killed by signal 11 (segmentation fault"},
		{on(1, "kill -KILL $$"), 128 + 9, "rank 1 (sh) was killed by signal 9 (killed)"},
		{on(3, "kill -TERM $$"), 128 + 15, "rank 3 (sh) was killed by signal 15 (terminated)"},
		{[]string{"sh", "-c", "exit 7"}, 7, "exited with status 7"},
	} {
		status, out, err := gompirun(t, append([]string{"-n", "4"}, c.args...)...)
		require.Equal(t, c.status, status, "%v: %s", c.args, err)
		require.Empty(t, out)
		require.Contains(t, err, c.says)
		require.Equal(t, strings.Count(c.says+"\n", "\n") > 1 || c.says != "", strings.Count(err, "\n") == 1,
			err)

		status, _, err = gompirun(t, append([]string{"--quiet", "-n", "4"}, c.args...)...)
		require.Equal(t, c.status, status)
		require.Empty(t, err, "--quiet")
	}
}

// TestLauncherEndsRanks checks that gompirun ends the other ranks and their children when a rank dies, even if they
// ignore signals. It prints all output that they have written before.
func TestLauncherEndsRanks(t *testing.T) {
	ready := t.TempDir()
	script := `
		if [ $PMI_RANK = 0 ]; then
			until [ $(ls ` + ready + ` | wc -l) = 3 ]; do sleep 0.01; done
			printf 'last words'
			kill -ABRT $$
		fi
		trap "" TERM INT
		sleep 600 &
		seq -f "$PMI_RANK %g" 1 20000
		touch ` + ready + `/$PMI_RANK
		wait
		sleep 600`
	status, out, err := gompirun(t, "-n", "4", "sh", "-c", script)
	require.Equal(t, 128+6, status, err)
	require.Contains(t, err, "rank 0 (sh) was killed by signal 6")
	var want []string
	for r := 1; r <= 3; r++ {
		for i := 1; i <= 20000; i++ {
			want = append(want, fmt.Sprintf("%d %d", r, i))
		}
	}
	slices.Sort(want)
	require.True(t, slices.Equal(append(want, "last words"), sorted(out)), "%d bytes", len(out))
}

// TestLauncherEndsStoppedRanks checks that gompirun continues a stopped rank, so that the rank's own signal handler can
// end it.
func TestLauncherEndsStoppedRanks(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	status, out, err := gompirun(t, "-n", "2", "sh", "-c", `
		if [ $PMI_RANK = 0 ]; then
			until grep -q ') T' /proc/$(cat `+pid+`)/stat; do sleep 0.01; done
			exit 3
		fi
		trap "echo bye; exit 0" TERM
		echo $$ >`+pid+`.new && mv `+pid+`.new `+pid+`
		kill -STOP $$`)
	require.Equal(t, 3, status, err)
	require.Equal(t, "bye\n", out)
}

// TestLauncherEndsOrphans checks that gompirun ends the processes that a rank leaves in its process group, although
// they hold the rank's output open.
func TestLauncherEndsOrphans(t *testing.T) {
	status, out, err := gompirun(t, "-n", "2", "sh", "-c", "sleep 600 & (trap '' TERM; sleep 600; :) & echo done")
	require.Zero(t, status, err)
	require.Equal(t, "done\ndone\n", out)
	// A process that remains after the end of its rank, but ends soon, can still print.
	status, out, err = gompirun(t, "-n", "2", "sh", "-c", "(sleep 0.05; echo later) &")
	require.Zero(t, status, err)
	require.Equal(t, "later\nlater\n", out)
}

func TestLauncherSignals(t *testing.T) {
	for _, c := range []struct {
		signals []syscall.Signal
		script  string
		status  int
		out     string
	}{
		{[]syscall.Signal{syscall.SIGINT}, "", 130, ""},
		{[]syscall.Signal{syscall.SIGTERM}, "", 143, ""},
		{[]syscall.Signal{syscall.SIGHUP}, "", 129, ""},
		{[]syscall.Signal{syscall.SIGQUIT}, "", 131, ""},
		{[]syscall.Signal{syscall.SIGTERM}, `trap "echo bye; exit 0" TERM;`, 143, "bye\nbye\n"},
		{[]syscall.Signal{syscall.SIGINT}, `trap "echo bye; exit 0" INT;`, 130, "bye\nbye\n"},
		{[]syscall.Signal{syscall.SIGTERM}, `trap "" TERM INT;`, 143, ""},
		{[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, `trap "" TERM INT;`, 130, ""},
		// the signals that timeout(1) sends
		{[]syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGCONT}, "", 143, ""},
		{[]syscall.Signal{syscall.SIGUSR1}, `trap "echo usr; exit 0" USR1;`, 0, "usr\nusr\n"},
		{[]syscall.Signal{syscall.SIGUSR2}, `trap "echo usr; exit 0" USR2;`, 0, "usr\nusr\n"},
		{[]syscall.Signal{syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGTERM}, "", 143, ""},
	} {
		// The children sleep. They must receive the signals, too.
		l := prepare(t, "-n", "2", "sh", "-c", c.script+"while :; do sleep 600 & echo up >&2; wait $!; done")
		require.NoError(t, l.Cmd.Start())
		require.Eventually(t, func() bool { return strings.Count(l.Err.String(), "up\n") == 2 }, hangTimeout,
			time.Millisecond)
		for _, s := range c.signals {
			require.NoError(t, l.Cmd.Process.Signal(s))
			if s == syscall.SIGTSTP {
				require.Eventually(t, func() bool { return stopped(l.Cmd.Process.Pid) }, hangTimeout,
					time.Millisecond)
			}
		}
		require.Equal(t, c.status, l.wait(t), "%v %s", c.signals, &l.Err)
		require.Equal(t, c.out, l.Out.String(), "%v", c.signals)
		if c.status != 0 {
			require.Contains(t, l.Err.String(), fmt.Sprintf("gompirun: received signal %d (", c.status-128))
		}
	}
}

// TestLauncherSignalsAtStart checks that gompirun forwards a signal that arrives while it starts a rank, before it
// knows the rank's process id.
func TestLauncherSignalsAtStart(t *testing.T) {
	for range 20 {
		for name, status := range map[string]int{"INT": 130, "USR1": 0} {
			// Run on one processor, where the rank often runs before gompirun knows its process id.
			l := prepareProgram(t, "sh", "-c",
				`exec taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$@"`,
				"sh", filepath.Join(built(t), "bin/gompirun"), "-n", "1", "sh", "-c",
				`trap "echo bye; exit 0" `+name+`; kill -`+name+
					` $PPID; while :; do sleep 600 & wait $!; done`)
			require.Equal(t, status, l.run(t), "%s: %s", name, &l.Err)
			require.Equal(t, "bye\n", l.Out.String(), name)
		}
	}
}

func stopped(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "T")
}

// TestLauncherLeavesIgnoredSignals checks that gompirun continues to ignore the signals that its caller ignores. So
// Ctrl-C does not end a background job of a shell script.
func TestLauncherLeavesIgnoredSignals(t *testing.T) {
	l := prepareProgram(t, "sh", "-c", `trap "" INT HUP; exec "$0" -n 1 sh -c 'echo up; read line; echo "$line"'`,
		filepath.Join(built(t), "bin/gompirun"))
	in, err := l.Cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, l.Cmd.Start())
	require.Eventually(t, func() bool { return l.Out.String() == "up\n" }, hangTimeout, time.Millisecond)
	require.NoError(t, l.Cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, l.Cmd.Process.Signal(syscall.SIGHUP))
	fmt.Fprintln(in, "still here")
	require.Zero(t, l.wait(t), &l.Err)
	require.Equal(t, "up\nstill here\n", l.Out.String())
}

// TestLauncherIsKilled checks that the ranks end when gompirun is killed, also while it still starts ranks.
func TestLauncherIsKilled(t *testing.T) {
	for _, wait := range []bool{true, false} {
		l := prepare(t, "-n", "50", "sh", "-c", "echo up; exec sleep 600")
		require.NoError(t, l.Cmd.Start())
		require.Eventually(t, func() bool { return strings.Count(l.Out.String(), "up\n") >= 1 }, hangTimeout,
			time.Millisecond)
		if wait {
			require.Eventually(t, func() bool { return strings.Count(l.Out.String(), "up\n") == 50 },
				hangTimeout,
				time.Millisecond)
		}
		require.NoError(t, l.Cmd.Process.Kill())
		require.Equal(t, 128+9, l.wait(t))
	}
}

func TestLauncherTimeout(t *testing.T) {
	status, out, err := gompirun(t, "--timeout", "0.2", "-n", "3", "sh", "-c",
		"[ $PMI_RANK = 1 ] && exit 0; echo up; exec sleep 600")
	require.Equal(t, 124, status, err)
	require.Equal(t, "up\nup\n", out)
	require.Equal(t, "gompirun: the job exceeded its time limit of 200ms (--timeout)\n"+
		"gompirun: ranks 0,2 have not called MPI_Init\ngompirun: "+
		"rank 1 has ended\n", err)
	status, _, err = gompirun(t, "--timeout", "100", "-n", "2", "true")
	require.Zero(t, status)
	require.Empty(t, err)

	t.Setenv("MPIEXEC_TIMEOUT", "0.2")
	status, _, err = gompirun(t, "-n", "1", "sleep", "600")
	require.Equal(t, 124, status, err)
	require.Equal(t, "gompirun: the job exceeded its time limit of 200ms (--timeout)\n"+
		"gompirun: rank 0 has not called MPI_Init\n", err)
}

// TestLauncherLinesNeverMix checks that output lines of different ranks do not mix: many ranks print long lines, with
// standard output and standard error in one file.
func TestLauncherLinesNeverMix(t *testing.T) {
	const ranks, each = 8, 400
	file, err := os.Create(filepath.Join(t.TempDir(), "all"))
	require.NoError(t, err)
	defer file.Close()
	l := prepare(t, "-l", "-n", strconv.Itoa(ranks), "awk", `BEGIN {
		r = ENVIRON["PMI_RANK"]; s = r; while (length(s) < 9000) s = s s
		for (i = 0; i < 400; i++) { printf "%s %d %s.\n", r, i, substr(s, 1, (i * 7919) % 9000) > (i % 2 ? "/dev/stdout" : "/dev/stderr") }}`)
	l.Cmd.Stdout, l.Cmd.Stderr = file, file
	require.Zero(t, l.run(t))
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields := strings.Split(line, " ")
		require.True(t, len(fields) == 4 && fields[0] == "["+fields[1]+"]", "%.100q", line)
		i, err := strconv.Atoi(fields[2])
		require.NoError(t, err)
		require.Equal(t, strings.Repeat(fields[1], i*7919%9000)+".", fields[3], "%.100q", line)
		seen[fields[1]+" "+fields[2]] = true
	}
	require.Len(t, seen, ranks*each)
}

func TestLauncherOutputDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new/dir")
	status, out, err := gompirun(t, "-n", "11", "--output-dir", dir, "sh", "-c",
		"echo out $PMI_RANK; echo err $PMI_RANK >&2; printf end")
	require.Zero(t, status)
	require.Empty(t, out+err)
	require.Len(t, entries(t, dir), 11)
	for r := range 11 {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("rank-%02d.txt", r)))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("out %d\nerr %d\nend", r, r), string(text))
	}
}

func TestLauncherOutputPatterns(t *testing.T) {
	dir := t.TempDir()
	text := func(path string) string {
		b, err := os.ReadFile(filepath.Join(dir, path))
		require.NoError(t, err)
		return string(b)
	}
	script := "echo out $PMI_RANK; echo err $PMI_RANK >&2"
	status, out, err := gompirun(t, "-n", "2", "-outfile-pattern", dir+"/%%new/o.%r.%g", "sh", "-c", script)
	require.Zero(t, status)
	require.Empty(t, out)
	require.Equal(t, []string{"err 0", "err 1"}, sorted(err))
	require.Equal(t, "out 1\n", text("%new/o.1.0"))
	status, out, err = gompirun(t, "-n", "11", "--output-filename", dir+"/x:nocopy", "sh", "-c", script)
	require.Zero(t, status)
	require.Empty(t, out+err)
	require.Equal(t, "out 3\n", text("x/1/rank.03/stdout"))
	require.Equal(t, "err 10\n", text("x/1/rank.10/stderr"))
	// Standard output and standard error go to one file. gompirun truncates an existing file.
	for range 2 {
		status, out, err = gompirun(t, "-n", "3", "-outfile-pattern", dir+"/all", "-errfile-pattern",
			dir+"/all", "sh", "-c", script)
		require.Zero(t, status)
		require.Empty(t, out+err)
		require.Len(t, sorted(text("all")), 6)
	}
}

// TestLauncherForeignOptions checks the options that scripts for other launchers use.
func TestLauncherForeignOptions(t *testing.T) {
	t.Setenv("LAUNCHER_A", "a")
	t.Setenv("LAUNCHER_B", "b")
	file := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(file, []byte("localhost slots=3\n"), 0o644))
	show := []string{"sh", "-c", "echo $LAUNCHER_A/$LAUNCHER_B/$LAUNCHER_C"}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-f", file}, []string{"a/b/", "a/b/", "a/b/"}},
		{[]string{"--hostfile", file, "-np", "1", "--map-by", "node", "-genv", "LAUNCHER_C", "c"},
			[]string{"a/b/c"}},
		{[]string{"-host", "localhost:2", "-env", "LAUNCHER_A", "x y"}, []string{"x y/b/", "x y/b/"}},
		{[]string{"-ppn", "2", "-genvlist", "LAUNCHER_B,PATH"}, []string{"/b/", "/b/"}},
		{[]string{"-genvnone", "-x", "LAUNCHER_A", "-n", "1"}, []string{"a//"}},
		{[]string{"--mca", "btl", "self", "-launcher", "fork", "-iface", "lo", "--oversubscribe",
			"--allow-run-as-root", "-v", "-prepend-rank", "-n", "1"},
			[]string{"[0] a/b/"}},
		{[]string{"--bind-to", "socket", "-bind-to", "numa", "-n", "1"}, []string{"a/b/"}},
	} {
		status, out, err := gompirun(t, append(c.args, show...)...)
		require.Zero(t, status, "%v: %s", c.args, err)
		require.Empty(t, err, c.args)
		require.Equal(t, c.want, sorted(out), c.args)
	}
}

func TestLauncherInput(t *testing.T) {
	l := prepare(t, "-l", "-n", "3", "cat")
	l.Cmd.Stdin = strings.NewReader("a\nb\n" + strings.Repeat("x", 200000))
	require.Zero(t, l.run(t), &l.Err)
	require.Equal(t, "[0] a\n[0] b\n[0] "+strings.Repeat("x", 200000), l.Out.String())

	// gompirun must not read the standard input of a shell loop around it.
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/lines", []byte("1\n2\n3\n"), 0o644))
	l = prepareProgram(t, "sh", "-c", `while read line; do "$0" -n 2 sh -c "echo $line"; done <`+dir+"/lines",
		filepath.Join(built(t), "bin/gompirun"))
	require.Zero(t, l.run(t), &l.Err)
	require.Equal(t, "1\n1\n2\n2\n3\n3\n", l.Out.String())

	// gompirun forwards a prompt that does not end with a newline, so that a dialog over pipes works.
	l = prepare(t, "-n", "2", "sh", "-c",
		`[ $PMI_RANK = 1 ] && exit; printf "name? "; read name; echo "hello $name"`)
	in, err := l.Cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, l.Cmd.Start())
	require.Eventually(t, func() bool { return l.Out.String() == "name? " }, hangTimeout, time.Millisecond)
	fmt.Fprintln(in, "Bob")
	require.Zero(t, l.wait(t), &l.Err)
	require.Equal(t, "name? hello Bob\n", l.Out.String())
}

// onTerminal makes a new terminal the standard input and controlling terminal of a run. It returns the master side of
// the terminal, to which a test can write input. The run's output does not go to the terminal.
func onTerminal(t *testing.T, l *launch) *os.File {
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { terminal.Close() })
	l.Cmd.Stdin = terminal
	l.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return keyboard
}

func TestLauncherTerminal(t *testing.T) {
	l := prepare(t, "-n", "2", "cat")
	keyboard := onTerminal(t, l)
	require.NoError(t, l.Cmd.Start())
	fmt.Fprint(keyboard, "hello\n")
	require.Eventually(t, func() bool { return l.Out.String() == "hello\n" }, hangTimeout, time.Millisecond)
	fmt.Fprint(keyboard, "\x04") // end of file
	require.Zero(t, l.wait(t), &l.Err)

	l = prepare(t, "-n", "2", "sh", "-c", "echo up; exec sleep 600")
	keyboard = onTerminal(t, l)
	require.NoError(t, l.Cmd.Start())
	require.Eventually(t, func() bool { return l.Out.String() == "up\nup\n" }, hangTimeout, time.Millisecond)
	fmt.Fprint(keyboard, "\x03") // Ctrl-C
	require.Equal(t, 130, l.wait(t), &l.Err)

	// In the background, gompirun does not read from the terminal, and continues to run.
	l = prepareProgram(t, "bash", "-c",
		`set -m; "$0" -n 2 sh -c 'echo up; exec sleep 0.3' & sleep 0.1; read line; echo "shell got $line"; wait $!`,
		filepath.Join(built(t), "bin/gompirun"))
	keyboard = onTerminal(t, l)
	require.NoError(t, l.Cmd.Start())
	require.Eventually(t, func() bool { return strings.Contains(l.Out.String(), "up\nup\n") }, hangTimeout,
		time.Millisecond)
	fmt.Fprint(keyboard, "for the shell\n")
	require.Zero(t, l.wait(t), &l.Err)
	require.Contains(t, l.Out.String(), "shell got for the shell\n")
}

// TestLauncherTerminalStops checks that Ctrl-Z stops the ranks and their children, although they are in other sessions
// than gompirun. It also checks that fg continues them, and that they end when the terminal is closed.
func TestLauncherTerminalStops(t *testing.T) {
	const ranks = "sleep 600 & echo up; wait"
	l := prepareProgram(t, "bash", "-c",
		`exec 2>/dev/tty; set -m; "$0" -n 2 sh -c "$1"; echo stopped $?; read line; fg; echo ended $?`,
		filepath.Join(built(t), "bin/gompirun"), ranks)
	keyboard := onTerminal(t, l)
	becomeStopped := func(want int) { // waits until `want` of gompirun, the shells and their children are stopped
		require.Eventually(t, func() bool {
			count := 0
			for _, p := range l.processes() {
				var pid int
				fmt.Sscan(p, &pid)
				if stopped(pid) {
					count++
				}
			}
			return count == want
		}, hangTimeout, time.Millisecond, "%s%s", &l.Out, &l.Err)
	}
	says := func(text string, times int) {
		require.Eventually(t, func() bool { return strings.Count(l.Out.String(), text) == times }, hangTimeout,
			time.Millisecond, "%s%s", &l.Out, &l.Err)
	}
	require.NoError(t, l.Cmd.Start())
	says("up\n", 2)
	fmt.Fprint(keyboard, "\x1a") // Ctrl-Z
	says("stopped", 1)
	becomeStopped(5)
	fmt.Fprint(keyboard, "\n")
	becomeStopped(0)
	fmt.Fprint(keyboard, "\x03") // Ctrl-C
	says("ended 130\n", 1)
	require.Zero(t, l.wait(t), &l.Err)

	l = prepare(t, "-n", "2", "sh", "-c", ranks)
	keyboard = onTerminal(t, l)
	require.NoError(t, l.Cmd.Start())
	says("up\n", 2)
	keyboard.Close()
	require.Equal(t, 129, l.wait(t), &l.Err)
}

// TestLauncherSessions checks that each rank is in its own session, with gompirun's nice value.
func TestLauncherSessions(t *testing.T) {
	status, out, err := gompirun(t, "-n", "3", "sh", "-c",
		`read -r pid name state parent group session rest </proc/$$/stat
		[ $session = $$ ] && [ $group = $$ ] && echo own`)
	require.Zero(t, status, err)
	require.Equal(t, "own\nown\nown\n", out)
	if _, err := os.Stat("/proc/self/autogroup"); err != nil {
		t.Skip("this kernel has no autogroups")
	}
	raw, err1 := unix.Getpriority(unix.PRIO_PROCESS, 0)
	require.NoError(t, err1)
	nice := min(20-raw+3, 19)
	l := prepareProgram(t, "nice", "-n", "3", filepath.Join(built(t), "bin/gompirun"), "-n", "2", "sh", "-c",
		fmt.Sprintf("until grep 'nice %d$' /proc/self/autogroup; do sleep 0.01; done", nice))
	require.Zero(t, l.run(t), &l.Err)
	require.Equal(t, 2, strings.Count(l.Out.String(), "autogroup"))
}

// TestLauncherBrokenPipe checks that the job ends when the reader of the output exits.
func TestLauncherBrokenPipe(t *testing.T) {
	l := prepareProgram(t, "sh", "-c",
		`{ "$0" -n 2 sh -c 'sleep 600 & while :; do echo line; done'; echo $? >&2; } | head -n 1`,
		filepath.Join(built(t), "bin/gompirun"))
	require.Zero(t, l.run(t))
	require.Equal(t, "line\n", l.Out.String())
	require.Equal(t, "141\n", l.Err.String())
}

// usableCores returns the number of cores on which this process may run. Hardware threads of a core count once.
func usableCores(t *testing.T) int {
	var usable unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &usable))
	cores := map[string]bool{}
	for cpu := range 1024 {
		if usable.IsSet(cpu) {
			name := fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			cores[string(b)] = true
		}
	}
	return len(cores)
}

func TestLauncherBinding(t *testing.T) {
	l := prepare(t, "--bind-to", "core", "-n", "1", "grep", "Cpus_allowed_list", "/proc/self/status")
	require.Zero(t, l.run(t), &l.Err)
	require.Empty(t, l.Err.String())
	fields := strings.Fields(l.Out.String())
	if runtime.NumCPU() > 2 { // two processors may be hardware threads of one core
		require.NotEqual(t, fmt.Sprintf("0-%d", runtime.NumCPU()-1), fields[len(fields)-1])
	}
	// Without --bind-to, several ranks get disjoint sets of cores, and a single rank gets all cores.
	alone := prepare(t, "-n", "1", "grep", "Cpus_allowed_list", "/proc/self/status")
	require.Zero(t, alone.run(t))
	for _, bind := range []string{"", "none"} {
		args := []string{"-n", "2", "grep", "Cpus_allowed_list", "/proc/self/status"}
		if bind != "" {
			args = append([]string{"--bind-to", bind}, args...)
		}
		l := prepare(t, args...)
		require.Zero(t, l.run(t), &l.Err)
		require.Empty(t, l.Err.String())
		lines := strings.Split(strings.TrimSpace(l.Out.String()), "\n")
		require.Len(t, lines, 2)
		if bind == "none" {
			require.Equal(t, strings.Repeat(alone.Out.String(), 2), l.Out.String())
		} else if usableCores(t) > 1 {
			require.NotEqual(t, lines[0], lines[1])
			require.NotEqual(t, strings.TrimSpace(alone.Out.String()), lines[0])
		}
	}
	status, out, err := gompirun(t, "--bind-to", "core", "-n", strconv.Itoa(runtime.NumCPU()+1), "sh", "-c",
		"echo x")
	require.Zero(t, status)
	require.Contains(t, err, "not bound")
	require.Equal(t, strings.Repeat("x\n", runtime.NumCPU()+1), out)
}

// TestLauncherDescriptors checks that a rank has descriptors 0 to 4 and those that gompirun inherited, and none that
// gompirun opened for itself.
func TestLauncherDescriptors(t *testing.T) {
	// descriptors returns the numbers in the output of `ls -l /proc/self/fd`, without the descriptor that ls itself
	// opened.
	descriptors := func(listing string) (numbers []string) {
		for _, line := range strings.Split(listing, "\n") {
			if name, to, ok := strings.Cut(line, " -> "); ok && !strings.HasPrefix(to, "/proc/") {
				numbers = append(numbers, name[strings.LastIndexByte(name, ' ')+1:])
			}
		}
		return numbers
	}
	dir := filepath.Join(t.TempDir(), "out")
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	inherited := []*os.File{7: null, 9: null, 11: null} // entry i becomes descriptor 3 + i: 10, 12 and 14
	l := prepare(t, "-n", "5", "--output-dir", dir, "ls", "-l", "/proc/self/fd")
	l.Cmd.ExtraFiles = inherited
	require.Zero(t, l.run(t), &l.Err)
	direct := prepareProgram(t, "ls", "-l", "/proc/self/fd")
	direct.Cmd.ExtraFiles = inherited
	require.Zero(t, direct.run(t))
	want := append(descriptors(direct.Out.String()), "3", "4")
	slices.Sort(want)
	for r := range 5 {
		text, err := os.ReadFile(fmt.Sprintf("%s/rank-%d.txt", dir, r))
		require.NoError(t, err)
		got := descriptors(string(text))
		slices.Sort(got)
		require.Equal(t, slices.Compact(slices.Clone(want)), got)
	}
	// gompirun ignores invalid data on the descriptor for PMI if the program does not use MPI.
	status, _, stderr := gompirun(t, "-n", "2", "sh", "-c", "echo rubbish >&3; sleep 0.05")
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
}

func TestLauncherInLauncher(t *testing.T) {
	run := filepath.Join(built(t), "bin/gompirun")
	status, out, err := gompirun(t, "-n", "2", "sh", "-c",
		`exec "$0" -n 2 sh -c 'echo '$PMI_RANK'.$PMI_RANK of $PMI_SIZE'`, run)
	require.Zero(t, status, err)
	require.Equal(t, []string{"0.0 of 2", "0.1 of 2", "1.0 of 2", "1.1 of 2"}, sorted(out))
	// The outer gompirun ends the inner one, and the inner one ends its ranks.
	status, _, err = gompirun(t, "-n", "2", "sh", "-c",
		`[ $PMI_RANK = 1 ] && sleep 0.2 && exit 9; exec "$0" -n 2 sleep 600`, run)
	require.Equal(t, 9, status, err)
}
