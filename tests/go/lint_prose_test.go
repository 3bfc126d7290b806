package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// proseDirs lists the directories and documents that TestLintProse checks, including subdirectories. The environment
// variable GOMPIRMA_PROSE lists additional ones, separated by colons.
var proseDirs = append(filepath.SplitList(os.Getenv("GOMPIRMA_PROSE")), "docs/RATIONALE.md",
	"README.md", "capi", "core", "cmd", "tests", "bench", "fortran", "docs")

var (
	riddle = regexp.MustCompile(`^(Who|Whoever|Whichever|What (is|was|has|had|are|were)|Nobody|Somebody)\b`)
	slang  = regexp.MustCompile(`(?i)\b(so many|so much|in vain|for good|of late|by turns)\b|\bThe same, but\b`)
	// A line of a comment without its markers.
	marker   = regexp.MustCompile(`^\s*(?:/\*+|//|\*/|\*(?:\s|$))?\s?(.*?)\s*(?:\*/)?\s*$`)
	itemMark = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s`)
	// The end of a sentence, with closing punctuation.
	sentenceEnd = regexp.MustCompile(`[.!?][)"'` + "`" + `]*(?:\s+|$)`)
	abbreviated = regexp.MustCompile(`(?:\b(?:e\.g|i\.e|etc|vs|cf|[A-Z])|\.\.)\.$`)
	beginning   = regexp.MustCompile(`^(?:[A-Z0-9"'(` + "`" + `]|[a-z]+_)`)
	// A C function definition or prototype that begins in the first column.
	cDefinition  = regexp.MustCompile(`^(?:[A-Za-z_][\w ]*[ *]+)(\w+)\(`)
	goDefinition = regexp.MustCompile(`^func (?:\([^)]*\) )?(\w+)`)
	partEnd      = regexp.MustCompile(`[;:]\s`)
	// A blank line, indented text, a line of a table, a heading, a rule.
	notProse = regexp.MustCompile(`^(?:\s*$|    |\t|\s*\||#|---)`)
	preamble = regexp.MustCompile(`(?s)/\*[^*]*(?:\*[^/][^*]*)*\*/\nimport "C"`)
	// The last line of a C block comment that begins in the first column.
	inBlock     = regexp.MustCompile(`^(?:/\*| \*).*\*/$`)
	directive   = regexp.MustCompile(`^//(?:go:|export )`)
	thirdPerson = regexp.MustCompile(`^[A-Z][a-z]+s\b`)
)

const longestSentence = 35 // words

// sentence is a sentence of a text, with the line on which it begins.
type sentence struct {
	line int
	text string
}

// sentences returns the sentences of a file. A sentence also ends at a blank line, a list item, a table and indented
// text. A comment after code on the same line is a sentence of its own.
func sentences(file, content string) (found []sentence) {
	content = preamble.ReplaceAllStringFunc(content, func(m string) string { // C, not text
		return strings.Repeat("\n", strings.Count(m, "\n"))
	})
	prose, code := splitComments(file, content)
	codeLines := strings.Split(code, "\n")
	var text string
	begin := 0
	flush := func() {
		for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
			end := len(text)
			for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
				rest := text[m[1]:]
				if abbreviated.MatchString(text[:m[0]+1]) && rest != "" {
					continue
				}
				if rest == "" || beginning.MatchString(rest) {
					end = m[1]
					break
				}
			}
			found = append(found, sentence{begin, strings.TrimSpace(text[:end])})
			text = text[end:]
		}
		text = ""
	}
	for i, line := range strings.Split(prose, "\n") {
		body := line
		if filepath.Ext(file) != ".md" {
			body = marker.FindStringSubmatch(line)[1]
			if strings.HasPrefix(line, "//\t") {
				body = "" // a table or code
			}
			behindCode := strings.TrimSpace(codeLines[i]) != ""
			if behindCode || i > 0 && strings.TrimSpace(codeLines[i-1]) != "" {
				flush()
			}
		}
		switch {
		case notProse.MatchString(body):
			flush()
			continue
		case itemMark.MatchString(body):
			flush()
			body = itemMark.ReplaceAllString(body, "")
		}
		if text == "" {
			begin = i + 1
		}
		text += " " + body
	}
	flush()
	return found
}

