package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The last lines of scripts/test.sh say what was left out, whoever left it out, and what failed. Its commands are made
// up.
func TestTestScript(t *testing.T) {
	const (
		cmake = `case $1 in -S) echo "-- left out: Fortran: no compiler" ;; esac`
		ctest = `while [ "$1" != --output-log ]; do shift; done; printf 'The following tests did not run:\n\t  3 - litmus/iriw.n4 (Skipped)\n\t 12 - abi/x (Disabled)\n' >"$2"`
		// Only `go run ./tests/go/report FILE ARGUMENTS...` leaves something out: the same test in both of its
		// steps.
		golang = `case "$2" in ./tests/go/report) echo "core/boot TestUnderHydra: mpiexec.mpich is not installed" >>"$3" ;; esac`
	)
	for _, c := range []struct {
		name, what           string
		cmake, ctest, golang string
		last                 []string
	}{
		{"nothing", "all", "exit 0", `while [ "$1" != --output-log ]; do shift; done; : >"$2"`, "exit 0",
			[]string{"== generated files: ok", "all steps passed"}},
		{"each step", "all", cmake, ctest, golang, []string{"== generated files: ok",
			"left out: Fortran: no compiler",
			"left out: core/boot TestUnderHydra: mpiexec.mpich is not installed",
			"left out: ctest abi/x: Disabled",
			"left out: ctest litmus/iriw.n4: Skipped", "all steps passed"}},
		{"nothing built", "all", cmake + "; exit 1", ctest, "exit 0", []string{"left out: Fortran: no compiler",
			"left out: ctest: what it would run is not built", "failed: cmake"}},
		{"Go alone", "go", cmake, ctest, golang,
			[]string{"== core without C: ok",
				"left out: core/boot TestUnderHydra: mpiexec.mpich is not installed",
				"all steps passed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin, build := t.TempDir(), t.TempDir()
			for _, name := range strings.Fields(
				"sh bash env dirname nproc timeout cat sed sort mkdir grep") {
				path, err := exec.LookPath(name)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
			}
			for name, script := range map[string]string{"cmake": c.cmake, "ctest": c.ctest,
				"go": c.golang, "find": "exit 0", "xargs": "cat >/dev/null"} {
				require.NoError(t, os.WriteFile(filepath.Join(bin, name),
					[]byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
			cmd := exec.Command(filepath.Join(top, "scripts/test.sh"), build, c.what)
			cmd.Env = []string{"PATH=" + bin}
			out, err := cmd.CombinedOutput()
			require.Equal(t, strings.HasPrefix(c.last[len(c.last)-1], "failed"), err != nil, "%s", out)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.GreaterOrEqual(t, len(lines), len(c.last), "%s", out)
			for i, want := range c.last {
				require.True(t, strings.HasPrefix(lines[len(lines)-len(c.last)+i], want), "%s\n%s",
					want, out)
			}
		})
	}
}
