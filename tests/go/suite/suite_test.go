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
	who    = regexp.MustCompile(`if \(rank [=<]=? \d\)`) // the rank does not distinguish accesses
	frees  = regexp.MustCompile(`\b(free|munmap|MPI_Free_mem)\(|\bdelete\b|MPI_Win_detach\(`)
)

// TestPrograms checks that every program lists its findings, on lines that have a call or an access, and has a
// counterpart.
func TestPrograms(t *testing.T) {
	all, err := Load(folder)
	require.NoError(t, err)
	names, languages, wrong := map[string]bool{}, map[string]int{}, 0
	for _, p := range all {
		require.False(t, names[p.Name], "two programs are called %s", p.Name)
		names[p.Name] = true
		languages[filepath.Ext(p.Path)]++
		text, err := os.ReadFile(p.Path)
		require.NoError(t, err)
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
					require.Regexp(t, access, line, "%s:%d has neither call nor access", p.Path, n)
					accesses++
				}
			}
			require.Equal(t, f.Needs == Accesses, accesses > 0, "%s: what %s needs", p.Path, f.Marks)
			for _, window := range f.Windows {
				require.Regexp(t, `MPI_Win_set_name\(\w+, ["']`+window+`["']\)`, string(text), p.Path)
			}
		}
		if len(p.Findings) > 0 {
			wrong++
		}
	}
	for _, p := range all {
		if len(p.Findings) > 0 {
			require.True(t, names[p.Pair+"_clean"], "%s has no %s_clean", p.Name, p.Pair)
		} else {
			require.True(t, names[p.Pair+"_race"] || names[p.Pair+"_error"], "%s is alone", p.Name)
		}
	}
	require.GreaterOrEqual(t, len(all), 150)
	require.Equal(t, len(all), 2*wrong)
	require.GreaterOrEqual(t, languages[".cc"], 15)
	require.GreaterOrEqual(t, languages[".f90"], 15)
	t.Logf("%d programs: %v", len(all), languages)
}

// TestParseRefuses checks that Parse rejects a header with unknown contents instead of ignoring them.
func TestParseRefuses(t *testing.T) {
	const good = "/* A.\n *\n * np: 3\n * ref: mpich\n" +
		" * find: race window=q target=2 lines=a,b needs=calls\n */\nx; /* @a */\ny; /* @b */\n"
	p, err := Parse("x/lock_race.c", good)
	require.NoError(t, err)
	f := Finding{Kind: "race", Needs: Calls, Marks: []string{"a", "b"}, Lines: []int{7, 8},
		Windows: []string{"q"}, Targets: []int{2}, Rank: -1}
	require.Equal(t, &Program{Path: "x/lock_race.c", Name: "lock_race", Pair: "lock", Ranks: 3,
		Reference: "mpich", Needs: Calls, Findings: []Finding{f}}, p)
	for _, c := range []struct{ path, old, new, why string }{
		{"lock.c", "", "", "must end in"},
		{"lock_clean.c", "", "", "the name says clean"},
		{"lock_error.c", "", "", "the name says error"},
		{"lock_race.c", "np: 3", "np: 9", "must be 2, 3 or 4"},
		{"lock_race.c", "np: 3", "np: x", "invalid syntax"},
		{"lock_race.c", "ref: mpich", "ref: none", `ref: "none"`},
		{"lock_race.c", "ref: mpich", "plain: hangs", "plain: hangs"},
		{"lock_race.c", "find: race", "finds: race", "no line find"},
		{"lock_race.c", "race window", "rush window", "no such kind"},
		{"lock_race.c", "window=q ", "", "window= is missing"},
		{"lock_race.c", "lines=a,b ", "", "lines= is missing"},
		{"lock_race.c", "window=q", "window=", `"window=" does not belong`},
		{"lock_race.c", "window=q", "color=q", `"color=q" does not belong`},
		{"lock_race.c", "target=2", "target=3", "target=3 with 3 ranks"},
		{"lock_race.c", "needs=calls", "needs=luck", "needs=luck"},
		{"lock_race.c", "a,b", "a,c", "marked @c"},
		{"lock_race.c", "a,b", "a,b,a", "more than two"},
		{"lock_race.c", "a,b", "a", "marked @b"},
		{"lock_race.c", "@b", "@a", "two lines"},
		{"lock_race.c", " */\n", " * find: nothing\n */\n", "nothing, and something"},
	} {
		_, err := Parse(c.path, strings.Replace(good, c.old, c.new, 1))
		require.ErrorContains(t, err, c.why, "%s: %q for %q", c.path, c.new, c.old)
	}
}
