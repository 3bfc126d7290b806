package gotest

import (
	"encoding/json"
	"go/format"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers lists the layers of packages, lowest first. A package may import only packages of lower layers. A package that
// is not listed fails the test, so that the author of a new package must choose a layer.
var layers = [][]string{
	{"man/help"},
	{"core/abi", "core/version", "core/limit", "core/stack", "core/lastwords", "core/random", "core/siphash",
		"core/trim", "docs"},
	{"core/handle", "core/mpierr", "core/proc", "core/insight"},
	{"core/comm", "core/group", "core/datatype", "core/op"},
	{"core/shm", "core/boot", "core/boot/pmi1", "core/insight/check"},
	{"core/shm/plain", "core/fabric", "core/p2p"},
	{"core/rma", "core/coll"},
	{"core"},
	{"include"},
	{"capi/base", "capi/pmix"},
	{"capi/net", "capi/attribute", "capi/errors", "capi/environment"},
	{"capi/tcp", "capi/ofi", "capi/ucx"},
	{"capi/fabric"},
	{"capi/group", "capi/info"},
	{"capi/session"},
	{"capi/datatype", "capi/win", "capi/comm"},
	{"capi/message"},
	{"capi/engine", "capi/update", "capi/pack", "capi/runtime"},
	{"capi/transport"},
	{"capi/rma", "capi/coll"},
	{"capi/file"},
	{"capi/tool"},
	{"capi"},
}

// allowedSideways lists the permitted imports between packages of one layer. The reasons: a communicator has a group,
// an operation is defined for datatypes, and core/boot uses the protocol PMI-1.
var allowedSideways = map[string][]string{
	"core/comm":               {"core/group"},
	"core/op":                 {"core/datatype"},
	"core/datatype/reference": {"core/datatype"},
	"core/boot":               {"core/boot/pmi1"},
}

// listedPackage is the output of `go list -json` for a package.
type listedPackage struct {
	ImportPath, Name, Doc string
	Imports               []string
	TestImports           []string
	XTestImports          []string
	GoFiles, CgoFiles     []string
	TestGoFiles           []string
	CgoCFLAGS             []string
}

// packages returns all packages of the module, by their path below the module.
func packages(t *testing.T) map[string]listedPackage {
	cmd := exec.Command("go", "list", "-json", "./...")
	cmd.Dir = top
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	all := map[string]listedPackage{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listedPackage
		require.NoError(t, d.Decode(&p))
		all[strings.TrimPrefix(p.ImportPath, "gompirma/")] = p
	}
	require.NotEmpty(t, all)
	return all
}

// layerOf returns the index of a package's layer, or -1 if the package is not listed. A subdirectory that is not
// listed, such as core/boot/pmi1, belongs to the layer of the package above it.
func layerOf(path string) int {
	for ; path != "."; path = filepath.Dir(path) {
		for i, layer := range layers {
			if slices.Contains(layer, path) {
				return i
			}
		}
		if filepath.Dir(path) == "core" {
			break
		}
	}
	return -1
}

func TestLintImportsGoOneWay(t *testing.T) {
	for path, p := range packages(t) {
		own := func(imports []string) (mine []string) {
			for _, i := range imports {
				if inside, ok := strings.CutPrefix(i, "gompirma/"); ok {
					mine = append(mine, inside)
				}
			}
			return mine
		}
		// Commands, tests, benchmarks and generators may import all packages except capi itself.
		if strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "tests/") ||
			strings.HasPrefix(path, "bench/") || filepath.Base(path) == "gen" {
			for _, i := range own(p.Imports) {
				require.NotEqual(t, "capi", i, "%s imports capi", path)
			}
			continue
		}
		layer := layerOf(path)
		require.GreaterOrEqual(t, layer, 0,
			"package %s has no layer: add it to tests/go/lint_test.go", path)
		for _, i := range own(p.Imports) {
			if slices.Contains(allowedSideways[path], i) || strings.HasPrefix(i, path+"/") &&
				path != "core" {
				continue
			}
			require.Less(t, layerOf(i), layer, "%s must not import %s", path, i)
			require.GreaterOrEqual(t, layerOf(i), 0, "%s imports %s, which has no layer", path, i)
		}
	}
}

