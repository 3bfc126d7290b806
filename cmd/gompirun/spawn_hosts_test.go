package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
)

// TestPlaceSpawned checks where the processes of a request run, and the command of the launcher for other hosts.
func TestPlaceSpawned(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho HYDRA\n"
	require.NoError(t, os.WriteFile(dir+"/mpiexec.hydra", []byte(script), 0o755))
	require.NoError(t, os.WriteFile(dir+"/hosts", []byte("a.invalid slots=2\nb.invalid\n"), 0o666))
	t.Setenv("PATH", dir)
	t.Setenv("SLURM_JOB_ID", "")
	own, err := os.Hostname()
	require.NoError(t, err)
	for _, c := range []struct {
		parts   []pmi1.SpawnPart
		options options
		hosts   string // of the launcher; "" if the processes run on this host
		says    string // error
	}{
		{[]pmi1.SpawnPart{{Command: "p", N: 2}}, options{}, "", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 2, Hosts: "localhost:1"}}, options{}, "", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 3, Hosts: "a.invalid"}}, options{}, "a.invalid:3", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 4, HostFile: dir + "/hosts"}}, options{},
			"a.invalid:3,b.invalid:1", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 2, HostFile: dir + "/hosts", MapBy: "ppr:1:node"}}, options{},
			"a.invalid:1,b.invalid:1", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 1}, {Command: "q", N: 1, Hosts: "a.invalid"}}, options{},
			own + ":1,a.invalid:1", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 2, Hosts: "a.invalid"}, {Command: "q", N: 1, Hosts: "a.invalid"}},
			options{}, "a.invalid:3", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 1, Hosts: "a.invalid"}, {Command: "q"}}, options{},
			"a.invalid:1", ""},
		{[]pmi1.SpawnPart{{Command: "p", N: 1, Hosts: "a.invalid"}}, options{nodes: 2}, "",
			"--nodes simulates"},
		{[]pmi1.SpawnPart{{Command: "p", N: 1, MapBy: "x"}}, options{}, "", "--map-by must be"},
	} {
		what := &pmi1.Spawn{Parts: c.parts, Parent: "0.1", Port: "gompirma:secret"}
		at, failure := place(what, &c.options)
		if c.says != "" {
			require.NotNil(t, failure)
			require.Contains(t, failure.Reason, c.says)
			continue
		}
		require.Nil(t, failure)
		require.Equal(t, c.hosts != "", what.Apart)
		if c.hosts == "" {
			require.Nil(t, at.launcher)
			continue
		}
		require.Equal(t, c.hosts, at.launcher.hosts)
		require.Equal(t, dir+"/mpiexec.hydra", at.launcher.path)
		require.Contains(t, strings.Join(at.launcher.args, " "), "-hosts "+c.hosts+" -n ")
		require.NotContains(t, at.launcher.args, "secret", "other users can read arguments")
		require.Equal(t, "gompirma:secret", variable(at.launcher.env, boot.EnvParentPort))
	}
}

// TestWithoutMpirun checks that the launcher does not get the variables of an mpirun that has started this process. The
// variables of the user remain.
func TestWithoutMpirun(t *testing.T) {
	users := []string{"OMPI_MCA_btl=self", "OMPI_MCA_orte_base_help_aggregate=0", "A=1"}
	require.Equal(t, users, withoutMpirun(slices.Clone(users)))
	require.Equal(t, []string{"OMPI_MCA_btl=self", "A=1"}, withoutMpirun(append(slices.Clone(users),
		"OMPI_COMM_WORLD_RANK=1", "OMPI_UNIVERSE_SIZE=2", "OMPI_MCA_ess_base_jobid=1", "OMPI_MCA_pmix=^s1")))
}

// TestEndChildren checks that a child of a launcher is ended if it outlives the launcher, but no process that later has
// the same id.
func TestEndChildren(t *testing.T) {
	l := &remoteLauncher{}
	child := exec.Command("sleep", "60")
	require.NoError(t, child.Start())
	require.False(t, l.hasZombie(os.Getpid()))
	noted := l.children
	require.Len(t, noted, 1)
	l.children = []launcherChild{{noted[0].pid, noted[0].started + "0"}}
	l.endChildren()
	state, _ := stateOf(child.Process.Pid)
	require.NotEmpty(t, state)
	require.NotEqual(t, "Z", state)
	l.children = noted
	l.endChildren()
	require.Eventually(t, func() bool { return l.hasZombie(os.Getpid()) }, 10*time.Second, time.Millisecond)
	require.Error(t, child.Wait())
	require.False(t, l.hasZombie(os.Getpid()))
}
