package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/suite"
)

// What needs loads and stores is found where the program is recompiled; in the counterparts, which differ in little,
// nothing is.
func TestCheckAccesses(t *testing.T) {
	_, err := os.Stat(filepath.Join(built(t), "bin/gompifort"))
	require.NoError(t, err)
	_, noFortran := exec.LookPath("gfortran")
	all, err := suite.Load(filepath.Join(top, "tests/c/check"))
	require.NoError(t, err)
	pairs := map[string]bool{}
	for _, p := range all {
		needs := func(f suite.Finding) bool { return f.Needs == suite.Accesses }
		if p.Needs == suite.Accesses || slices.ContainsFunc(p.Findings, needs) {
			pairs[p.Pair] = true
		}
	}
	require.NotEmpty(t, pairs)
	for _, p := range all {
		if !pairs[p.Pair] || filepath.Ext(p.Path) == ".f90" && noFortran != nil {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			var want []string
			for _, f := range p.Findings {
				want = append(want, found(f.Kind, f.Lines))
			}
			got, out := checked(t, p, checkProgram(t, p, "--check"))
			require.ElementsMatch(t, want, got, out)
		})
	}
}