// TestLintCoreIsGo checks that packages of core and their tests do not import capi, so that core is built and tested
// without C.
func TestLintCoreIsGo(t *testing.T) {
	n := 0
	for path, p := range packages(t) {
		if path != "core" && !strings.HasPrefix(path, "core/") {
			continue
		}
		n++
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			require.False(t, i == "gompirma/capi" || strings.HasPrefix(i, "gompirma/capi/"),
				"%s imports %s: core and its tests must not import capi", path, i)
		}
	}
	require.Greater(t, n, 20)
}

func TestLintPackages(t *testing.T) {
	all := packages(t)
	for path, p := range all {
		if path == "capi" || strings.HasPrefix(path, "capi/") {
			for _, flag := range []string{"-Wall", "-Wextra", "-Werror"} {
				require.Contains(t, p.CgoCFLAGS, flag, "%s is compiled without %s", path, flag)
			}
			require.NotEmpty(t, p.Doc, "%s has no package comment", path)
			continue
		}
		require.Empty(t, p.CgoFiles, `%s imports "C"; only capi and its packages may`, path)
		if !strings.HasPrefix(path, "tests/") {
			require.NotEmpty(t, p.Doc, "%s has no package comment", path)
		}
	}
}

var included = regexp.MustCompile(`(?m)^#include "([^"]+)"`)

// TestLintPackageImports checks that a package below capi with C code imports exactly the packages whose headers its C
// files include. So Go's import rules also define the layers of the C code. The package must not import core, because a
// change of core would recompile its C code. There are two exceptions: capi/engine, whose C code is only in its Go
// files, and core/stack in capi/runtime.
func TestLintPackageImports(t *testing.T) {
	all := packages(t)
	used := map[string]map[string]bool{} // a package, and the packages whose headers its C files include
	for path := range all {
		if strings.HasPrefix(path, "capi/") {
			used[path] = map[string]bool{path: true}
		}
	}
	require.Greater(t, len(used), 5)
	eachTextFile(t, func(path, content string) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if used[dir] == nil || !strings.HasSuffix(path, ".c") && !strings.HasSuffix(path, ".h") &&
			!strings.HasSuffix(path, ".go") {
			return
		}
		for _, m := range included.FindAllStringSubmatch(content, -1) {
			from, _, found := strings.Cut(m[1], "/")
			if path == "capi/base/abi.h" && strings.HasPrefix(m[1], "mpi") {
				used[dir]["include"] = true
				continue
			}
			require.True(t, found, `%s: #include "%s": packages include "package/file.h"`, path, m[1])
			used[dir]["capi/"+from] = true
		}
	})
	for dir, includes := range used {
		imports := map[string]bool{dir: true}
		for _, i := range all[dir].Imports {
			inside, ok := strings.CutPrefix(i, "gompirma/")
			switch {
			case !ok:
			case strings.HasPrefix(inside, "core/"):
				stack := dir == "capi/runtime" && inside == "core/stack"
				require.True(t, stack || dir == "capi/engine", "%s imports %s", dir, i)
			default:
				imports[inside] = true
			}
		}
		require.Equal(t, imports, includes,
			"%s: expected: packages that it imports; actual: packages whose headers it includes", dir)
	}
}

// TestLintCNames checks the C code of capi: only capi/base/atomics.h names memory orders, a static function or a struct
// name is defined in one file only, and comments do not begin with "Whether".
func TestLintCNames(t *testing.T) {
	order := regexp.MustCompile(`memory_order_|__ATOMIC_|\batomic_(load|store|exchange|fetch|compare)`)
	static := regexp.MustCompile(`(?m)^static (?:inline |__attribute__\(\(\w+\)\) )*[\w ]+?[ *](\w+\()`)
	tag := regexp.MustCompile(`\b((?:struct|enum|union) \w+) \{`)
	whether := regexp.MustCompile(`(?m)^// Whether`)
	first := map[string]string{}
	eachTextFile(t, func(path, content string) {
		if !strings.HasPrefix(path, "capi/") || generatedFile(path) ||
			!strings.HasSuffix(path, ".c") && !strings.HasSuffix(path, ".h") {
			return
		}
		// Two files are exempt. capi/access/calls.c has functions that the compiler calls in place of a
		// program's atomics, so they use the program's memory orders.
		if path != "capi/base/atomics.h" && path != "capi/access/calls.c" {
			require.Empty(t, order.FindString(content),
				"%s: use the names of memory orders in capi/base/atomics.h", path)
		}
		require.Empty(t, whether.FindString(content), "%s: begin comments with Returns, not Whether", path)
		names := append(static.FindAllStringSubmatch(content, -1), tag.FindAllStringSubmatch(content, -1)...)
		for _, m := range names {
			if m[1] == "__attribute__(" { // the name follows
				continue
			}
			if other := first[m[1]]; other != "" && other != path {
				require.Fail(t, "the name is not unique", "%s is in %s and in %s", m[1], other, path)
			}
			first[m[1]] = path
		}
	})
	require.Greater(t, len(first), 100)
}

