package gotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Everything in code spans of docs/ARCHITECTURE.md exists: files and folders where it says, functions and types in the
// sources. The document is short: a map, not a manual.
func TestArchitectureDocument(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(top, "docs/ARCHITECTURE.md"))
	require.NoError(t, err)
	document := string(b)
	require.LessOrEqual(t, strings.Count(document, "\n"), 200)

	defined := map[string]bool{}
	definitions := []*regexp.Regexp{
		regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)[\[(]`), // Go
		regexp.MustCompile(`(?m)^type (\w+) `),
		regexp.MustCompile(`(?m)^(?:[\w ]+? \*?)?\b(\w+)\(`), // C
		regexp.MustCompile(`(?m)^static .*\)\) [\w ]+ \*?(\w+)\(`),
		regexp.MustCompile(`(?m)^(?:static )?(?:const )?struct (\w+) `),
		regexp.MustCompile(`(?m)\benum \{ (\w+) =`),
		regexp.MustCompile(`(?m)^(?:extern |static |const )*struct \w+ (\w+)(?: =|;|\[)`),
	}
	texts(t, func(path, content string) {
		if folder, _, _ := strings.Cut(path, "/"); folder != "core" && folder != "capi" && folder != "cmd" {
			return
		}
		for _, d := range definitions {
			for _, m := range d.FindAllStringSubmatch(content, -1) {
				defined[m[1]] = true
			}
		}
	})

	span := regexp.MustCompile("`([^`]+)`")
	require.Greater(t, len(span.FindAllString(document, -1)), 100)
	heading := regexp.MustCompile("^\\| `(capi/[a-z]+)/`") // of a room, whose files come without it
	room := ""
	for _, line := range strings.Split(document, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			room = m[1]
		} else if !strings.HasPrefix(line, "|") {
			room = ""
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
					require.FileExists(t, filepath.Join(top, room, word), line)
					continue
				}
				require.True(t, defined[last], "%s: nothing is called %s", line, word)
			default:
				require.True(t, defined[word], "%s: nothing is called %s", line, word)
			}
		}
	}
}
