package gotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documents lists the overviews of the sources, and the maximum number of lines of each.
var documents = map[string]int{"CALLS.md": 300, "ARCHITECTURE.md": 200, "THREADS.md": 150}

func readDocument(t *testing.T, name string) string {
	b, err := os.ReadFile(filepath.Join(top, "docs", name))
	require.NoError(t, err)
	return string(b)
}

// lock matches the declaration of a lock in C or Go.
var lock = regexp.MustCompile(`(?m)^\s*(?:static |var )?(?:_Alignas\(\w+\) )?` +
	`(?:(?:struct gompi_(?:mutex|biased_mutex|combining_lock)|pthread_mutex_t|atomic_flag|gompi_a32) (\w+)[;, =]|` +
	`(\w+) +sync\.(?:RW)?Mutex)`)

// TestArchitectureDocument checks that every name in a code span of the documents exists: files and directories at the
// stated path, functions, types and locks in the sources. The length of the documents is limited, because they must
// stay overviews.
func TestArchitectureDocument(t *testing.T) {
	defined := map[string]bool{}
	definitions := []*regexp.Regexp{
		regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)[\[(]`), // Go
		regexp.MustCompile(`(?m)^type (\w+) `),
		regexp.MustCompile(`(?m)^(?:[\w ]+? \*?)?\b(\w+)\(`), // C
		regexp.MustCompile(`(?m)^(?:static|__attribute__).*\)\) [\w ]+ \*?(\w+)\(`),
		regexp.MustCompile(`(?m)^(?:static )?(?:const )?struct (\w+) `),
		regexp.MustCompile(`(?m)^_Thread_local \w+ (\w+) `),
		regexp.MustCompile(`(?m)\benum \{ (\w+) =`),
		regexp.MustCompile(`(?m)^(?:extern |static |const )*struct \w+ (\w+)(?: =|;|\[)`),
	}
	eachTextFile(t, func(path, content string) {
		if folder, _, _ := strings.Cut(path, "/"); folder != "core" && folder != "capi" && folder != "cmd" ||
			strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, d := range definitions {
			for _, m := range d.FindAllStringSubmatch(content, -1) {
				defined[m[1]] = true
			}
		}
		for _, m := range lock.FindAllStringSubmatch(content, -1) {
			defined[m[1]+m[2]] = true
		}
	})

	for name, most := range documents {
		document := readDocument(t, name)
		require.LessOrEqual(t, strings.Count(document, "\n"), most, name)
		require.Greater(t, strings.Count(document, "`"), 200, name)
		checkNames(t, document, defined)
	}
}

func checkNames(t *testing.T, document string, defined map[string]bool) {
	span := regexp.MustCompile("`([^`]+)`")
	heading := regexp.MustCompile("^\\| `(capi/[a-z]+)/`") // such a row names files without their directory
	dir := ""
	for _, line := range strings.Split(document, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			dir = m[1]
		} else if !strings.HasPrefix(line, "|") {
			dir = ""
		}
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			word := strings.TrimPrefix(m[1], "struct ")
			switch {
			case word == "#include" || strings.HasPrefix(word, "MPI_"):
			case strings.Contains(word, "/"):
				_, err := os.Stat(filepath.Join(top, word))
				require.NoError(t, err, line)
			case strings.Contains(word, "."):
				last := word[strings.LastIndex(word, ".")+1:]
				if last == "c" || last == "h" || last == "go" {
					require.FileExists(t, filepath.Join(top, dir, word), line)
					continue
				}
				require.True(t, defined[last], "%s: nothing is called %s", line, word)
			default:
				require.True(t, defined[word], "%s: nothing is called %s", line, word)
			}
		}
	}
}

// TestThreadsDocument checks that docs/THREADS.md lists every lock of a process in the form `name` (`file`).
func TestThreadsDocument(t *testing.T) {
	document := strings.Join(strings.Fields(readDocument(t, "THREADS.md")), " ")
	found := 0
	eachTextFile(t, func(path, content string) {
		if folder, _, _ := strings.Cut(path, "/"); folder != "core" && folder != "capi" ||
			strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, m := range lock.FindAllStringSubmatch(content, -1) {
			if !strings.Contains(m[0], "gompi_a32") {
				require.Contains(t, document, "`"+m[1]+m[2]+"` (`"+path+"`)")
				found++
			}
		}
	})
	require.GreaterOrEqual(t, found, 60)
}

// TestRationaleOrder checks that each section of docs/RATIONALE.md names an existing directory, and that no section and
// no entry occurs twice.
func TestRationaleOrder(t *testing.T) {
	document := readDocument(t, "RATIONALE.md")
	sections := regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(document, -1)
	require.NotEmpty(t, sections)
	seen := map[string]bool{}
	for _, s := range sections {
		for _, dir := range strings.Split(s[1], ", ") {
			require.DirExists(t, filepath.Join(top, dir))
			require.False(t, seen[dir], "%s has two sections", dir)
			seen[dir] = true
		}
	}
	for _, e := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(document, -1) {
		require.False(t, seen[e[1]], "%s is there twice", e[1])
		seen[e[1]] = true
	}
}
