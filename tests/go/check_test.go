package gotest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/insight/check"
	"gompirma/tests/go/suite"
)

// mayMiss returns true if the program may hang before --check has seen both conflicting calls. Then gompirun reports
// the hang instead. In collective_fence_error one rank waits in a fence on the window, the other in a barrier on the
// communicator.
func mayMiss(p *suite.Program) bool { return p.Name == "collective_fence_error" }

// checkProgram returns the path of a compiled program of tests/c/check. Without flags, it uses the program that the
// build target check_programs has compiled, unless the source is newer.
func checkProgram(t *testing.T, p *suite.Program, flags ...string) string {
	t.Helper()
	source, err := os.Stat(p.Path)
	require.NoError(t, err)
	made := filepath.Join(built(t), "tests/c/check", p.Name)
	if info, err := os.Stat(made); err == nil && info.ModTime().After(source.ModTime()) && len(flags) == 0 {
		return made
	}
	made = filepath.Join(t.TempDir(), p.Name)
	if p.Wrong {
		flags = append(flags, "-DWRONG")
	}
	if strings.Contains(p.Name, "openmp_") {
		flags = append(flags, "-fopenmp")
	}
	wrapper := map[string]string{".c": "gompicc", ".cc": "gompicxx", ".F90": "gompifort"}[filepath.Ext(p.Path)]
	runTool(t, wrapper, append(flags, "-O1", "-g", "-pthread", "-o", made, p.Path)...)
	return made
}

// runChecked runs a program of tests/c/check under gompirun --check. It returns the findings and all output. The
// optional `front` is a command that starts gompirun, such as taskset.
func runChecked(t *testing.T, p *suite.Program, program string, front ...string) (all []string, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "findings.json")
	args := []string{"-n", strconv.Itoa(p.Ranks), "--check=" + file}
	if strings.HasPrefix(p.Name, "buffering_") {
		args = append(args, "--check=strict")
	}
	if p.Hangs {
		args = append(args, "--deadlock", "abort", "--deadlock-after", "0.5")
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangTimeout)
	defer cancel()
	line := append(append(front, filepath.Join(built(t), "bin/gompirun")), append(args, program)...)
	out, _ := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput()
	content, err := os.ReadFile(file)
	require.NoError(t, err, "%s", out)
	var findings []check.Finding
	require.NoError(t, json.Unmarshal(content, &findings))
	for _, f := range findings {
		var lines []int
		for _, s := range f.Places {
			lines = append(lines, s.Place.Line)
		}
		all = append(all, findingText(f.Kind, lines))
	}
	return all, string(out)
}

// findingText formats a finding as text for comparison: its kind and its lines in order.
func findingText(kind string, lines []int) string {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	return fmt.Sprint(kind, " ", slices.Compact(lines))
}

// eachProgram runs a test, with limited concurrency, for each program of tests/c/check that the function `selected`
// accepts.
func eachProgram(t *testing.T, selected func(*suite.Program) bool, test func(*testing.T, *suite.Program)) {
	programs, err := suite.Load(filepath.Join(top, "tests/c/check"))
	require.NoError(t, err)
	slots := make(chan struct{}, runtime.NumCPU()+1)
	for _, p := range programs {
		if !selected(p) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			test(t, p)
		})
	}
}

// TestCheckSuite checks that --check, without recompiling, finds every error in the programs of tests/c/check that is
// visible from MPI calls, and reports nothing else.
func TestCheckSuite(t *testing.T) {
	eachProgram(t, func(*suite.Program) bool { return true }, func(t *testing.T, p *suite.Program) {
		all, out := runChecked(t, p, checkProgram(t, p))
		found, want, may := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, key := range all {
			found[key] = true
		}
		for _, f := range p.Findings {
			if f.Needs == suite.Accesses {
				continue
			}
			key := findingText(f.Kind, f.Lines)
			if may[key] = true; !mayMiss(p) {
				want[key] = true
			}
		}
		for key := range want {
			require.True(t, found[key], "%s is missing; found: %v\n%s", key, found, out)
		}
		if p.Needs == suite.Accesses && hasThreads(p) {
			return // without recompiling, --check does not see the synchronization of the threads
		}
		for key := range found {
			require.True(t, may[key], "%s is not in the program\n%s", key, out)
		}
	})
}

func hasThreads(p *suite.Program) bool {
	return strings.Contains(p.Name, "thread_") || strings.Contains(p.Name, "openmp_")
}

