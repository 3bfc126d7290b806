package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/bench/census"
)

// TestCensus checks that the summary counts the rows. The table has them ordered by their ratio, worst first. Rows that
// neither MPICH nor Open MPI can run come last.
func TestCensus(t *testing.T) {
	all := &report{Runs: 3, Empty: 40, Libraries: []string{"gompirma", "MPICH", "Open MPI"}, results: results{}}
	all.results.of("census.Comm_rank", 4, 5, 6)
	all.results.of("census.Topo_test", 60, 12, 0)
	all.results.of("census.Comm_toint", 3, 0, 0)
	all.results.of("census.Win_create+Win_free", 4951, 9902, 54321)
	all.results.of("count.Comm_rank", 27)
	all.results.of("calls.Topo_test", 1)
	var doc, rows strings.Builder
	all.census(&doc, &rows)
	text := doc.String()
	require.Contains(t, text, "\n4 rows cover 5 functions. In 3 rows MPICH or Open MPI has all functions. "+
		"Of these, 1 have a ratio below 1.0\n(1 before they were measured again).\n")
	require.Contains(t, text, "\n1 rows call Go. An empty Go function in a library of its own takes 40 ns "+
		"when C calls it. The fastest row with one\ncall into Go takes 60 ns (Topo_test).\n")
	require.Contains(t, text, "| calls into Go | number of rows |\n|---|---|\n| 1 | 1 |\n")
	require.Contains(t, text, "| ends the job | 1 |\n")
	require.Equal(t, `One rank

      ratio  gompirma  MPICH  Open MPI  instructions  row
                 3.00  crash     crash             -  Comm_toint

Two ranks, only rank 0 calls

      ratio  gompirma  MPICH  Open MPI  instructions  row
       0.20      60.0   12.0     crash             -  Topo_test
       1.25      4.00   5.00      6.00            27  Comm_rank

Two ranks, both call

      ratio  gompirma  MPICH  Open MPI  row
       2.00      4950   9900     54300  Win_create, Win_free
`, rows.String())
	require.True(t, all.inGo(measurement{row: "Topo_test", count: true}))
	require.False(t, all.inGo(measurement{row: "Comm_rank", count: true}))
}

// TestPairedRatio checks that a machine that is slow during the second launch of each library does not change the
// ratio.
func TestPairedRatio(t *testing.T) {
	of := func(values ...float64) (all []outcome) {
		for _, v := range values {
			all = append(all, outcome{value: v})
		}
		return all
	}
	require.Equal(t, 2.0, pairedRatio(of(20, 60, 22), of(10, 30, 12)))
	require.Equal(t, 0.5, pairedRatio(of(20), of(10, 40, 60)))
}

// TestMissingFunctions checks that a library runs only rows whose functions it has, including the functions of open and
// close. It also checks that instructions and calls of Go are counted only with gompirma.
func TestMissingFunctions(t *testing.T) {
	peer, mine := library{name: "MPICH", has: map[string]bool{"MPI_Recv": true}}, library{name: "gompirma"}
	require.False(t, peer.lacksFunctions(measurement{needs: []string{"MPI_Recv"}}))
	require.True(t, peer.lacksFunctions(measurement{needs: []string{"MPI_Recv", "MPI_Buffer_flush"}}))
	require.True(t, peer.lacksFunctions(measurement{own: true}))
	require.False(t, mine.lacksFunctions(measurement{own: true}))
	for _, r := range census.Rows() {
		if r.Name == "Win_sync" {
			require.Equal(t, []string{"MPI_Win_sync"}, r.Covers)
			require.Equal(t, []string{"MPI_Win_sync", "MPI_Win_lock_all", "MPI_Win_unlock_all"}, r.Needs)
		}
	}
}
