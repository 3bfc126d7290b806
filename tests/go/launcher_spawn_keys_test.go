package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// childrenOf returns what the children in the output of testdata/spawn_keys.c print, in the order of their ranks and
// without "child RANK of ".
func childrenOf(out string) (children []string) {
	lines := regexp.MustCompile(`(?m)child \d+ of .*$`).FindAllString(out, -1)
	slices.SortFunc(lines, func(a, b string) int {
		var x, y int
		fmt.Sscanf(a, "child %d", &x)
		fmt.Sscanf(b, "child %d", &y)
		return x - y
	})
	for _, line := range lines {
		_, rest, _ := strings.Cut(line, " of ")
		children = append(children, rest)
	}
	return children
}

// TestSpawnKeys checks the info keys of MPI_Comm_spawn and MPI_Comm_spawn_multiple on one host: the numbers of
// processes, the error codes, and the errors of invalid values. No process and no file remains.
func TestSpawnKeys(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "spawn_keys.c")
	dir := t.TempDir()
	file := func(text string) string {
		f, err := os.CreateTemp(dir, "keys")
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		return f.Name()
	}
	host, err := os.Hostname()
	require.NoError(t, err)
	keys := file("# keys\nsoft = 1:9:2\n\nwdir=/\nenv = A=1\nenv=B=2\n")
	const started, failed, invalid = "%d started, codes %s", "class MPI_ERR_SPAWN, codes %s, .*%s",
		"class MPI_ERR_INFO_VALUE, codes 1 1, .*%s"
	for _, c := range []struct {
		args string
		want string // regular expression for the line of rank 0 without "parent 0: "
		in   string // working directory of the children; "" for the usual one
	}{
		{"2", fmt.Sprintf(started, 2, "0 0"), ""},
		{"5 soft=2,4", fmt.Sprintf(started, 4, "0 0 0 0 1"), ""},
		{"5 soft=-1:9", fmt.Sprintf(started, 5, "0 0 0 0 0"), ""},
		{"3,3 0:soft=2 1:soft=0:9:2", fmt.Sprintf(started, 4, "0 0 1 0 0 1"), ""},
		{"2,1 1:soft=0", fmt.Sprintf(started, 2, "0 0 1"), ""},
		{"3 soft=4:9", fmt.Sprintf(failed, "1 1 1",
			"soft allows no number of processes from 0 to maxprocs, which is 3"), ""},
		{"2,3 1:soft=4:9", fmt.Sprintf(failed, "0 0 1 1 1", "soft allows no number"), ""},
		{"2 soft=0", fmt.Sprintf(failed, "1 1", "soft leaves 0 processes to start; at least 1 is needed"), ""},
		{"2 soft=1,x", fmt.Sprintf(invalid, `soft is "1,x"; it must be`), ""},
		{"2 soft=2:1", fmt.Sprintf(invalid, `soft is "2:1"`), ""},
		{"2 soft=1:2:0", fmt.Sprintf(invalid, `soft is "1:2:0"`), ""},
		{"2 host=localhost", fmt.Sprintf(started, 2, "0 0"), ""},
		{"2 hosts=" + host + ":1,127.0.0.1 wdir=/", fmt.Sprintf(started, 2, "0 0"), "/"},
		{"2 hostfile=" + file("localhost slots=4\n# none\n"), fmt.Sprintf(started, 2, "0 0"), ""},
		{"1,1 0:host=" + host + " 1:host=localhost", fmt.Sprintf(started, 2, "0 0"), ""},
		{"2 host=a:b", fmt.Sprintf(failed, "1 1",
			`host, hostfile and map_by: a:b: the number of slots must be`), ""},
		{"1,1 1:host=:2", fmt.Sprintf(failed, "0 1", "the name of a host is missing"), ""},
		{"2 hostfile=" + dir + "/none", fmt.Sprintf(failed, "1 1", "/none: no such file or directory"), ""},
		{"2 hostfile=" + file("#\n"), fmt.Sprintf(failed, "1 1", "the file names no host"), ""},
		{"2 map_by=core", fmt.Sprintf(started, 2, "0 0"), ""},
		{"2 mapby=ppr:2:node", fmt.Sprintf(started, 2, "0 0"), ""},
		{"2 map_by=everywhere", fmt.Sprintf(failed, "1 1",
			"--map-by must be slot, core, .* not \"everywhere\""), ""},
		{"2 map_by=slot:PE=4000", fmt.Sprintf(failed, "1 1",
			"too few usable processors for PE=4000 and 2 processes"), ""},
		{"4 file=" + keys, fmt.Sprintf(started, 3, "0 0 0 1"), "/"},
		{"4 file=" + keys + " soft=2 wdir=" + dir, fmt.Sprintf(started, 2, "0 0 1 1"), dir},
		{"2 file=" + dir + "/none", fmt.Sprintf(invalid, "file: open .*/none: no such file or directory"), ""},
		{"2 file=" + file("wdir=/\nwdir=/tmp\n"),
			fmt.Sprintf(invalid, "file: line 2 of .* repeats the key wdir"), ""},
		{"2 file=" + file("wdir\n"), fmt.Sprintf(invalid, "file: line 1 of .* is not KEY=VALUE"), ""},
		{"2 unknown=1", fmt.Sprintf(started, 2, "0 0"), ""},
	} {
		for _, options := range []string{"-n 2", "--nodes 2 -n 2", ""} {
			parents := 2
			l := prepare(t, append(append(strings.Fields(options), program), strings.Fields(c.args)...)...)
			if options == "" {
				parents = 1
				l = prepareProgram(t, program, strings.Fields(c.args)...)
			}
			name := fmt.Sprintf("gompirun %s spawn_keys %s", options, c.args)
			require.Zero(t, l.run(t), "%s: %s", name, &l.Err)
			require.Empty(t, l.Err.String(), name)
			require.Regexp(t, `(?m)^parent 0: `+c.want, l.Out.String(), name)
			var count int
			fmt.Sscanf(c.want, "%d started", &count)
			children := childrenOf(l.Out.String())
			require.Len(t, children, count, "%s: %s", name, &l.Out)
			for _, child := range children {
				require.Contains(t, child, fmt.Sprintf(", %d parents, on %s, in %s", parents, host,
					c.in),
					name)
			}
			if count > 0 && parents == 2 { // all parents get the error codes
				_, codes, _ := strings.Cut(c.want, ",")
				require.Contains(t, l.Out.String(), fmt.Sprintf("parent 1: %d started,%s\n", count,
					codes))
			}
		}
	}
	status, out, _ := gompirun(t, "--nodes", "2", "-n", "2", program, "1", "host=other.invalid")
	require.Zero(t, status)
	require.Regexp(t, "MPI_ERR_SPAWN, .*--nodes simulates machines.*host other.invalid", out)
	_, out, _ = gompirun(t, "-n", "1", program, "1", "map_by=slot:PE=1")
	require.Regexp(t, `with 1 cores\n`, out)
	if runtime.NumCPU() > 1 {
		_, out, _ = gompirun(t, "-n", "1", program, "1", "map_by=slot:PE=2")
		require.Regexp(t, `with 2 cores\n`, out)
	}
	// With few descriptors, gompirun cannot start many processes.
	for args, want := range map[string]string{
		"40 soft=1:40:3":                `7 started, codes 0 0 0 0 0 0 0 1 1 1`,
		"40,40 0:soft=2,40 1:soft=0:40": "8 started, codes 0 0 1 1 .* 0 0 0 0 0 0 1 1",
		"8,8 0:soft=2:8:2 1:soft=3:8":   "8 started, codes 0 0 0 0 1 1 1 1 0 0 0 0 1 1 1 1$",
		"40 soft=9:40":                  "class MPI_ERR_SPAWN, .*descriptors, but the limit is 60",
		"40":                            "class MPI_ERR_SPAWN, .*descriptors, but the limit is 60",
	} {
		run := []string{"-c", `ulimit -n 60 && exec "$0" "$@"`, built(t) + "/bin/gompirun", "-n", "1", program}
		l := prepareProgram(t, "sh", append(run, strings.Fields(args)...)...)
		require.Zero(t, l.run(t), &l.Err)
		require.Regexp(t, "(?m)^parent 0: "+want, l.Out.String())
	}
}

