package cluster

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRecordRemoteRanks checks that gompirun counts, traces and records the calls of ranks on all hosts. The job must
// end in the same way as without recording.
func TestRecordRemoteRanks(t *testing.T) {
	throughEach(t, func(t *testing.T, command []string) {
		file := program("listen.json")
		job := func(option string, args ...string) *run {
			_ = os.Remove(file)
			all := append(command, "-q", option, "-H", "h1:2,h2,h3", program("where"))
			return start(t, "", append(all, args...)...)
		}
		per := []int{2, 1, 1}

		r := job("--stats="+file, "late", "3")
		status, _ := r.expect(t, per)
		require.Equal(t, 4, status)
		var sums struct {
			Ranks     []struct{ Rank int }
			Functions []struct {
				Name  string
				Calls int
			}
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &sums))
		require.Len(t, sums.Ranks, 4)
		counts := map[string]int{}
		for _, f := range sums.Functions {
			counts[f.Name] = f.Calls
		}
		require.Equal(t, []int{4, 8, 8, 4}, []int{counts["MPI_Init"], counts["MPI_Barrier"],
			counts["MPI_Comm_rank"], counts["MPI_Finalize"]}, "%v", counts)

		r = job("--trace=" + file)
		status, _ = r.expect(t, per)
		require.Equal(t, 0, status)
		var trace struct {
			TraceEvents []struct {
				Name string
				Ph   string
				Pid  int
			}
			OtherData struct {
				Nodes  []string
				NodeOf []int `json:"node_of"`
			}
		}
		text, err = os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &trace))
		require.Equal(t, []string{"h1", "h2", "h3"}, trace.OtherData.Nodes)
		require.Equal(t, []int{0, 0, 1, 2}, trace.OtherData.NodeOf)
		ended := map[int]int{}
		for _, e := range trace.TraceEvents {
			if e.Ph == "X" && e.Name == "MPI_Finalize" {
				ended[e.Pid]++
			}
		}
		require.Equal(t, map[int]int{0: 1, 1: 1, 2: 1, 3: 1}, ended)

		// When a rank is killed, Hydra kills gompirun's processes on all hosts. They need time to send the
		// records.
		r = job("--records="+file, "kill_later", "2")
		status, _ = r.wait()
		require.NotZero(t, status)
		text, err = os.ReadFile(file)
		require.NoError(t, err)
		for _, rank := range []string{"0.0 ", "1.0 ", "2.0 ", "3.0 "} {
			require.Contains(t, "\n"+string(text), "\n"+rank, "a rank has no records")
		}
		requireNoProcesses(t)

		r = job("--check=" + file)
		status, _ = r.wait()
		require.Equal(t, 2, status)
		require.Contains(t, r.Err.String(), "--check is not supported on several machines")
	})
}

// TestRecordRemoteEnds checks that the ranks of a recorded job end when a signal ends or kills gompirun.
func TestRecordRemoteEnds(t *testing.T) {
	throughEach(t, func(t *testing.T, command []string) {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if s == syscall.SIGKILL && command[0] == "slurm" {
				continue // the signal would kill salloc, not gompirun
			}
			r := start(t, "", append(command, "-q", "--trace="+program("listen.json"), "-H", "h1:2,h2,h3",
				program("where"), "sleep")...)
			r.awaitRanks(t, 4)
			require.NoError(t, r.Cmd.Process.Signal(s))
			requireNoProcesses(t)
			status, took := r.wait()
			t.Logf("%v: status %d after %v", s, status, took.Round(time.Millisecond))
			if s == syscall.SIGTERM && !strings.Contains(r.Err.String(), "not all") {
				text, err := os.ReadFile(program("listen.json"))
				require.NoError(t, err)
				require.Contains(t, string(text), "MPI_Barrier")
			}
		}
	})
}
