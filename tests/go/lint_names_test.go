package gotest

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// foreignNames lists, by origin, names that comments and documents may use although the tree does not define them.
var foreignNames = map[string]string{
	"the kernel's, the C library's, the linker's": "__wrap_X _FORTIFY_SOURCE FUTEX_PRIVATE " +
		"SHM_NORESERVE futex_wait futex_wake posix_spawn remap_file_pages " +
		"STT_GNU_IFUNC init_array tcp_rmem tcp_wmem",
	"C's, Go's, Fortran's": "seq_cst _cgo_export.h x_cgo_mmap CGO_LDFLAGS_ALLOW overrideWrite " +
		"ISO_Fortran_binding.h SELECTED_INT_KIND SELECTED_REAL_KIND AddressSanitizer",
	"DWARF's": "DW_EH_PE_ DW_CFA_advance_loc DW_CFA_offset DW_CFA_restore DW_CFA_nop DW_CFA_offset_extended " +
		"DW_CFA_remember_state DW_CFA_def_cfa DW_CFA_def_cfa_expression DW_CFA_expression " +
		"DW_CFA_val_expression DW_CFA_val_offset DW_CFA_GNU_args_size",
	"CMake's, other MPIs'": "DMPIEXEC_EXECUTABLE FindMPI PRTE_MCA_ PMIx_Spawn",
	"one of many, or any": "MPI_Foo_bar gompi_foo_bar gompi_x MPI_ERR_X MPI_R ompi_N.c " +
		"mpich_N.c mpi_TYPEn_supported app.c halo.c FILE.md DIR/program.txt",
}

// span is the range of bytes from begin to end - 1 of a text.
type span struct{ begin, end int }

// blankOut returns a text in which blanks replace the ranges `spans`, so that all other characters keep their
// positions.
func blankOut(text string, spans []span) string {
	out := []byte(text)
	for _, s := range spans {
		for i := s.begin; i < s.end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return string(out)
}

// splitComments splits a file into prose and code. Prose has blanks in place of code, and code has blanks in place of
// prose. The prose of a source file is its comments; a document has only prose.
func splitComments(file, content string) (prose, code string) {
	var comments []span
	switch filepath.Ext(file) {
	case ".md":
		return content, ""
	case ".go":
		comments = goComments(content)
	case ".c", ".h", ".cc":
		comments = cComments(content)
	default:
		return "", content
	}
	var others []span
	at := 0
	for _, c := range comments {
		others = append(others, span{at, c.begin})
		at = c.end
	}
	return blankOut(content, append(others, span{at, len(content)})), blankOut(content, comments)
}

func goComments(content string) (spans []span) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, []byte(content), nil, scanner.ScanComments)
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			return spans
		}
		if begin := file.Offset(at); kind == token.COMMENT {
			spans = append(spans, span{begin, begin + len(text)})
		}
	}
}

// cToken matches a string literal, a character literal or a comment of C.
var cToken = regexp.MustCompile(`(?s)"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*.*?\*/`)

func cComments(content string) (spans []span) {
	for _, m := range cToken.FindAllStringIndex(content, -1) {
		if content[m[0]] == '/' {
			spans = append(spans, span{m[0], m[1]})
		}
	}
	return spans
}

// identifiers holds the names that the tree defines and that a comment may use.
type identifiers struct {
	files    map[string]bool            // by path and by each suffix of it, such as shm/layout.go and layout.go
	words    map[string]bool            // words of code and strings, and file names without extension
	ends     map[string]bool            // suffixes of words that begin with MPI_, such as lock_all and RMA_SYNC
	packages map[string]map[string]bool // declared names by Go package, methods and fields included
}

func newTree() *identifiers {
	return &identifiers{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}}
}

var word = regexp.MustCompile(`[A-Za-z_]\w*`)

// variants matches the line "args:" in the first comment of a C test. Comments may use the arguments of the test as
// names.
var variants = regexp.MustCompile(`(?m)^ \* args: .*$`)

func (k *identifiers) add(t *testing.T, name, content string) {
	for end, found := name, true; found; _, end, found = strings.Cut(end, "/") {
		k.files[end] = true
	}
	base, _, _ := strings.Cut(path.Base(name), ".")
	_, code := splitComments(name, content)
	for _, text := range append(variants.FindAllString(content, -1), base, code) {
		for _, w := range word.FindAllString(text, -1) {
			k.words[w] = true
			for end, found := w, strings.HasPrefix(w, "MPI_"); found; {
				_, end, found = strings.Cut(end, "_")
				k.ends[end] = true
			}
		}
	}
	if path.Ext(name) == ".go" {
		k.declare(t, name, content)
	}
}

// declare adds the names that a Go file declares to k.packages.
func (k *identifiers) declare(t *testing.T, name, content string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
	require.NoError(t, err)
	names := k.packages[file.Name.Name]
	if names == nil {
		names = map[string]bool{}
		k.packages[file.Name.Name] = names
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
			return false
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.Field:
			for _, f := range n.Names {
				names[f.Name] = true
			}
		case *ast.ValueSpec:
			for _, v := range n.Names {
				names[v.Name] = true
			}
		}
		return true
	})
}

var (
	elsewhere = regexp.MustCompile(`https?://\S+|<[\w./]+>|\]\(#[^)]*\)`) // URL, system header, inner link
	fileName  = regexp.MustCompile(`[\w./*-]*[\w*]\.(?:c|h|go|S|sh|cc|F90|f90|inc|txt|md)\b`)
	ofPackage = regexp.MustCompile(`\b([a-z]\w*)\.(?:\(\*(\w+)\)\.)?([A-Z]\w*)`)
	inner     = regexp.MustCompile(`^[a-z]+[A-Z]|^[A-Z][a-z0-9]+[A-Z]`) // nodeOf, DataPath
)

