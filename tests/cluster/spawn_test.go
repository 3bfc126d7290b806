package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// requireChildren checks that a job has started processes on the given hosts, one for each rank.
func (r *run) requireChildren(t *testing.T, parents int, hosts ...string) {
	t.Helper()
	for rank, host := range hosts {
		require.Contains(t, r.Out.String(), fmt.Sprintf("child %d of %d, ", rank, len(hosts)))
		require.Regexp(t, fmt.Sprintf(`child %d of .* %d parents, on %s,`, rank, parents, host), r.Out.String())
	}
	require.Equal(t, len(hosts), strings.Count(r.Out.String(), "child "))
}

// gompiruns returns the process ids of gompirun, which runs in the process namespace of the test bed.
func gompiruns(t *testing.T) (pids []int) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range all {
		if target, _ := os.Readlink(exe); filepath.Base(target) == "gompirun" {
			pid, err := strconv.Atoi(strings.Split(exe, "/")[2])
			require.NoError(t, err)
			pids = append(pids, pid)
		}
	}
	require.NotEmpty(t, pids)
	return pids
}

// TestSpawn checks that MPI_Comm_spawn starts processes on other hosts, by each launcher that gompirun can use. A host
// that does not exist gives an error. If gompirun is killed, no process remains.
func TestSpawn(t *testing.T) {
	throughEach(t, func(t *testing.T, command []string) {
		command = append(command, "-n", "2", "-H", "h1", program("spawn_keys"))
		r := start(t, "", append(command, "3", "host=h2:2,h3")...)
		status, took := r.wait()
		require.Equal(t, 0, status, r.Err.String())
		r.requireChildren(t, 2, "h2", "h2", "h3")
		t.Logf("%v", took.Round(time.Millisecond))

		r = start(t, "", append(command, "2", "host=h3,h9")...)
		status, _ = r.wait()
		require.Equal(t, 0, status, r.Err.String())
		require.Regexp(t, `parent 0: class MPI_ERR_SPAWN, codes 1 1, .* could not start the processes on `+
			`h3:1,h9:1: .+`, r.Out.String())
		requireNoProcesses(t)

		r = start(t, "", append(command, "2", "host=h2,h3", "how=status", "env=HOW=status")...)
		status, _ = r.wait()
		require.NotZero(t, status) // the launchers return the status of one of the processes
		require.Contains(t, r.Err.String(), fmt.Sprintf("gompirun: job 1 on h2:1,h3:1 ended with status %d",
			status))
		requireNoProcesses(t)

		for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
			r = start(t, "", append(command, "2", "host=h2,h3", "how=pause", "env=HOW=pause")...)
			r.awaitRanks(t, 4)
			for _, pid := range gompiruns(t) {
				require.NoError(t, syscall.Kill(pid, s))
			}
			requireNoProcesses(t)
			r.wait() // salloc returns 0 if its command has been killed
		}
	})
}

// TestSpawnFromHosts checks that processes of a job on several hosts start processes, on the host of the root and on
// another one, whichever launcher has started the job.
func TestSpawnFromHosts(t *testing.T) {
	eachLauncher(t, func(t *testing.T, l *launcher) {
		other := "h3"
		if l.slurm { // the job's allocation has h1 and h2
			other = "h2"
		}
		for where, host := range map[string]string{"host=" + other: other, "host=h1": "h1", "unknown=1": "h1"} {
			r := start(t, "", l.command([]int{1, 2}, "env", "HYDRA_LAUNCHER_EXEC="+program("bin/remote"),
				program("spawn_keys"), "2", where)...)
			status, _ := r.wait()
			require.Equal(t, 0, status, r.Err.String())
			r.requireChildren(t, 3, host, host)
			requireNoProcesses(t)
		}
	})
}
