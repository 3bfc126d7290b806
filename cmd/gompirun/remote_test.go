package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// two parses a command line that names two hosts, neither of which is this machine.
func two(t *testing.T, line string) *options {
	o, err := parse(strings.Fields(line), lookup)
	require.NoError(t, err, line)
	require.Equal(t, "192.0.2.1", o.remote)
	return o
}

func TestPlace(t *testing.T) {
	for line, want := range map[string]string{
		"-host 192.0.2.1,192.0.2.2 a":                 "192.0.2.1:1,192.0.2.2:1",
		"-host 192.0.2.1,192.0.2.2 -n 5 a":            "192.0.2.1:2,192.0.2.2:3",
		"-host 192.0.2.1,192.0.2.2 -n 1 a":            "192.0.2.1:1",
		"-host 192.0.2.1,192.0.2.2 -ppn 3 a":          "192.0.2.1:3,192.0.2.2:3",
		"-host 192.0.2.1,192.0.2.2 -ppn 3 -n 4 a":     "192.0.2.1:3,192.0.2.2:1",
		"-host 192.0.2.1,192.0.2.2 -ppn 1 -n 4 a":     "192.0.2.1:2,192.0.2.2:2",
		"-host 192.0.2.1:2,192.0.2.2:1 a":             "192.0.2.1:2,192.0.2.2:1",
		"-host 192.0.2.1:2,192.0.2.2:1 -n 5 a":        "192.0.2.1:4,192.0.2.2:1",
		"-host 192.0.2.1,192.0.2.2,192.0.2.1 a":       "192.0.2.1:2,192.0.2.2:1",
		"-host localhost,192.0.2.1 -n 2 a":            "localhost:1,192.0.2.1:1",
		"-host 192.0.2.1:9 -n 2 a":                    "192.0.2.1:2",
		"--map-by ppr:2:node -H 192.0.2.1,10.9.9.9 a": "192.0.2.1:2,10.9.9.9:2",
		"-H 192.0.2.1:2,10.9.9.9:2 -n 1 a : -n 2 b":   "192.0.2.1:2,10.9.9.9:1",
	} {
		places, err := two(t, line).placeRanks()
		require.NoError(t, err, line)
		require.Equal(t, want, hostList(places), line)
	}
}