// needsRecompiling returns a function that reports whether a program must be recompiled with --check. It must if loads
// and stores matter for the findings in the program or in the other version of its file.
func needsRecompiling(t *testing.T) func(*suite.Program) bool {
	programs, err := suite.Load(filepath.Join(top, "tests/c/check"))
	require.NoError(t, err)
	pairs := map[string]bool{}
	for _, p := range programs {
		needs := func(f suite.Finding) bool { return f.Needs == suite.Accesses }
		if p.Needs == suite.Accesses || slices.ContainsFunc(p.Findings, needs) {
			pairs[p.Pair] = true
		}
	}
	require.NotEmpty(t, pairs)
	return func(p *suite.Program) bool { return pairs[p.Pair] }
}

// hasCompiler returns true if the compiler for a program is installed.
func hasCompiler(p *suite.Program) bool {
	if filepath.Ext(p.Path) != ".F90" {
		return true
	}
	_, err := exec.LookPath("gfortran")
	return err == nil
}

// requireFindings checks that --check reports exactly the findings that the program's first comment lists.
func requireFindings(t *testing.T, p *suite.Program, program string, front ...string) {
	t.Helper()
	var want []string
	for _, f := range p.Findings {
		want = append(want, findingText(f.Kind, f.Lines))
	}
	found, out := runChecked(t, p, program, front...)
	require.ElementsMatch(t, want, found, out)
}

// TestCheckThreads checks that --check orders the accesses of threads of one rank only by their synchronization, not by
// their order in time. So every run has the same findings, also on a single core.
func TestCheckThreads(t *testing.T) {
	recompiled := needsRecompiling(t)
	selected := func(p *suite.Program) bool { return hasThreads(p) && hasCompiler(p) }
	eachProgram(t, selected, func(t *testing.T, p *suite.Program) {
		var flags []string
		if recompiled(p) {
			flags = []string{"--check"}
		}
		program := checkProgram(t, p, flags...)
		requireFindings(t, p, program)
		requireFindings(t, p, program, "taskset", "-c", oneCore(t))
	})
}

const checkedProgram = `
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, value = 1, memory[4];
	MPI_Win win;
	MPI_Comm kept;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "halo");
	MPI_Win_fence(0, win);
	if (argc == 1 || rank == 0)
		MPI_Put(&value, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	if (argc == 1)
		MPI_Comm_dup(MPI_COMM_WORLD, &kept);
	MPI_Finalize();
	return argc > 2 ? 7 : 0;
}
`

// TestCheckReportsOnce checks that each finding is reported once, with both source lines. The exit status is that of
// --check unless another error has determined it.
func TestCheckReportsOnce(t *testing.T) {
	program := compile(t, checkedProgram)
	l := prepare(t, "-n", "2", "--check", program)
	require.Equal(t, 3, l.run(t))
	require.Equal(t, `gompirun: --check: 1: race: window 'halo', memory of rank 1, 4 bytes at offset 8
    rank 0: MPI_Put at program.c:14 writes the target's memory, in a fence epoch
    rank 1: MPI_Put at program.c:14 writes the target's memory, in a fence epoch
`, strings.Join(strings.SplitAfter(withRanksInOrder(l.Err.String()), "\n")[:3], ""))
	// Both ranks leak a communicator, at different addresses but at the same location in the source.
	require.Equal(t, 1, strings.Count(l.Err.String(), "--check: 2: leak: communicator is never freed\n"),
		l.Err.String())
	require.Equal(t, 2, strings.Count(l.Err.String(), "--check: "), l.Err.String())
	l = prepare(t, "-n", "2", "--check", program, "clean")
	require.Equal(t, 0, l.run(t))
	require.Empty(t, l.Err.String())
	l = prepare(t, "-q", "-n", "2", "--check", program, "clean", "fails")
	require.Equal(t, 7, l.run(t))
}

// withRanksInOrder puts the line of rank 0 before the line of rank 1, because their order varies between runs.
func withRanksInOrder(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > 2 && strings.Contains(lines[1], "rank 1") {
		lines[1], lines[2] = lines[2], lines[1]
	}
	return strings.Join(lines, "")
}

// TestCheckFile checks that gompirun fails if it cannot write the file of --check, and that it rejects invalid options.
func TestCheckFile(t *testing.T) {
	program := compile(t, checkedProgram)
	l := prepare(t, "-n", "2", "--check=/nonexistent/file", program, "clean")
	require.NotZero(t, l.run(t))
	require.Contains(t, l.Err.String(), "/nonexistent/file")
	l = prepare(t, "-n", "2", "--check=", program)
	require.Equal(t, 2, l.run(t))
}
