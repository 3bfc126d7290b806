package gotest

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/bench/census"
	"gompirma/core/abi"
)

// TestCensusIsComplete checks that bench/census/rows.txt lists every implemented function and no unimplemented one.
func TestCensusIsComplete(t *testing.T) {
	cmd := exec.Command("go", "run", "./core/abi/gen", "-missing")
	cmd.Dir = top
	out, err := cmd.Output()
	require.NoError(t, err)
	missing, covered := map[string]bool{}, map[string]bool{}
	for _, name := range strings.Fields(string(out)) {
		missing[name] = true
	}
	names := map[string]bool{}
	for _, r := range census.Rows() {
		require.False(t, names[r.Name], "two rows are called %s", r.Name)
		require.NotContains(t, r.Name, ":", "bench/loop.h reads the text after a colon as a number")
		names[r.Name] = true
		for _, f := range r.Covers {
			covered[f] = true
		}
	}
	for f := range census.Unmeasured() {
		require.False(t, covered[f], "%s has a row and also a reason for having no row", f)
		covered[f] = true
	}
	for _, f := range abi.Functions() {
		require.Equal(t, !missing[f.Name], covered[f.Name],
			"%s: expected: is implemented; actual: is in the census", f.Name)
		delete(covered, f.Name)
	}
	require.Empty(t, covered, "names in the census that are not functions of MPI")
}