func TestCommand(t *testing.T) {
	environ := []string{"A=1", "PATH=/bin", "PMI_RANK=3", "HOSTNAME=vm", "BASH_FUNC_f%%=()", "PMIX_RANK=1"}
	inStep := append([]string{"SLURM_STEP_ID=0"}, environ...)
	slurm, mpich := starter{srun, "/srun", "pmi2"}, starter{hydra, "/hydra", ""}
	openmpi := starter{prrte, "/mpirun", ""}
	const on = "-host 192.0.2.1:2,192.0.2.2:2 "
	const srunFirst = "/srun --mpi=pmi2 --ntasks=4 --nodes=2 --distribution=arbitrary " +
		"--nodelist=192.0.2.1,192.0.2.1,192.0.2.2,192.0.2.2 --overcommit --input=0 --kill-on-bad-exit=1"
	const ompi = "/mpirun --map-by slot:OVERSUBSCRIBE --bind-to none --host 192.0.2.1:2,192.0.2.2:2 -n 4"
	for _, c := range []struct {
		s       starter
		line    string
		environ []string
		args    string
		set     string // a variable of the environment
	}{
		{slurm, "a -n 3", environ, srunFirst + " a -n 3", "A=1"},
		{slurm, "-l -q -wdir /d -x B=2 --bind-to core --map-by slot:PE=2 a", environ, srunFirst +
			" --chdir=/d --label --quiet --cpu-bind=cores --cpus-per-task=2 a", "B=2"},
		{slurm, "--output-dir d a", inStep, srunFirst + " --overlap --output=d/rank-%1t.txt a", "A=1"},
		{slurm, "-outfile-pattern o%r-%0r-%h -errfile-pattern e a", environ, srunFirst +
			" --output=o%t-%1t-%N --error=e a", "A=1"},
		{slurm, "--ft a", environ, strings.Replace(srunFirst, "--kill-on-bad-exit=1",
			"--no-kill --kill-on-bad-exit=0", 1) + " a", "GOMPIRMA_FT=1"},
		{mpich, "--ft -envlist P a", environ, "/hydra -hosts 192.0.2.1:2,192.0.2.2:2 -disable-auto-cleanup " +
			"-n 4 -envlist LD_LIBRARY_PATH,P,GOMPIRMA_FT a", "GOMPIRMA_FT=1"},
		{mpich, "a", environ, "/hydra -hosts 192.0.2.1:2,192.0.2.2:2 -n 4 a", "A=1"},
		{mpich, "-launcher ssh -launcher-exec /r --mca x y -l --timeout 1.5 -bind-to core -wdir /d -env C 3 " +
			"-n 3 a : -wdir /d -envlist P,Q -n 1 b", environ, "/hydra -hosts 192.0.2.1:2,192.0.2.2:2 " +
			"-launcher ssh -launcher-exec /r -prepend-rank -bind-to core -wdir /d -n 3 -env C 3 a : -n 1 " +
			"-envlist LD_LIBRARY_PATH,P,Q b", "MPIEXEC_TIMEOUT=2"},
		{openmpi, "a", environ, ompi + " -x A -x PATH -x LD_LIBRARY_PATH a", "A=1"},
		{openmpi, "--mca btl tcp --allow-run-as-root -launcher ssh --tag-output --timeout 3 -x A=2 -x B=3 " +
			"--bind-to numa -envnone a", environ, "/mpirun --mca btl tcp --allow-run-as-root " +
			"--tag-output --timeout 3 --map-by slot:OVERSUBSCRIBE --bind-to numa " +
			"--host 192.0.2.1:2,192.0.2.2:2 -n 4 -x LD_LIBRARY_PATH -x A=2 -x B=3 a", "A=1"},
	} {
		o := two(t, on+c.line)
		places, err := o.placeRanks()
		require.NoError(t, err)
		args, env, err := c.s.command(o, places, c.environ, t.TempDir())
		require.NoError(t, err, c.line)
		require.Equal(t, c.args, strings.Join(args, " "))
		require.Contains(t, env, c.set, c.line)
		for _, v := range env {
			require.NotContains(t, v, "PMI", "the launchers above say nothing to the one below")
		}
	}
	for _, c := range []struct {
		s          starter
		line, says string
	}{
		{slurm, "a : b", "/srun, which starts the ranks on other hosts, supports only one program"},
		{slurm, "--timeout 3 a", "--timeout is not supported by /srun"},
		{slurm, "-outfile-pattern o a", "-outfile-pattern without -errfile-pattern is not supported by /srun"},
		{mpich, "--output-dir d a", "--output-dir is not supported by /hydra"},
		{mpich, "-n 1 a : -wdir / -n 1 b", "-wdir: /hydra, which starts the ranks on other hosts, supports " +
			"only one directory"},
		{openmpi, "--output-dir d a", "--output-dir is not supported by /mpirun"},
		{openmpi, "--ft a", "--ft is not supported by /mpirun"},
		{openmpi, "-errfile-pattern d a", "-errfile-pattern is not supported by /mpirun"},
	} {
		o := two(t, on+strings.Replace(c.line, "a : b", "-n 1 a : -n 1 b", 1))
		places, err := o.placeRanks()
		require.NoError(t, err)
		_, _, err = c.s.command(o, places, environ, "")
		require.ErrorContains(t, err, c.says)
	}
}

