package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocument checks that document writes the tables of a saved report between the marks, and that they equal the
// tables of the report in memory.
func TestDocument(t *testing.T) {
	all := &report{Machine: "a machine", Cores: 2, Load: "0.5", Runs: 2, Libraries: []string{"gompirma", "MPICH",
		"Open MPI"}, results: results{
		"put8": {"gompirma": {{value: 3}, {value: 2}}, "MPICH": {{value: 300}, {value: 300}},
			"Open MPI": {{value: 10}, {failure: "crash"}}},
		"pingpong:8":        {"gompirma": {{value: 100}}, "MPICH": {{value: 250}}, "Open MPI": {{value: 200}}},
		"sizes.pingpong.64": {"gompirma": {{value: 100}}, "MPICH": {{value: 250}}, "Open MPI": {{value: 200}}},
	}}
	want := "a machine, 2 cores, load before the run 0.5, median of 2 launches.\n" + `
### Windows

| operation | gompirma | MPICH | Open MPI | ratio | goal |
|---|---|---|---|---|---|
| put 8 B | 2.50 ns | 300 ns | crash | 120.00 | 3 |

### Messages

| operation | gompirma | MPICH | Open MPI | ratio | goal |
|---|---|---|---|---|---|
| ping-pong 8 B, one way | 100 ns | 250 ns | 200 ns | 2.00 | 1.3 |
`
	require.Equal(t, want, all.main())
	dir := t.TempDir()
	from, into := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.md")
	require.NoError(t, all.save(from))
	require.NoError(t, os.WriteFile(into, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "charts"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "charts/latency.svg"), nil, 0o644))
	require.NoError(t, document(from, into, false))
	text, err := os.ReadFile(into)
	require.NoError(t, err)
	charts := "\n### Charts\n\n![latency](charts/latency.svg)\n"
	require.Equal(t, "before\n"+begin+want+charts+end+"after\n", string(text))

	require.NoError(t, os.WriteFile(into, []byte("before\n"+begin+"old\n"), 0o644))
	require.ErrorContains(t, document(from, into, false), "there is no line")
}

// TestSelectMeasurements checks that -quick omits the sweeps and groups similar measurements into one launch.
func TestSelectMeasurements(t *testing.T) {
	whole, err := selectMeasurements(options{only: "pingpong"})
	require.NoError(t, err)
	quick, err := selectMeasurements(options{only: "pingpong", quick: true})
	require.NoError(t, err)
	require.Greater(t, len(whole), len(quick))
	require.Greater(t, len(quick), len(batches(quick)))
	_, err = selectMeasurements(options{only: "nothing is called so"})
	require.Error(t, err)
	_, err = selectMeasurements(options{only: "["})
	require.Error(t, err)
}

func TestShowParameter(t *testing.T) {
	require.Equal(t, "1 B", showParameter("sizes", 1))
	require.Equal(t, "64 KiB", showParameter("sizes", 64<<10))
	require.Equal(t, "64 MiB", showParameter("windows", 64<<20))
	require.Equal(t, "16 ranks", showParameter("ranks", 16))
	require.Equal(t, "1 thread", showParameter("threads", 1))
}