// missing calls the function `report`, with the line number, for each name in a text that the tree does not define. A
// name is a file name, a member of a Go package, or a word with an underscore, an inner capital or a trailing (). A
// name that ends in an underscore or a star stands for all names with this prefix. A name may also be the part of an
// MPI name after MPI_.
func (k *identifiers) missing(file, text string, report func(name string, line int)) {
	found := func(at int, name string) { report(name, 1+strings.Count(text[:at], "\n")) }
	spans := func(all [][]int) (list []span) {
		for _, m := range all {
			list = append(list, span{m[0], m[1]})
		}
		return list
	}
	text = blankOut(text, spans(elsewhere.FindAllStringIndex(text, -1)))
	names := fileName.FindAllStringIndex(text, -1)
	for _, m := range names {
		if name := text[m[0]:m[1]]; !k.file(name) && !k.file(path.Join(path.Dir(file), name)) {
			found(m[0], name)
		}
	}
	text = blankOut(text, spans(names))
	for _, m := range ofPackage.FindAllStringSubmatchIndex(text, -1) {
		has := k.packages[text[m[2]:m[3]]]
		prefix := text[m[1]-1] == '_'
		if has != nil && !prefix && (!has[text[m[6]:m[7]]] || m[4] >= 0 && !has[text[m[4]:m[5]]]) {
			found(m[0], text[m[0]:m[1]])
		}
	}
	for _, m := range word.FindAllStringIndex(text, -1) {
		name, behind := text[m[0]:m[1]], text[m[1]:]
		plain := strings.TrimLeft(name, "_")
		if !strings.Contains(plain, "_") && !inner.MatchString(plain) && !strings.HasPrefix(behind, "()") {
			continue
		}
		if k.words[name] || k.ends[plain] || (strings.HasSuffix(name, "_") || strings.HasPrefix(behind, "*")) &&
			k.begins(name) {
			continue
		}
		found(m[0], name)
	}
}

// file reports whether the tree has a file of that name, or a file that matches the name as a pattern.
func (k *identifiers) file(name string) bool {
	if name = path.Clean(name); k.files[name] || !strings.Contains(name, "*") {
		return k.files[name]
	}
	for file := range k.files {
		if ok, _ := path.Match(name, file); ok {
			return true
		}
	}
	return false
}

// begins reports whether a word of the tree begins with the given prefix.
func (k *identifiers) begins(prefix string) bool {
	for w := range k.words {
		if strings.HasPrefix(w, prefix) {
			return true
		}
	}
	return false
}

// TestLintNames checks that the names in comments and documents exist.
func TestLintNames(t *testing.T) {
	k, here := newTree(), "tests/go/lint_names_test.go"
	foreign := map[string]bool{}
	for _, names := range foreignNames {
		for _, name := range strings.Fields(names) {
			foreign[name] = false
		}
	}
	eachTextFile(t, func(file, content string) {
		if strings.HasPrefix(file, "man/") && strings.HasSuffix(file, ".txt") {
			content = "" // text for users, not code
		}
		if file != here { // its strings contain names that do not exist
			k.add(t, file, content)
		}
	})
	eachTextFile(t, func(file, content string) {
		prose, _ := splitComments(file, content)
		k.missing(file, prose, func(name string, line int) {
			if _, ok := foreign[name]; ok {
				foreign[name] = true
			} else if file != here {
				t.Errorf("%s:%d names %s, which does not exist", file, line, name)
			}
		})
	})
	for name, used := range foreign {
		require.True(t, used, "no comment names %s: remove it from foreignNames", name)
	}
}

// TestLintNamesFinds checks that missing recognizes names and reports their lines.
func TestLintNamesFinds(t *testing.T) {
	k := newTree()
	k.add(t, "core/shm/node.go", "package shm\n\ntype Node struct{ Size int }\n\nfunc (n *Node) Leave() {}\n"+
		"func cellOf() {}\n")
	k.add(t, "capi/base/wait.c", "int gompi_await(void) { return sleep_on(); } // gompi_gone\n")
	for _, c := range []struct {
		file, content string
		names         []string
	}{
		{"a.c", "/* wait.c, base/wait.c, capi/base/w*.c */ // capi/wait.c, w*.h\n",
			[]string{"capi/wait.c", "w*.h"}},
		{"capi/base/a.h", "// wait.c ../base/wait.c ../rma/wait.c https://x.org/a_b.c <sys/mman.h>",
			[]string{"../rma/wait.c"}},
		{"a.c", "f_g(\"// a_b\"); // gompi_await, gompi_gone, gompi_*, gomp_a*, sleep_, slip_",
			[]string{"gompi_gone", "gomp_a", "slip_"}},
		{"a.go", "package a // shm.Node, shm.(*Node).Leave, shm.Leave, node.Leave\n" +
			"// shm.Gone, shm.(*Gone).Leave, shm.(*Node).Gone\nvar s = `// a_b`\n",
			[]string{"shm.Gone", "shm.(*Gone).Leave", "shm.(*Node).Gone"}},
		{"a.go", "package a // cellOf, sleep_on(), nodeOf, sleep(), fork(2), MPI\n",
			[]string{"nodeOf", "sleep"}},
		{"a.md", "`gompi_await` a_b\n", []string{"a_b"}},
		{"a.txt", "a_b\n", nil},
	} {
		prose, _ := splitComments(c.file, c.content)
		var names []string
		k.missing(c.file, prose, func(name string, line int) { names = append(names, name) })
		slices.Sort(names)
		slices.Sort(c.names)
		require.Equal(t, c.names, names, c.content)
	}
}