// proseErrors returns the violations of the prose rules in a file. The text of each violation begins with the line
// number.
func proseErrors(file, content string) (found []string) {
	add := func(line int, format string, args ...any) {
		found = append(found, fmt.Sprintf("%d: ", line)+fmt.Sprintf(format, args...))
	}
	for _, s := range sentences(file, content) {
		if riddle.MatchString(s.text) {
			add(s.line, "begins with a clause as its subject: %s", s.text)
		}
		for _, part := range partEnd.Split(s.text, -1) {
			if words := len(strings.Fields(part)); words > longestSentence {
				add(s.line, "has %d words, the limit is %d: %s", words, longestSentence, part)
			}
		}
		if word := slang.FindString(s.text); word != "" {
			add(s.line, "%q is not plain: %s", word, s.text)
		}
	}
	return append(found, functionComments(file, content)...)
}

// functionComments returns the comments above functions that do not begin with the function's name or a verb in the
// third person.
func functionComments(file, content string) (found []string) {
	function := cDefinition
	switch filepath.Ext(file) {
	case ".go":
		function = goDefinition
	case ".c", ".h", ".cc":
	default:
		return nil
	}
	lines := strings.Split(content, "\n")
	for i := 1; i < len(lines); i++ {
		m := function.FindStringSubmatch(lines[i])
		if m == nil || m[1] == "__attribute__" || strings.Contains(strings.Split(lines[i], "(")[0], "=") {
			continue
		}
		begin := i
		if strings.HasPrefix(lines[i-1], "//") {
			for begin > 0 && strings.HasPrefix(lines[begin-1], "//") {
				begin--
			}
		} else if inBlock.MatchString(lines[i-1]) {
			for begin--; begin > 0 && !strings.HasPrefix(lines[begin], "/*"); {
				begin--
			}
		}
		if begin == i || directive.MatchString(lines[begin]) {
			continue
		}
		first := marker.FindStringSubmatch(lines[begin])[1]
		if strings.HasPrefix(first, "---") || strings.HasPrefix(first, m[1]) || thirdPerson.MatchString(first) {
			continue
		}
		found = append(found, fmt.Sprintf("%d: the comment of %s begins neither with its name nor with "+
			"a verb in the third person: %s", begin+1, m[1], first))
	}
	return found
}

// TestLintProse checks the prose rules that a program can check, in the text of proseDirs.
func TestLintProse(t *testing.T) {
	eachTextFile(t, func(file, content string) {
		covered := slices.ContainsFunc(proseDirs, func(dir string) bool {
			return file == dir || strings.HasPrefix(file, dir+"/")
		})
		if !covered || generatedFile(file) {
			return
		}
		for _, e := range proseErrors(file, content) {
			t.Errorf("%s:%s", file, e)
		}
	})
}

// TestLintProseFinds checks which text the prose rules reject and permit.
func TestLintProseFinds(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("word ", longestSentence), " ")
	for _, c := range []struct {
		file, content string
		errors        int
	}{
		{"a.c", "// Who wakes others has no barrier.\nint a;\n", 1},
		{"a.c", "// The queue is full. What is more goes in pieces.\nint a;\n", 1},
		{"a.c", "// It waits in vain.\nint a;\n", 1},
		{"a.c", "// " + long + " more.\nint a;\n", 1},
		{"a.c", "// " + long + ".\n//\n// " + long + ".\nint a;\n", 0},
		{"a.c", "// One item:\n// - " + long + "\n// - " + long + "\nint a;\n", 0},
		{"a.c", "// True if that was all.\nstatic bool take(int i) {\n", 1},
		{"a.c", "// Returns true after the last one.\nstatic bool take(int i) {\n", 0},
		{"a.c", "/* Returns true after\n * the last one. */\nstatic bool take(int i) {\n", 0},
		{"a.c", "/* The same, but at once. */\nstatic bool take(int i) {\n", 2},
		{"a.c", "// A table.\nstatic const int table[] = {f(1)};\n", 0},
		{"a.go", "package a\n\n// take reads one.\nfunc take() {}\n", 0},
		{"a.go", "package a\n\n// One is read.\nfunc take() {}\n", 1},
		{"a.go", "package a\n\nvar s = \"Who takes so many in vain\"\n", 0},
		{"a.md", "Who reads this?\n\n    Who is there?\n\n| Who |\n", 1},
	} {
		require.Len(t, proseErrors(c.file, c.content), c.errors, "%s", c.content)
	}
}
