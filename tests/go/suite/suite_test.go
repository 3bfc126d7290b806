package suite

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const folder = "../../c/check"

var (
	call   = regexp.MustCompile(`(?i)\bP?MPI_\w+\(`)
	access = regexp.MustCompile(`=|\+\+|\bprintf\(|\bmem(set|cpy)\(|\bprint \*,`)
	who    = regexp.MustCompile(`if \(rank [=<]=? \d\)`) // removed, because it is no access
	frees  = regexp.MustCompile(`\b(free|munmap|MPI_Free_mem)\(|\bdelete\b|MPI_Win_detach\(`)
)

// TestPrograms checks that the findings of every program are on lines with a call or a memory access.
func TestPrograms(t *testing.T) {
	all, err := Load(folder)
	require.NoError(t, err)
	names, languages := map[string]bool{}, map[string]int{}
	for _, p := range all {
		require.False(t, names[p.Name], "two programs are called %s", p.Name)
		names[p.Name] = true
		languages[filepath.Ext(p.Path)]++
		text, err := os.ReadFile(p.Path)
		require.NoError(t, err)
		require.Contains(t, string(text), "WRONG", p.Path)
		lines := strings.Split(string(text), "\n")
		for _, f := range p.Findings {
			accesses := 0
			for _, n := range f.Lines {
				line := who.ReplaceAllString(lines[n-1], "")
				switch {
				case call.MatchString(line):
				case f.Kind == "memory":
					require.Regexp(t, frees, line, "%s:%d", p.Path, n)
				default:
					require.Regexp(t, access, line, "%s:%d has no call and no access", p.Path, n)
					accesses++
				}
			}
			require.Equal(t, f.Needs == Accesses, accesses > 0, "%s: what %s needs", p.Path, f.Marks)
			for _, window := range f.Windows {
				require.Regexp(t, `MPI_Win_set_name\(\w+, ["']`+window+`["']\)`, string(text), p.Path)
			}
		}
	}
	require.GreaterOrEqual(t, len(all), 150)
	require.GreaterOrEqual(t, languages[".cc"], 15)
	require.GreaterOrEqual(t, languages[".F90"], 15)
	t.Logf("%d programs: %v", len(all), languages)
}

// TestParseRefuses checks that Parse rejects a first comment with unknown contents.
func TestParseRefuses(t *testing.T) {
	const good = "/* clean: A.\n * race: B.\n *\n * np: 3\n * ref: mpich\n" +
		" * find: race window=q target=2 lines=a,b needs=calls\n */\nx; /* @a */\ny; /* @b */\n"
	programs, err := Parse("x/lock.c", good)
	require.NoError(t, err)
	f := Finding{Kind: "race", Needs: Calls, Marks: []string{"a", "b"}, Lines: []int{8, 9},
		Windows: []string{"q"}, Targets: []int{2}, Rank: -1}
	require.Equal(t, []*Program{
		{Path: "x/lock.c", Name: "lock_clean", Pair: "lock", Ranks: 3, Reference: "mpich", Needs: Calls},
		{Path: "x/lock.c", Name: "lock_race", Pair: "lock", Wrong: true, Ranks: 3, Reference: "mpich",
			Needs: Calls, Findings: []Finding{f}},
	}, programs)
	for _, c := range []struct{ old, new, why string }{
		{"clean: ", "", "must describe versions"},
		{"race: B", "B", "must describe versions"},
		{"race: B", "error: B", "are of kind race"},
		{"np: 3", "np: 9", "must be 2, 3 or 4"},
		{"np: 3", "np: x", "invalid syntax"},
		{"ref: mpich", "ref: none", `ref: "none"`},
		{"ref: mpich", "ref: mpich\n * ref race: none", `race: ref: "none"`},
		{"ref: mpich", "ref error: none (x)", "ref error: there is no such version"},
		{"np: 3", "np: 3\n * plain: hangs", `plain: "hangs"`},
		{"np: 3", "np: 3\n * plain:", `plain: ""`},
		{"np: 3", "np: 3\n * np: 2", "np: there are 2 lines"},
		{"find: race", "find race: race", "find race: the line is not for one version"},
		{"race: B", "race: B.\n * error: C", "must describe versions"},
		{"find: race", "finds: race", "no line find"},
		{"race window", "rush window", "no such kind"},
		{"window=q ", "", "window= is missing"},
		{"lines=a,b ", "", "lines= is missing"},
		{"window=q", "window=", `"window=" does not belong`},
		{"window=q", "color=q", `"color=q" does not belong`},
		{"target=2", "target=3", "target=3 with 3 ranks"},
		{"needs=calls", "needs=luck", "needs=luck"},
		{"a,b", "a,c", "marked @c"},
		{"a,b", "a,b,a", "more than two"},
		{"a,b", "a", "marked @b"},
		{"@b", "@a", "two lines"},
		{" */\n", " * find clean: race\n */\n", "find clean: [race]"},
	} {
		_, err := Parse("lock.c", strings.Replace(good, c.old, c.new, 1))
		require.ErrorContains(t, err, c.why, "%q for %q", c.new, c.old)
	}
}
