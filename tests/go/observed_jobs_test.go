package gotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/insight/check"
)

// TestObservedJobs checks that --check, --stats, --trace and --records observe jobs that ranks have started
// (testdata/observed.c), also if their memory is not that of the parents.
func TestObservedJobs(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/observed.c")
	require.NoError(t, err)
	program := compile(t, string(source), "-g")

	// Races of parent and child, and of children, are found. There are no other findings.
	file := filepath.Join(t.TempDir(), "findings.json")
	status, _, said := gompirun(t, "-n", "2", "--check="+file, program, "race")
	require.Equal(t, 3, status, said)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var findings []check.Finding
	require.NoError(t, json.Unmarshal(content, &findings))
	found := map[string]bool{}
	for _, f := range findings {
		text := fmt.Sprintf("%s %s of %d:%d", f.Kind, f.Window, f.TargetJob, f.Target)
		for _, p := range f.Places {
			text += fmt.Sprintf(", %s by %d:%d", p.Call, p.Job, p.Rank)
		}
		found[text] = true
	}
	require.Len(t, found, 2, said)
	require.Subset(t, []string{"race merged of 0:1, MPI_Put by 0:0, MPI_Put by 1:1",
		"race merged of 0:1, MPI_Put by 1:1, MPI_Put by 0:0",
		"race children of 1:0, MPI_Put by 1:0, MPI_Put by 1:1",
		"race children of 1:0, MPI_Put by 1:1, MPI_Put by 1:0"}, slices.Sorted(maps.Keys(found)))
	require.Regexp(t, `(?m)^    job 1 rank 1: MPI_Put at \S+:\d+ writes `, said)
	require.Contains(t, said, "window 'children', memory of job 1 rank 0, ")
	for _, mode := range []string{"fine", "twice"} {
		status, _, said := gompirun(t, "-n", "2", "--check", program, mode)
		require.Zero(t, status, said)
		require.Empty(t, said)
	}
	status, _, said = gompirun(t, "-n", "2", "--check=error", program, "race")
	require.NotZero(t, status)
	require.Contains(t, said, "MPI_ERR_RMA_CONFLICT")

	// If the jobs have memory of their own, only the windows of one job are checked.
	status, _, said = gompirun(t, "-n", "2", "--nodes", "2", "--check", program, "race")
	require.Equal(t, 3, status, said)
	require.Equal(t, 1, strings.Count(said, "race: "), said)
	require.Contains(t, said, "gompirun: --check: this job communicates with processes of another job that ")
	status, _, said = gompirun(t, "-n", "2", "--nodes", "2", "--check", program, "fine")
	require.Zero(t, status, said)

	// The counters of all ranks of all jobs are summed.
	for _, nodes := range []string{"1", "2"} {
		stats := statistics(t, nil, 0, "-n", "2", "--nodes", nodes, program, "twice")
		require.Equal(t, int64(6), stats.calls()["MPI_Finalize"][0])
		require.Equal(t, [2]int64{16, 64}, stats.calls()["MPI_Put"])
		var ranks []string
		for _, r := range stats.Ranks {
			ranks = append(ranks, fmt.Sprintf("%d:%d", r.Job, r.Rank))
		}
		require.Equal(t, []string{"0:0", "0:1", "1:0", "1:1", "2:0", "2:1"}, ranks)
	}
	status, _, said = gompirun(t, "-n", "2", "--stats", program, "fine")
	require.Zero(t, status, said)
	require.Contains(t, said, "gompirun: 4 ranks of 2 jobs, ")
	require.Contains(t, said, "window 'children'")

	// The trace has a track for each rank, and arrows of messages and puts between the jobs.
	trace, _ := runTraced(t, nil, 0, "-n", "2", program, "twice")
	require.Equal(t, []int{0, 2, 4}, trace.OtherData.Jobs)
	require.Equal(t, 6, trace.OtherData.Ranks)
	host, _ := os.Hostname()
	require.Equal(t, "job 2 rank 1 on host "+host, trace.processes()[5])
	puts := trace.of(0, 0, "MPI_Put")
	var targets []any
	for _, put := range puts {
		targets = append(targets, put.Args["target"])
	}
	require.Equal(t, []any{1.0, 2.0, 1.0, 1.0, 4.0, 1.0}, targets)
	require.EqualValues(t, 5, trace.of(0, 0, "MPI_Send")[2].Args["dest"])
	require.EqualValues(t, 0, trace.of(5, 0, "MPI_Recv")[0].Args["source"])

	// Each record names the job.
	file = filepath.Join(t.TempDir(), "records")
	status, _, said = gompirun(t, "-n", "2", "--records", file, program, "fine")
	require.Zero(t, status, said)
	content, err = os.ReadFile(file)
	require.NoError(t, err)
	for _, rank := range []string{"0", "1", "1:0", "1:1"} {
		line := regexp.MustCompile(`(?m)^` + rank + `\.0 .* MPI_Finalize\(\) = 0$`)
		require.Len(t, line.FindAll(content, -1), 1, rank)
	}
}