// TestSpawnOnHosts checks that processes start on other hosts. With the variable HYDRA_LAUNCHER=fork, Hydra starts them
// on this host, whatever name the host has.
func TestSpawnOnHosts(t *testing.T) {
	t.Parallel()
	harness.NeedCommand(t, "mpiexec.mpich")
	program := compileFile(t, "spawn_keys.c")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/hosts", []byte("a.invalid slots=2\nb.invalid\n"), 0o666))
	for _, c := range []struct {
		options, args string
		want          string // of rank 0
		errors        string // %d stands for the exit status; without it, the status must be 0
	}{
		{"-n 2", "3 host=a.invalid:2,b.invalid", "3 started, codes 0 0 0", ""},
		{"", "2 host=a.invalid", "2 started, codes 0 0", ""},
		{"--stats=" + dir + "/stats --records " + dir + "/records -n 1", "2 host=a.invalid",
			"2 started, codes 0 0",
			"gompirun: --stats, --records: job 1 runs on other hosts and is not observed"},
		{"-n 1", "4 hostfile=" + dir + "/hosts soft=3", "3 started, codes 0 0 0 1", ""},
		{"-n 1", "1,2 1:host=a.invalid", "3 started, codes 0 0 0", ""},
		{"-n 1", "2 host=a.invalid map_by=ppr:1:node path=" + filepath.Dir(program) + " command=program wdir=/",
			"2 started, codes 0 0", ""},
		{"-n 1", "2,1,1 0:host=a.invalid 1:host=b.invalid 2:host=a.invalid",
			"class MPI_ERR_SPAWN, codes 0 0 0 1, .*host a.invalid has processes of several commands", ""},
		{"-n 1", "2 host=a.invalid map_by=node", "class MPI_ERR_SPAWN, .*--map-by node is not supported",
			""},
		{"-n 1", "2 host=a.invalid path=/nowhere command=program", "class MPI_ERR_SPAWN, .*info key path",
			""},
		{"-n 2", "2 host=a.invalid command=/nowhere/program",
			"class MPI_ERR_SPAWN, codes 1 1, .*mpiexec.* could not start .* a.invalid:2: .*/nowhere",
			"/nowhere/program"},
		{"-n 2", "2 host=a.invalid command=true",
			"class MPI_ERR_SPAWN, codes 1 1, .*mpiexec.* could not start", ""},
		{"-n 1", "2 host=a.invalid how=status env=HOW=status", "2 started",
			"gompirun: job 1 on a.invalid:2 ended with status %d (mpiexec"}, // the status of a process
	} {
		l := prepare(t, append(append(strings.Fields(c.options), program), strings.Fields(c.args)...)...)
		if c.options == "" {
			l = prepareProgram(t, program, strings.Fields(c.args)...)
		}
		l.Cmd.Env = append(l.Cmd.Env, "HYDRA_LAUNCHER=fork")
		status := l.run(t)
		require.Equal(t, strings.Contains(c.errors, "%d"), status != 0, "%s: %d %s", c.args, status, &l.Err)
		require.Regexp(t, `(?m)^parent 0: `+c.want, l.Out.String(), c.args)
		require.Contains(t, l.Err.String(), strings.Replace(c.errors, "%d", fmt.Sprint(status), 1))
		if c.errors == "" {
			require.Empty(t, l.Err.String(), c.args)
		}
	}
	// The remote shell for one host fails, but Hydra waits. The one for the other host hangs.
	script := "#!/bin/sh\ncase \"$*\" in *b.invalid*) exec sleep 1000; esac\necho there is no $2 >&2; exit 1\n"
	require.NoError(t, os.WriteFile(dir+"/shell", []byte(script), 0o755))
	l := prepare(t, "-n", "2", "-launcher-exec", dir+"/shell", program, "2", "host=b.invalid,a.invalid")
	require.Zero(t, l.run(t), &l.Err)
	require.Regexp(t, `parent 0: class MPI_ERR_SPAWN, codes 1 1, .*mpiexec.* could not start the processes on `+
		`b.invalid:1,a.invalid:1: there is no a.invalid`, l.Out.String())
	l = prepare(t, "-n", "1", program, "2", "host=a.invalid")
	l.Cmd.Env = append(slices.DeleteFunc(l.Cmd.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
		"PATH="+dir)
	require.Zero(t, l.run(t), &l.Err)
	require.Contains(t, l.Out.String(),
		"host a.invalid is another machine, but no launcher for other machines is in PATH")
}