// TestLintMemcpy checks that only the functions that capi/datatype/memory.h lists copy application memory, so that
// support for another kind of memory needs changes in one place. In the packages that call these functions, memcpy may
// copy only structures of the library: its length must contain sizeof.
func TestLintMemcpy(t *testing.T) {
	copying := regexp.MustCompile(`^capi/(coll|message|rma|transport|update)/.*\.[ch]$`)
	copies, n := regexp.MustCompile(`mem(?:cpy|move)\([^;]*`), 0
	eachTextFile(t, func(path, content string) {
		if !copying.MatchString(path) {
			return
		}
		for _, call := range copies.FindAllString(content, -1) {
			require.Contains(t, call, "sizeof", "%s: see capi/datatype/memory.h", path)
			n++
		}
	})
	require.Greater(t, n, 10)
}

// eachTextFile calls the function `do` for every text file of the project, with its path (separated by slashes) and its
// content.
func eachTextFile(t *testing.T, do func(path, content string)) {
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if strings.HasPrefix(name, "build") || name == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil && !strings.Contains(string(content[:min(len(content), 8000)]), "\x00") {
			do(name, string(content))
		}
		return err
	})
	require.NoError(t, err)
}

func TestLintFileLocations(t *testing.T) {
	generated := regexp.MustCompile(`(?m)^.{0,4}Code generated by .* DO NOT EDIT\.`)
	eachTextFile(t, func(path, content string) {
		folder, _, _ := strings.Cut(path, "/")
		base, ext := filepath.Base(path), filepath.Ext(path)
		switch ext {
		case ".c", ".h", ".S", ".cc", ".cpp":
			require.Contains(t, []string{"capi", "include", "tests", "examples", "bench", "fortran", "man"},
				folder, "C code in %s", path)
			fallthrough
		case ".go", ".map", ".f90", ".F90":
			head := content[:min(len(content), 2000)]
			is := generated.MatchString(head)
			marked := strings.HasPrefix(base, "z") || strings.Contains(path, "/generated/")
			if marked {
				require.True(t, is, "%s is where generated files are, but has no `Code generated by "+
					"... DO NOT EDIT.` line", path)
			}
			require.True(t, is || ext == ".go" || filepath.Dir(path) != "capi",
				"%s: put hand-written C in a directory of capi", path)
			if is && folder != "include" && base != "mpif.h" { // the names of public header files are fixed
				require.True(t, marked, "%s is generated: its directory must be named generated, or "+
					"its name begin with z", path)
			}
		}
	})
}

func TestLintFormatted(t *testing.T) {
	eachTextFile(t, func(path, content string) {
		if filepath.Ext(path) != ".go" {
			return
		}
		want, err := format.Source([]byte(content))
		require.NoError(t, err, path)
		require.True(t, string(want) == content, "%s is not gofmt-ed: make fmt", path)
	})
}

// generatedFile reports whether a file is generated. include/ counts as generated.
func generatedFile(path string) bool {
	return strings.HasPrefix(filepath.Base(path), "z") || strings.Contains(path, "/generated/") ||
		strings.HasPrefix(path, "include/") ||
		path == "fortran/mpif.h" || path == "fortran/i8/mpif.h"
}

// columns returns the width of a line in columns. A tab extends to the next multiple of eight.
func columns(line string) int {
	n := 0
	for _, r := range line {
		n++
		if r == '\t' {
			n = (n + 7) / 8 * 8
		}
	}
	return n
}

// rawStrings returns the line numbers, from 1, of a Go file's lines that contain a part of a raw string.
func rawStrings(content string) map[int]bool {
	lines := map[int]bool{}
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, []byte(content), nil, 0)
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.STRING && text[0] == '`' {
			for i := range strings.Count(text, "\n") + 1 {
				lines[file.Line(at)+i] = true
			}
		}
	}
}

