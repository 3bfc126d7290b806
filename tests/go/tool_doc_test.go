package gotest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/docs"
)

// TestToolVariables checks that docs/INSIGHT.md names all performance variables, event types and categories. The
// control variables are generated from docs/VARIABLES.md (core/gen).
func TestToolVariables(t *testing.T) {
	source := func(name string) string {
		b, err := os.ReadFile(filepath.Join(top, name))
		require.NoError(t, err)
		return string(b)
	}
	find := func(pattern, text string) (names []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return names
	}

	_, section, found := strings.Cut(source("docs/INSIGHT.md"), "\n## Tool interface\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	table := source("capi/tool/pvar_table.c")
	names := find(`(?m)^\t(?:\{|LEVEL\(|COUNTER\(|WAIT_TIME\(|FILE_ACCESSES\(|COMM_VALUE\(|PATHS\()"(\w+)"`, table)
	names = append(names, find(`(?m)^\t\{"(\w+)"`, source("capi/tool/event.c"))...)
	names = append(names, find(`OPERATIONS\(name "_(\w+)"`, table)...)
	names = append(names, find(`(?m)^\t\[CATEGORY_\w+\] = \{"(\w+)"`, source("capi/tool/category.c"))...)
	require.Greater(t, len(names), 40)
	for _, name := range names {
		require.Contains(t, section, "`"+name+"`", "docs/INSIGHT.md does not name %s", name)
	}
	listed := find("`([a-z_]+)`", section)
	for _, name := range listed {
		states := []string{"not_started", "running", "finalized", "monotonic_clock",
			"win_put_ring_calls", "rma_put_ring_calls", "win_put_ring_bytes", "rma_put_ring_bytes"}
		require.True(t, slices.Contains(names, name) || slices.Contains(states, name),
			"docs/INSIGHT.md names %s, which does not exist", name)
	}
}

// TestInvalidVariables checks that an invalid value of a control variable raises an error whose text names the
// variable.
func TestInvalidVariables(t *testing.T) {
	t.Parallel()
	program := compile(t, `#include <mpi.h>
		int main(int argc, char **argv)
		{
			void *memory;
			MPI_Win win;
			MPI_Init(&argc, &argv);
			MPI_Win_allocate(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
			MPI_Win_free(&win);
			return MPI_Finalize();
		}`)
	tried := 0
	for _, v := range docs.Variables() {
		if v.Control == "-" || v.Values == "any text" || strings.HasPrefix(v.Values, "set by") {
			continue
		}
		name := strings.Trim(v.Names, "`")
		l := prepare(t, "-n", "2", "--nodes", "2", program)
		l.Cmd.Env = append(l.Cmd.Env, name+"=nonsense")
		require.NotZero(t, l.run(t), name)
		require.Contains(t, l.Err.String(), name)
		tried++
	}
	require.Greater(t, tried, 8)
}
