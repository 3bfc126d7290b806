package gotest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/insight/check"
	"gompirma/tests/go/suite"
)

// checked builds a program of the suite with --check and returns what is found: kind and lines of each.
func checked(t *testing.T, p *suite.Program) (found []string) {
	t.Helper()
	program, file := filepath.Join(t.TempDir(), p.Name), filepath.Join(t.TempDir(), "found")
	wrapper := map[string]string{".c": "gompicc", ".cc": "gompicxx", ".f90": "gompifort"}[filepath.Ext(p.Path)]
	out, err := exec.Command(filepath.Join(built(t), "bin", wrapper), "--check", "-O1", "-pthread", "-o", program,
		p.Path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	l := prepare(t, "-n", fmt.Sprint(p.Ranks), "--check="+file, program)
	status := l.run(t)
	require.Contains(t, []int{0, 3}, status, "%s%s", l.out.String(), l.err.String())
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var findings []check.Finding
	require.NoError(t, json.Unmarshal(content, &findings))
	for _, f := range findings {
		var lines []int
		for _, s := range f.Places {
			lines = append(lines, s.Place.Line)
		}
		slices.Sort(lines)
		found = append(found, fmt.Sprint(f.Kind, lines))
	}
	return found
}

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
				lines := slices.Sorted(slices.Values(f.Lines))
				want = append(want, fmt.Sprint(f.Kind, lines))
			}
			require.ElementsMatch(t, want, checked(t, p))
		})
	}
}
