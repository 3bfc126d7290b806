package gotest

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spawnConfig is a way to start the parents in a test of MPI_Comm_spawn: options of gompirun, or "" without a launcher,
// and an info key.
type spawnConfig struct{ options, key string }

var spawnConfigs = []spawnConfig{{"-n 2", ""}, {"--nodes 2 -n 2", ""}, {"", ""}, {"-n 2", "host=a.invalid"}}

func (c spawnConfig) prepare(t *testing.T, args ...string) *launch {
	t.Helper()
	args = append(args, strings.Fields(c.key)...)
	l := prepareProgram(t, args[0], args[1:]...)
	if c.options != "" {
		l = prepare(t, append(strings.Fields(c.options), args...)...)
	}
	l.Cmd.Env = append(l.Cmd.Env, "HYDRA_LAUNCHER=fork") // Hydra starts processes on this host
	return l
}

// TestSpawnKilled checks what happens when a process is killed before, during or after MPI_Comm_spawn
// (testdata/spawn_killed.c): a parent, a child, or the launcher of the children. No process waits forever, and nothing
// remains. The death of a child is an error at the parents.
func TestSpawnKilled(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "spawn_killed.c")
	_, noHydra := exec.LookPath("mpiexec.hydra")
	const all = "before start up after"
	for _, c := range spawnConfigs {
		steps := map[string]string{"parent0": all, "parent1": all, "child0": "start up after",
			"child1": "start up after", "launcher": all}
		switch {
		case c.key != "" && noHydra != nil:
			continue
		case c.options == "":
			steps["parent1"], steps["launcher"] = "", "start up after"
		case c.key != "": // the parents notice later deaths within 8 s only, as those over two nodes
			steps["child0"], steps["child1"], steps["launcher"] = "start", "start", "before start"
		case strings.HasPrefix(c.options, "--nodes"):
			steps["child0"], steps["child1"] = "start", "start up"
		}
		for victim, list := range steps {
			for _, step := range strings.Fields(list) {
				t.Run(strings.Join([]string{c.options, c.key, victim, step}, ","), func(t *testing.T) {
					t.Parallel()
					l := c.prepare(t, program, victim, step)
					status := l.run(t)
					c.requireEnd(t, victim, step, status, l)
				})
			}
		}
	}
}

// requireEnd checks the exit status and the output of a job after a process has been killed.
func (c spawnConfig) requireEnd(t *testing.T, victim, step string, status int, l *launch) {
	t.Helper()
	isRemote := c.key != ""
	endsParents := victim == "launcher" && c.options != "" && (!isRemote || step == "before")
	if endsParents || strings.HasPrefix(victim, "parent") {
		require.Equal(t, 137, status, "%s%s", &l.Out, &l.Err)
		return
	}
	want := "MPI_ERR_PROC_ABORTED"
	if step == "start" { // the child of rank 0 may have connected before the other one failed
		want = "(MPI_ERR_SPAWN|MPI_ERR_PROC_ABORTED)"
	}
	require.Regexp(t, "(?m)^parent 0: "+want+"$", l.Out.String())
	require.Equal(t, c.options == "" || isRemote, status == 0, "%d %s%s", status, &l.Out, &l.Err)
}

// TestSpawnKilledAnytime kills random processes of jobs that start processes again and again. No process waits forever,
// and nothing remains.
func TestSpawnKilledAnytime(t *testing.T) {
	t.Parallel()
	program := compileFile(t, "spawn_killed.c")
	for i := range 12 {
		c := spawnConfigs[i%3]
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("%s,%d", c.options, seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			l := c.prepare(t, program, "none", "none")
			require.NoError(t, l.Cmd.Start())
			for range 10 {
				time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
				found := l.processes()
				if len(found) == 0 {
					break
				}
				pid, _, _ := strings.Cut(found[random.IntN(len(found))], " ")
				number, err := strconv.Atoi(pid)
				require.NoError(t, err)
				syscall.Kill(number, syscall.SIGKILL) // the process may have ended already
				// If it was ending already, the job continues.
				for tries := 0; tries < 300 && len(l.processes()) > 0; tries++ {
					time.Sleep(10 * time.Millisecond)
				}
			}
			l.wait(t)
		})
	}
}
