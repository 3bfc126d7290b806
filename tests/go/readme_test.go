package gotest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeProgram checks that the first program of README.md prints what README.md shows, with its ranks in any
// order.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(top, "README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```c\n")
	require.True(t, found)
	source, rest, _ := strings.Cut(rest, "```\n")
	_, rest, found = strings.Cut(rest, "    $ gompirun -n 4 ./ring\n")
	require.True(t, found)
	var shown []string
	for line := range strings.Lines(rest) {
		text, ok := strings.CutPrefix(line, "    ")
		if !ok {
			break
		}
		shown = append(shown, text)
	}
	status, out, errors := gompirun(t, "-n", "4", compile(t, source))
	require.Zero(t, status, errors)
	printed := strings.SplitAfter(strings.TrimSuffix(out, "\n"), "\n")
	printed[len(printed)-1] += "\n"
	slices.Sort(printed)
	require.Equal(t, shown, printed)
}

// TestDocumentsIndex checks that docs/README.md links to each document.
func TestDocumentsIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(top, "docs/README.md"))
	require.NoError(t, err)
	documents, err := filepath.Glob(filepath.Join(top, "docs/*.md"))
	require.NoError(t, err)
	require.Greater(t, len(documents), 10)
	for _, path := range documents {
		if name := filepath.Base(path); name != "README.md" {
			require.Contains(t, string(index), "("+name+")", "docs/README.md does not link to %s", name)
		}
	}
}