// codeAndTables returns the line numbers, from 1, of a Markdown file's lines that cannot be wrapped: rows of tables,
// and code. Code is indented by four columns and follows an empty line or other code. In a list, such lines belong to
// an item and are not code.
func codeAndTables(content string) map[int]bool {
	lines := map[int]bool{}
	item := regexp.MustCompile(`^ {0,3}([-*+]|[0-9]+[.)]) `)
	list, code, empty := false, false, true
	for i, line := range strings.Split(content, "\n") {
		if strings.TrimSpace(line) == "" {
			empty = true
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		list = item.MatchString(line) || list && (indented || !empty)
		code = indented && !list && (empty || code)
		lines[i+1] = code || strings.HasPrefix(line, "|")
		empty = strings.HasPrefix(line, "#") // code may follow a heading directly
	}
	return lines
}

// tooLong returns the line numbers, from 1, of the lines that exceed 120 columns although they could be wrapped.
func tooLong(path, content string) []int {
	address := regexp.MustCompile(`https?://[^\s)>"]+`)
	var excepted map[int]bool
	switch filepath.Ext(path) {
	case ".go":
		excepted = rawStrings(content)
	case ".md":
		excepted = codeAndTables(content)
	}
	var lines []int
	for i, line := range strings.Split(content, "\n") {
		if !excepted[i+1] && columns(address.ReplaceAllString(line, "")) > 120 {
			lines = append(lines, i+1)
		}
	}
	return lines
}

func TestLintColumns(t *testing.T) {
	eachTextFile(t, func(path, content string) {
		switch filepath.Ext(path) {
		case ".go", ".c", ".cc", ".h", ".md":
			if generatedFile(path) {
				return
			}
			for _, line := range tooLong(path, content) {
				t.Errorf("%s:%d is longer than 120 columns", path, line)
			}
		}
	})
}

// TestLintColumnsExcepts checks that tooLong permits long lines only if they cannot be wrapped.
func TestLintColumnsExcepts(t *testing.T) {
	long := strings.Repeat("word ", 24) + "w" // 121 columns
	for _, c := range []struct {
		path, content string
		lines         []int
	}{
		{"a.c", long[1:] + "\n" + long + "\n\t" + long[9:] + "\n\t" + long[8:], []int{2, 4}},
		{"a.c", "//     \t" + long[8:] + "\nä" + long[2:], []int{1}},
		{"a.h", "// see https://x.org/" + strings.ReplaceAll(long, " ", "/") + "\n// https://x.org/a " + long,
			[]int{2}},
		{"a.go", "var a = `" + long + "\n" + long + "`\nvar b = \"" + long + "\" // `" + long + "`", []int{3}},
		{"a.md", "| " + long + " |\n" + long + "\n    " + long + "\n\n    " + long + "\n    " + long,
			[]int{2, 3}},
		{"a.md", "- a\n    " + long + "\n\n    " + long + "\n\nb\n\n    " + long, []int{2, 4}},
		{"a.md", "## a\n    " + long, nil},
	} {
		require.Equal(t, c.lines, tooLong(c.path, c.content), c.path)
	}
}

func TestLintRefusedPatterns(t *testing.T) {
	refused := []struct {
		pattern *regexp.Regexp
		in      func(path string) bool
		why     string
	}{
		{regexp.MustCompile(`/(home|root)` + `/\w`), func(string) bool { return true },
			"a path of one machine"},
		{regexp.MustCompile(`\btime\.Sleep\(`), func(path string) bool {
			return (strings.HasPrefix(path, "core/") || strings.HasPrefix(path, "capi/")) &&
				strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
		}, "sleeping is no synchronization; wait on a word or a channel"},
		{regexp.MustCompile(`(?m)^[^/\n"]*\bvolatile\b[^(\n]*$`), func(path string) bool {
			return strings.HasPrefix(path, "capi/") && !strings.HasSuffix(path, ".go")
		}, "volatile is no synchronization; use _Atomic"},
	}
	eachTextFile(t, func(path, content string) {
		for _, r := range refused {
			if r.in(path) {
				require.Empty(t, r.pattern.FindString(content), "%s: %s", path, r.why)
			}
		}
	})
}

func TestLintDependencies(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(top, "go.mod"))
	require.NoError(t, err)
	for _, line := range strings.Split(string(content), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 2 && strings.Contains(fields[0], ".") {
			require.Contains(t, []string{"golang.org/x/sys", "github.com/stretchr/testify",
				"github.com/pmezard/go-difflib"}, fields[0], "go.mod")
		}
	}
}
