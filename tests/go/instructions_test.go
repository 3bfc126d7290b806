package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// instructionBounds reads the maximum number of instructions of each call from bench/compare/instructions.txt. The
// result is indexed by program and call.
func instructionBounds(t *testing.T) map[string]map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "bench/compare/instructions.txt"))
	require.NoError(t, err)
	found := map[string]map[string]float64{}
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" || len(f) == 3 && f[2] == "-" {
			continue
		}
		require.Len(t, f, 3, line)
		bound, err := strconv.ParseFloat(f[2], 64)
		require.NoError(t, err, line)
		if found[f[1]] == nil {
			found[f[1]] = map[string]float64{}
		}
		found[f[1]][f[0]] = bound
	}
	return found
}

// TestInstructions checks that calls on the fast paths need no more instructions than bench/compare/instructions.txt
// allows. The cost of a call is the difference between a long and a short loop. The counts do not depend on the
// machine's load, with one exception: a call may have to wake another rank. So the test measures again if a count is
// out of range. A count of at most half of the bound is also out of range: then the bound is too high, or a call in the
// short loop has waited, which makes the difference too small.
func TestInstructions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the bounds are those of x86-64")
	}
	icount := buildStepper(t)
	for program, most := range instructionBounds(t) {
		t.Run(program, func(t *testing.T) { requireCosts(t, icount, program, most) })
	}
}

// TestInsightInstructions checks that --check, --stats and --trace add only the instructions of the wrapper and of the
// record to a call. The cost must not grow with the number of functions or with the number of loaded libraries.
func TestInsightInstructions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the bounds are those of x86-64")
	}
	icount := buildStepper(t)
	for option, most := range map[string]map[string]float64{
		"--check": {"put_flush": 1500, "lock_put_unlock": 2400},
		"--stats": {"put_flush": 600, "lock_put_unlock": 1000},
		"--trace": {"put_flush": 1300, "lock_put_unlock": 2100},
	} {
		t.Run(option, func(t *testing.T) {
			requireCosts(t, icount, "rma", most, option+"="+filepath.Join(t.TempDir(), "out.json"))
		})
	}
}

// requireCosts fails the test if a call of a program of bench/ needs more instructions than `maxCosts` allows, or at
// most half of that number.
func requireCosts(t *testing.T, icount, program string, maxCosts map[string]float64, options ...string) {
	t.Helper()
	const loops, tries = "10", 12
	path := filepath.Join(t.TempDir(), program)
	runTool(t, "gompicc", "-O2", "-o", path, filepath.Join(top, "bench", program+".c"))
	var calls []string
	for call := range maxCosts {
		calls = append(calls, call)
	}
	slices.Sort(calls)
	cost := map[string]string{} // last measurement of each call, for the messages
	for range tries {
		args := append(slices.Clone(options), "-n", "2", icount, loops, path, "--count", loops)
		gompirun := exec.Command(filepath.Join(built(t), "bin/gompirun"), append(args, calls...)...)
		var told strings.Builder // output of gompirun
		gompirun.Stderr = &told
		out, err := gompirun.Output()
		require.NoError(t, err, "%s%s", out, &told)
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			call, n, _ := strings.Cut(line, " ")
			require.Contains(t, maxCosts, call, "%s", out)
			cost[call] = n
			steps, err := strconv.ParseFloat(n, 64)
			fine := err == nil && steps <= maxCosts[call] && steps > maxCosts[call]/2
			if at := slices.Index(calls, call); at >= 0 && fine {
				calls = slices.Delete(calls, at, at+1)
			}
		}
		if len(calls) == 0 {
			return
		}
		t.Logf("counts of this try, some out of range: %v", cost)
	}
	for _, call := range calls {
		t.Errorf("%s costs %s instructions, %g to %g are expected "+
			"(bench/compare/instructions.txt; \"more\" are 6,000 or so)",
			call, cost[call], maxCosts[call]/2, maxCosts[call])
	}
}
