package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// hasOwnTarget matches packages whose tests need hosts or a browser (`make test-cluster`, `make test-browser`).
var hasOwnTarget = regexp.MustCompile(`^(tests/cluster|cmd/internal/report/browser)$`)

// packagesWith returns the directories that have a Go test whose name matches `pattern`. The paths are relative to the
// current directory.
func packagesWith(pattern string) ([]string, error) {
	name, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	files, err := git("ls-files", "--", "*_test.go")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, file := range strings.Fields(string(files)) {
		folder := filepath.Dir(file)
		if found[folder] || hasOwnTarget.MatchString(folder) {
			continue
		}
		tests, err := testFunctions(file)
		if err != nil {
			return nil, err
		}
		for _, t := range tests {
			if name.MatchString(t.name) {
				found[folder] = true
			}
		}
	}
	return sortedKeys(found), nil
}

// function is a test function with its first and last line.
type function struct {
	name        string
	first, last int
}

// testFunctions returns the test functions of a file, or none if the file does not exist.
func testFunctions(file string) ([]function, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var tests []function
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			first, last := fset.Position(f.Pos()).Line, fset.Position(f.End()).Line
			tests = append(tests, function{f.Name.Name, first, last})
		}
	}
	return tests, nil
}

var (
	diffFile = regexp.MustCompile(`^\+\+\+ b/(.*)$`)
	diffHunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)
	cTest    = regexp.MustCompile(`^tests/c/((?:conformance|litmus|regress|matrix|check|unit)/.*)\.(?:c|cc|F90)$`)
)

// onlyComment matches comment lines, whose changes do not matter. It must not match empty text, because git also
// searches for the pattern after the end of each line.
const onlyComment = `^[[:space:]]*(//|/\*|\*)`

// changedSince returns the tests that differ between a commit and the working tree, apart from comments.
func changedSince(commit string) (selection, error) {
	diff, err := git("diff", "--unified=0", "--no-renames", "-I", onlyComment, commit, "--", "*_test.go", "tests/c")
	if err != nil {
		return selection{}, err
	}
	return changedTests(string(diff), testFunctions)
}

// changedTests returns the tests that a diff without context lines changes. The argument `functions` returns the test
// functions of a file.
func changedTests(diff string, functions func(file string) ([]function, error)) (selection, error) {
	var s selection
	var tests []function // tests of the current file
	seen := map[string]bool{}
	for _, line := range strings.Split(diff, "\n") {
		if m := diffFile.FindStringSubmatch(line); m != nil {
			tests = nil
			file := m[1]
			if c := cTest.FindStringSubmatch(file); c != nil {
				// without groups: a regular expression of ctest has at most nine
				pattern := regexp.QuoteMeta(c[1])
				if strings.HasPrefix(c[1], "check/") {
					pattern += "_[a-z]+"
				}
				s.ctests = append(s.ctests, pattern+`\.`)
			} else if strings.HasSuffix(file, "_test.go") && !hasOwnTarget.MatchString(filepath.Dir(file)) {
				var err error
				if tests, err = functions(file); err != nil {
					return s, err
				}
			}
		}
		m := diffHunk.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		first, _ := strconv.Atoi(m[1])
		count := 1
		if m[2] != "" {
			count, _ = strconv.Atoi(m[2])
		}
		// A hunk that only removes lines has no line in the new file: use the line before it.
		last := first + max(count, 1) - 1
		for _, t := range tests {
			if t.first <= last && first <= t.last && !seen[t.name] {
				seen[t.name] = true
				s.goTests = append(s.goTests, t.name+"$")
			}
		}
	}
	return s, nil
}

func git(args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