// TestRemoteShell checks that Hydra gets the script remote-shell if it would call ssh.
func TestRemoteShell(t *testing.T) {
	prefix := t.TempDir()
	libraries := filepath.Join(prefix, "lib/gompirma/abi")
	shell := filepath.Join(prefix, "libexec/gompirma/remote-shell")
	for _, path := range []string{libraries, filepath.Dir(shell)} {
		require.NoError(t, os.MkdirAll(path, 0o755))
	}
	require.NoError(t, os.WriteFile(shell, nil, 0o755))
	for _, c := range []struct {
		kind          starterKind
		line, environ string
		isUsed        bool
	}{
		{hydra, "a", "A=1", true},
		{hydra, "-iface eth0 a", "SLURM_CONF=x", true},
		{hydra, "-launcher rsh a", "A=1", false},
		{hydra, "-launcher-exec /r a", "A=1", false},
		{hydra, "-bootstrap-exec /r a", "A=1", false},
		{hydra, "a", "HYDRA_LAUNCHER_EXEC=/r", false},
		{hydra, "a", "PBS_JOBID=1", false},
		{prrte, "a", "A=1", false},
	} {
		o := two(t, "-host 192.0.2.1:2,192.0.2.2:2 "+c.line)
		places, err := o.placeRanks()
		require.NoError(t, err)
		args, _, err := starter{c.kind, "/x", ""}.command(o, places, []string{c.environ}, libraries)
		require.NoError(t, err)
		first := "/x -launcher ssh -launcher-exec " + shell + " -hosts"
		require.Equal(t, c.isUsed, strings.HasPrefix(strings.Join(args, " "), first), "%s %s: %v", c.line,
			c.environ, args)
	}
}

// Checks that findStarter finds launchers by their names and distinguishes them by their output. It ignores gompirun,
// which may be installed under one of these names.
func TestFindStarter(t *testing.T) {
	const ofHydra = "HYDRA build details:"
	o := &options{remote: "h2"}
	self, err := os.Executable()
	require.NoError(t, err)
	for _, c := range []struct {
		has       map[string]string // output of each installed program, by its name
		allocated bool
		want      starter // path holds the name
		says      string
	}{
		{map[string]string{"srun": "MPI plugin types are...\n\tpmix\n\tpmi2\n", "mpiexec": ofHydra}, true,
			starter{srun, "srun", "pmi2"}, ""},
		{map[string]string{"srun": "MPI plugin types are...\n\tpmix\n\tnone\n"}, true,
			starter{srun, "srun", "pmix"}, ""},
		{map[string]string{"srun": "none"}, true, starter{}, "neither PMI-2 nor PMIx"},
		{map[string]string{"srun": "pmi2", "mpiexec": ofHydra}, false, starter{hydra, "mpiexec", ""}, ""},
		{map[string]string{"mpiexec": "self", "mpirun": "mpirun (Open MPI) 4.1.4"}, false,
			starter{prrte, "mpirun", ""}, ""},
		{map[string]string{"mpiexec": "mpiexec (OpenRTE) 4.1.4", "mpiexec.mpich": ofHydra}, false,
			starter{hydra, "mpiexec.mpich", ""}, ""},
		{map[string]string{"mpiexec": "something else", "prterun": "prterun (PRRTE) 3.0.2"}, false,
			starter{prrte, "prterun", ""}, ""},
		{map[string]string{"mpiexec": "something else"}, false, starter{},
			"h2 is another machine, but no launcher for other machines is in PATH"},
		{nil, true, starter{}, "install Hydra"},
	} {
		dir := t.TempDir()
		for name, says := range c.has {
			if says == "self" {
				require.NoError(t, os.Symlink(self, filepath.Join(dir, name)))
				continue
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, name),
				[]byte("#!/bin/sh\necho '"+says+"'\n"), 0o755))
		}
		got, err := findStarter(o, dir, c.allocated, versionOf)
		if c.says != "" {
			require.ErrorContains(t, err, c.says)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, dir+"/"+c.want.path, got.path)
		got.path = c.want.path
		require.Equal(t, c.want, got)
	}
}

func TestShortened(t *testing.T) {
	require.Equal(t, "a:1,b:2", shortened("a:1,b:2"))
	long := shortened(strings.Repeat("host:1,", 100) + "end:1")
	require.Less(t, len(long), 210)
	require.True(t, strings.HasSuffix(long, "host:1,..."))
}
