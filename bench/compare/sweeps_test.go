package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// of stores one launch of each library as the results of the measurement `name`. The value 0 stands for a crash.
func (r results) of(name string, values ...float64) {
	r[name] = map[string][]outcome{}
	for i, l := range []string{"gompirma", "MPICH", "Open MPI"}[:len(values)] {
		o := outcome{value: values[i]}
		if values[i] == 0 {
			o = outcome{failure: "crash"}
		}
		r[name][l] = append(r[name][l], o)
	}
}

// TestSweepSummaries checks a sweep's median ratio, its worst size and the spread of launches. The results of a library
// that crashes are ignored.
func TestSweepSummaries(t *testing.T) {
	all := &report{Libraries: []string{"gompirma", "MPICH", "Open MPI"}, results: results{}}
	all.results.of("sweep.put.flush.1", 10, 300, 20)
	all.results.of("sweep.put.flush.2", 40, 300, 20)
	all.results.of("sweep.put.flush.4", 10, 50, 0)
	all.results.of("sweep.get.flush.1", 10, 0, 0)
	all.results.of("sweep.accumulate.flush.1", 0, 10, 10)
	all.results.of("sweep.ibcast.overlap.1", 50, 10, 0)
	all.results.of("sweep.ibcast.overlap.2", 20, 30, 0)
	mine := all.results["sweep.put.flush.1"]
	mine["gompirma"] = append(mine["gompirma"], outcome{value: 15}, outcome{value: 5})
	require.Equal(t, []sweepSummary{
		{Series: "put.flush", Label: "put, flush", Part: "One-sided, allocated windows", Ratio: 2, Worst: 0.5,
			At: 2, Spread: 3},
		{Series: "get.flush", Label: "get, flush", Part: "One-sided, allocated windows", Why: "no peer"},
		{Series: "accumulate.flush", Label: "accumulate, flush", Part: "One-sided, allocated windows",
			Why: "crash at 1 B"},
		{Series: "ibcast.overlap", Label: "ibcast",
			Part:   "Nonblocking collectives: overlap with a computation",
			Hidden: map[string]float64{"gompirma": 35, "MPICH": 20}, Least: 20, At: 2},
	}, all.summaries(sweeps))

	var out strings.Builder
	all.tables(&out)
	require.Equal(t, `
### One-sided, allocated windows

| operation | median ratio | worst ratio | at size | spread |
|---|---|---|---|---|
| put, flush | 2.00 | 0.50 | 2 B | 3.00 |
| get, flush | no peer |  |  |  |
| accumulate, flush | crash at 1 B |  |  |  |

### Nonblocking collectives: overlap with a computation

| % overlap | gompirma | MPICH | Open MPI | gompirma's lowest | at size |
|---|---|---|---|---|---|
| ibcast | 35 | 20 | - | 20 | 2 B |
`, out.String())

	// The function `document`, called for the sweeps, writes their tables to sweeps.txt, and replaces only the text
	// between the marks of the sweeps, by their charts. The main tables stay.
	dir := t.TempDir()
	from, into := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.md")
	defer func(before []measurement) { measurements = before }(measurements)
	measurements = sweeps
	require.NoError(t, all.save(from))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "charts"), 0o755))
	for _, name := range []string{"latency", "sweeps-messages"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "charts", name+".svg"), nil, 0o644))
	}
	kept := begin + "main\n" + end
	require.NoError(t, os.WriteFile(into, []byte(kept+beginSweeps+"old\n"+endSweeps), 0o644))
	require.NoError(t, document(from, into, true))
	text, err := os.ReadFile(into)
	require.NoError(t, err)
	require.Equal(t, kept+beginSweeps+
		"\n### Charts\n\n![sweeps-messages](charts/sweeps-messages.svg)\n"+endSweeps, string(text))

	text, err = os.ReadFile(filepath.Join(dir, "sweeps.txt"))
	require.NoError(t, err)
	require.Contains(t, string(text), `
One-sided, allocated windows

  operation          median ratio  worst ratio  at size  spread
  put, flush         2.00          0.50         2 B      3.00
  get, flush         no peer
  accumulate, flush  crash at 1 B

Nonblocking collectives: overlap with a computation

  % overlap  gompirma  MPICH  Open MPI  gompirma's lowest  at size
  ibcast     35        20     -         20                 2 B
`)

	out.Reset()
	all.worstFirst(&out)
	require.Less(t, strings.Index(out.String(), "get.flush"), strings.Index(out.String(), "put.flush"))
	require.NotContains(t, out.String(), "ibcast")
}

// TestSweeps checks that each sweep has its own launch, except with -quick, and that the names of measurements are
// unique.
func TestSweeps(t *testing.T) {
	defer func(before []measurement) { measurements = before }(measurements)
	measurements = sweeps
	seen := map[string]bool{}
	for _, m := range sweeps {
		require.False(t, seen[m.name], m.name)
		seen[m.name] = true
	}
	one, err := selectMeasurements(options{sweeps: true, only: "^put.flush$"})
	require.NoError(t, err)
	require.Len(t, one, 23)
	require.Len(t, batches(one), 1)
	usual, err := selectMeasurements(options{sweeps: true, only: "."})
	require.NoError(t, err)
	every, err := selectMeasurements(options{sweeps: true, all: true, only: "."})
	require.NoError(t, err)
	require.Less(t, len(usual), len(every))
	quick, err := selectMeasurements(options{sweeps: true, quick: true, only: "."})
	require.NoError(t, err)
	require.Less(t, len(quick), len(usual)/2)
	require.Greater(t, len(batches(usual)), 100)
	require.Less(t, len(batches(quick)), 12)
}
