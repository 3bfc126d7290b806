package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCosts checks the text on the costs of a function. If all ranks have similar costs, the text names the lowest and
// the highest cost. Otherwise it names the rank with the highest cost.
func TestCosts(t *testing.T) {
	s := &summary{Ranks: []rankSummary{{Rank: 0, Seconds: 10}, {Rank: 1, part: 1, Seconds: 10},
		{Rank: 3, part: 3, Seconds: 10}},
		Windows: []windowSummary{
			{Name: "halo", Uses: map[string]use{"fence": {Seconds: 6}, "lock": {Seconds: 1}}},
			{Leader: 1, Members: 2, Uses: map[string]use{"lock": {Seconds: 1}}}},
		Functions: []functionSummary{
			{Name: "MPI_Win_fence", ByRank: []float64{0.01, 2, 9, 4}, waits: true, collective: true},
			{Name: "MPI_Put", ByRank: []float64{1, 1.1, 9, 1}},
			{Name: "MPI_Win_lock", ByRank: []float64{1, 0, 9, 0.5}, waits: true},
			{Name: "MPI_Get", ByRank: []float64{9, 9, 9, 9}}}}
	require.Equal(t, []string{
		"rank 3 waited 40 % of the run in MPI_Win_fence of window 'halo' for rank 0, which spent 0.1 % there",
		"the ranks spent 10 to 11 % of the run in MPI_Put",
		"rank 0 waited 10 % of the run in MPI_Win_lock; rank 1 waited 0 %",
	}, s.costs())
	s.Functions = s.Functions[:1]
	s.Ranks = s.Ranks[2:]
	require.Equal(t, []string{"rank 3 waited 40 % of the run in MPI_Win_fence of window 'halo'"}, s.costs())
	s.Functions[0].ByRank[3] = 1e-5
	require.Empty(t, s.costs(), "that is nothing")
	s.Ranks = []rankSummary{{Seconds: 10}, {Job: 1, part: 1, Seconds: 10}, {Rank: 1, Job: 1, part: 2, Seconds: 10}}
	s.Functions[0].ByRank = []float64{0, 5, 1}
	require.Equal(t, []string{"job 1 rank 0 waited 50 % of the run in MPI_Win_fence of window 'halo' for job 1 " +
		"rank 1, which spent 10 % there"}, s.costs())
	s.Functions[0].ByRank = []float64{0, 5, 4.5}
	require.Equal(t, []string{"the ranks of job 1 waited 45 to 50 % of the run in MPI_Win_fence of window 'halo'"},
		s.costs())
}

func TestImbalance(t *testing.T) {
	s := &summary{Ranks: []rankSummary{{Seconds: 10, Mpi: 2, Threads: 1}, {Seconds: 10, Mpi: 12, Threads: 2},
		{Seconds: 10, Mpi: 11, Threads: 1}}}
	require.InDelta(t, 0.5, s.imbalance(), 1e-9) // the ranks spend 8, 4 and 0 seconds outside of MPI
	require.Zero(t, (&summary{Ranks: []rankSummary{{}}}).imbalance())
}

func TestFigures(t *testing.T) {
	for want, s := range map[string]float64{"-": 0, "5 ns": 5e-9, "1.5 us": 1.5e-6, "123 ms": 0.1234,
		"12.3 s": 12.34, "1234 s": 1234.4} {
		require.Equal(t, want, formatSeconds(s))
	}
	for want, n := range map[string]uint64{"-": 0, "999 B": 999, "0.977 KiB": 1000, "1 MiB": 1 << 20,
		"16 EiB": 1<<64 - 1} {
		require.Equal(t, want, formatBytes(n))
	}
}

// Checks that the option --stats takes a value only after "=".
func TestStatsOption(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	o, err := parse([]string{"--stats", "-n", "2", "prog"}, none)
	require.NoError(t, err)
	require.Equal(t, []string{"prog"}, o.parts[0].argv)
	require.Equal(t, []listener{&statistics{}}, o.listeners)
	o, err = parse([]string{"-stats=a.json", "--records", "r", "-n", "2", "prog"}, none)
	require.NoError(t, err)
	require.Equal(t, []listener{&statistics{path: "a.json"}, &recordWriter{path: "r"}}, o.listeners)
	_, err = parse([]string{"--stats=", "-n", "2", "prog"}, none)
	require.EqualError(t, err, "--stats= needs a file")
	_, err = parse([]string{"--stats", "--trace=t", "-n", "2", "-H", "elsewhere.invalid", "prog"}, none)
	require.NoError(t, err)
	_, err = parse([]string{"--check", "-n", "2", "-H", "elsewhere.invalid", "prog"}, none)
	require.ErrorContains(t, err, "--check is not supported on several machines, and host "+
		"elsewhere.invalid is another")
}

// Checks that --check=error can be combined with a second --check that names a file for the findings. A file named
// "error" must be given as ./error.
func TestCheckOption(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, c := range []struct {
		args []string
		want checkListener
	}{
		{[]string{"--check"}, checkListener{}},
		{[]string{"--check=error"}, checkListener{waitsForCheck: true}},
		{[]string{"--check=./error"}, checkListener{path: "./error"}},
		{[]string{"--check=a.json", "--check=error"}, checkListener{path: "a.json", waitsForCheck: true}},
		{[]string{"--check=error", "--check=a.json", "--check"}, checkListener{path: "a.json",
			waitsForCheck: true}},
	} {
		o, err := parse(append(c.args, "-n", "2", "prog"), none)
		require.NoError(t, err)
		require.Equal(t, []listener{&c.want}, o.listeners)
	}
	_, err := parse([]string{"--check=a.json", "--check=b.json", "-n", "2", "prog"}, none)
	require.EqualError(t, err, "--check=b.json: an earlier --check option names the file a.json; give only one")
}

// Checks that in LD_PRELOAD the libraries that the user preloads follow the insight library.
func TestPreloaded(t *testing.T) {
	o := &observation{library: "/p/lib/libgompirma-insight.so"}
	require.Equal(t, []string{"A=1", "LD_PRELOAD=/p/lib/libgompirma-insight.so",
		"ASAN_OPTIONS=verify_asan_link_order=0", "GOMPIRMA_INSIGHT_FD=5"}, o.preloaded([]string{"A=1"}))
	require.Equal(t, []string{"LD_PRELOAD=/p/lib/libgompirma-insight.so:/x.so y.so",
		"ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0", "GOMPIRMA_INSIGHT_FD=5"},
		o.preloaded([]string{"LD_PRELOAD=/old.so", "LD_PRELOAD=/x.so y.so", "ASAN_OPTIONS=detect_leaks=0"}))
	require.Contains(t, o.preloaded([]string{"ASAN_OPTIONS=verify_asan_link_order=1"}),
		"ASAN_OPTIONS=verify_asan_link_order=1")
}
