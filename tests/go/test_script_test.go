package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTestScript checks the last lines that scripts/test.sh prints: the longest tests, all tests that a tool skipped,
// and the failures. It also checks that the script prints the duration of each step in the previous run. Fake commands
// replace the commands that the script runs.
func TestTestScript(t *testing.T) {
	const (
		cmake = `case $1 in -S) echo "-- left out: Fortran: no compiler" ;; esac`
		ctest = `while [ "$1" != --output-log ]; do shift; done; cat >"$2" <<EOF
 1/13 Test   #2: litmus/sb.n2 .............   Passed   12.50 sec
12/13 Test  #13: unit/win/lock.thread ......***Failed    3.07 sec
rank 0: lock.c:12: nobody has it

      Start 1: unit/win/lock.address
13/13 Test   #1: unit/win/lock.address .....   Passed    2.00 sec
The following tests did not run:
	  3 - litmus/iriw.n4 (Skipped)
	 12 - abi/x (Disabled)
EOF`
		// Only the fake `go run ./tests/go/report LEFT_OUT TOOK WRONG NAME ARGUMENTS...` records a skipped
		// test. The script runs it in two steps, which record the same test.
		golang = `case "$2" in ./tests/go/report)
	echo "core/boot TestUnderHydra: mpiexec.mpich is not installed" >>"$3"
	for i in 1 2 3 4 5 6 7 8 9; do echo "4.$i $6 core/boot Test$i" >>"$4"; done ;; esac`
		broken = `case "$2" in ./tests/go/report) echo "$6 core/shm: panic" >>"$5"; exit 1 ;; esac`
	)
	for _, c := range []struct {
		name, what           string
		cmake, ctest, golang string
		last                 []string
	}{
		{"nothing", "all", "exit 0", `while [ "$1" != --output-log ]; do shift; done; : >"$2"`, "exit 0",
			[]string{"== generated files: ok", "all steps passed"}},
		{"each step", "all", cmake, ctest, golang, []string{"== generated files: ok", "slowest:",
			"  12.50 s: ctest litmus/sb.n2", "  4.9 s: race detector core/boot Test9",
			"  4.9 s: go test core/boot Test9", "  4.8 s: race", "  4.8 s: go", "  4.7 s: race",
			"  4.7 s: go", "  4.6 s: race", "  4.6 s: go", "  4.5 s: race", "  4.5 s: go",
			"  4.4 s: race", "  4.4 s: go", "  4.3 s: race", "  4.3 s: go", "  4.2 s: race",
			"  4.2 s: go", "  4.1 s: race", "  4.1 s: go", "  3.07 s: ctest unit/win/lock.thread",
			"left out: Fortran: no compiler",
			"left out: core/boot TestUnderHydra: mpiexec.mpich is not installed",
			"left out: ctest abi/x: Disabled",
			"left out: ctest litmus/iriw.n4: Skipped", "all steps passed"}},
		{"nothing built", "all", cmake + "; exit 1", ctest, "exit 0", []string{"left out: Fortran: no compiler",
			"left out: ctest: the build of its programs failed", "failed: cmake"}},
		{"race detector", "race", cmake, ctest, broken, []string{"== race detector: FAILED",
			"race detector core/shm: panic", "failed: race detector"}},
		{"ctest", "c", cmake, ctest + "\nexit 1", golang, []string{"== ctest: FAILED", "slowest:",
			"  12.50 s", "  3.07 s", "  2.00 s", "left out: Fortran", "left out: ctest abi/x",
			"left out: ctest litmus/iriw.n4", "ctest unit/win/lock.thread: Failed",
			"  rank 0: lock.c:12: nobody has it", "failed: ctest"}},
		{"Go alone", "go", cmake, ctest, golang,
			[]string{"== core without C: ok", "slowest:", "  4.9 s: go test core/boot Test9",
				"  4.8 s: go", "  4.7 s: go", "  4.6 s: go", "  4.5 s: go",
				"  4.4 s: go", "  4.3 s: go", "  4.2 s: go", "  4.1 s: go",
				"left out: core/boot TestUnderHydra: mpiexec.mpich is not installed",
				"all steps passed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin, build := t.TempDir(), t.TempDir()
			for _, name := range strings.Fields(
				"sh bash env dirname nproc timeout cat sed sort mkdir grep awk") {
				path, err := exec.LookPath(name)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
			}
			for name, script := range map[string]string{"cmake": c.cmake, "ctest": c.ctest,
				"go": c.golang, "find": "exit 0", "xargs": "cat >/dev/null"} {
				require.NoError(t, os.WriteFile(filepath.Join(bin, name),
					[]byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
			times := filepath.Join(build, "steps.txt")
			require.NoError(t, os.WriteFile(times, []byte("77 go test\n88 race detector\n"), 0o644))
			cmd := exec.Command(filepath.Join(top, "scripts/test.sh"), build, c.what)
			cmd.Env = []string{"PATH=" + bin}
			out, err := cmd.CombinedOutput()
			require.Equal(t, strings.HasPrefix(c.last[len(c.last)-1], "failed"), err != nil, "%s", out)
			after, timesErr := os.ReadFile(times)
			require.NoError(t, timesErr)
			if c.what == "go" {
				require.Contains(t, string(out), "== go test (took 77 s the last time)\n")
				require.Contains(t, string(after), "88 race detector\n")
				require.NotContains(t, string(after), "77 go test\n")
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.GreaterOrEqual(t, len(lines), len(c.last), "%s", out)
			for i, want := range c.last {
				require.True(t, strings.HasPrefix(lines[len(lines)-len(c.last)+i], want), "%s\n%s",
					want, out)
			}
		})
	}
}
