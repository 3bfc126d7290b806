package abi

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed table/*.txt
var tables embed.FS

// Functions returns every function of the ABI, ordered by chapter and, within a chapter, as in the table. A large-count
// form follows its small form. The result is shared: do not change it.
func Functions() []*Function { return parsed().functions }

// FunctionByName returns the function called name, or nil.
func FunctionByName(name string) *Function { return parsed().byName[name] }

// Chapters returns the titles of the standard's chapters that have functions, by number.
func Chapters() map[int]string { return parsed().chapters }

// Removed returns the functions that MPI-3.0 removed. Since they are not part of the ABI, the library does not export
// them. Instead, the header and the Fortran bindings implement each removed function by the function that replaced it.
// The result is shared: do not change it.
func Removed() []*Function { return parsed().removed }

// RemovedConstants returns the constants that MPI-3.0 removed and that the header and the Fortran bindings still
// define. The result is shared: do not change it.
func RemovedConstants() []*Constant { return parsed().removedConstants }

// Extensions returns the functions that are not part of the ABI and that have Fortran bindings. The result is shared:
// do not change it.
func Extensions() []*Function { return parsed().extensions }

// ExtensionConstants returns the constants of these functions. The result is shared: do not change it.
func ExtensionConstants() []*Constant { return parsed().extensionConstants }

// Constants returns every constant of the ABI in the standard's order. The result is shared: do not change it.
func Constants() []*Constant { return parsed().constants }

// Callbacks returns the prototypes of all callbacks. The result is shared: do not change it.
func Callbacks() []*Callback { return parsed().callbacks }

// Kinds returns every kind of parameter by its name.
func Kinds() map[string]*Kind { return parsed().kinds }

type table struct {
	functions []*Function
	byName    map[string]*Function
	chapters  map[int]string
	constants []*Constant
	callbacks []*Callback
	kinds     map[string]*Kind
	names     map[string]string // meanings of parameters, by name or by name and kind

	removed          []*Function
	removedConstants []*Constant

	extensions         []*Function
	extensionConstants []*Constant
}

// parsed returns the parsed tables. It panics on a malformed table, because the tables are part of the program and
// tests read all of them.
var parsed = sync.OnceValue(func() *table {
	t := &table{kinds: map[string]*Kind{}, names: map[string]string{}, byName: map[string]*Function{},
		chapters: map[int]string{}}
	t.parseKinds()
	lines("names", func(line string) {
		name, meaning, ok := strings.Cut(line, " | ")
		if !ok {
			panic("want NAME [KIND] | meaning")
		}
		t.names[name] = meaning
	})
	t.constants = parseConstants("constants")
	t.removedConstants = parseConstants("removed_constants")
	t.extensionConstants = parseConstants("extension_constants")
	t.parseCallbacks()
	// The files in the order of the chapters.
	for _, name := range []string{
		"p2p", "partitioned", "datatypes", "collectives", "communicators", "topologies", "environment", "info",
		"processes", "rma",
		"external", "io", "tools", "deprecated", "removed", "fortran", "abi",
	} {
		t.parseChapter(name)
	}
	t.parseFunctions("extensions", 0)
	return t
})

var numbers = sync.OnceValue(func() map[string]int64 {
	values := map[string]int64{}
	for _, c := range slices.Concat(parsed().constants, parsed().removedConstants) {
		if c.Type == "alias" {
			values[c.Name] = values[c.Value]
			continue
		}
		v, err := strconv.ParseInt(c.Value, 0, 64)
		if err != nil {
			panic(fmt.Sprintf("abi: constant %s: %v", c.Name, err))
		}
		values[c.Name] = v
	}
	return values
})

// lines calls the function `use` with each line of a table, except empty lines and comments. It removes trailing
// blanks, and keeps leading ones.
func lines(name string, use func(line string)) {
	text, err := tables.ReadFile(path.Join("table", name+".txt"))
	if err != nil {
		panic(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(line, " ")
		if line == "" || line[0] == '#' {
			continue
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					panic(fmt.Sprintf("abi: table/%s.txt:%d: %v", name, i+1, p))
				}
			}()
			use(line)
		}()
	}
}

func (t *table) parseKinds() {
	lines("kinds", func(line string) {
		f := strings.SplitN(line, "|", 6)
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		k := &Kind{Name: f[0], C: f[1], CLarge: f[2], Fortran: f[3], FLarge: f[4], Meaning: f[5]}
		if k.CLarge == "" {
			k.CLarge = k.C
		}
		if k.FLarge == "" {
			k.FLarge = k.Fortran
		}
		t.kinds[k.Name] = k
	})
}

func parseConstants(name string) (list []*Constant) {
	group := ""
	lines(name, func(line string) {
		if title, ok := strings.CutPrefix(line, "== "); ok {
			group = title
			return
		}
		f := append(strings.SplitN(line, " ", 4), "")
		list = append(list, &Constant{Name: f[0], Type: f[1], Value: f[2], Text: f[3], Group: group})
	})
	return list
}

func (t *table) parseCallbacks() {
	var small, large *Callback
	lines("callbacks", func(line string) {
		if line[0] != ' ' {
			words, purpose, _ := strings.Cut(line, ": ")
			f := strings.Fields(words)
			small, large = &Callback{Name: f[0], Returns: "int", Purpose: purpose}, nil
			t.callbacks = append(t.callbacks, small)
			plus := false
			for _, w := range f[1:] {
				key, value, _ := strings.Cut(w, "=")
				switch key {
				case "+c":
					plus = true
				case "returns":
					small.Returns = value
				case "deprecated":
					small.Deprecated = value
				default:
					panic("unknown word " + w)
				}
			}
			if plus {
				large = &Callback{Name: small.Name + "_c", Returns: small.Returns, Purpose: purpose,
					Deprecated: small.Deprecated, Large: true}
				t.callbacks = append(t.callbacks, large)
			}
			return
		}
		words, decl, ok := strings.Cut(line, " c=")
		if !ok {
			panic("a callback's parameter needs c=")
		}
		decl, largeDecl, differs := strings.Cut(decl, " large=")
		if !differs {
			largeDecl = decl
		}
		f := strings.Fields(words)
		p := &Param{Name: f[0], CName: f[0], Kind: t.kind(f[1]), Dir: In, C: decl}
		if len(f) > 2 {
			p.Dir = Dir(f[2])
		}
		small.Params = append(small.Params, p)
		if large != nil {
			q := *p
			q.C = largeDecl
			large.Params = append(large.Params, &q)
		}
	})
}

// meaning returns the meaning of a parameter: that of its name if the table has one, otherwise that of its kind.
func (t *table) meaning(name string, kind *Kind) string {
	for _, key := range []string{name + " " + kind.Name, name} {
		if m, ok := t.names[key]; ok {
			return m
		}
	}
	return kind.Meaning
}

func (t *table) kind(name string) *Kind {
	k := t.kinds[name]
	if k == nil {
		panic("unknown kind " + name)
	}
	return k
}

var chapterLine = regexp.MustCompile(`^# MPI-5\.0 chapter (\d+): (.*)\n`)

func (t *table) parseChapter(name string) {
	text, err := tables.ReadFile(path.Join("table", name+".txt"))
	if err != nil {
		panic(err)
	}
	head := chapterLine.FindStringSubmatch(string(text))
	if head == nil {
		panic("abi: table/" + name + ".txt: the first line must name the chapter")
	}
	chapter, _ := strconv.Atoi(head[1])
	t.chapters[chapter] = head[2]
	t.parseFunctions(name, chapter)
}

func (t *table) parseFunctions(name string, chapter int) {
	var small, large *Function
	ierror := true
	finish := func() {
		for _, f := range []*Function{small, large} {
			if f != nil && ierror {
				f.Params = append(f.Params, &Param{Name: "ierror", CName: "ierror",
					Kind: t.kind("ERROR_CODE"), Dir: Out, Optional: true, Hidden: C})
			}
		}
	}
	lines(name, func(line string) {
		if line[0] != ' ' {
			finish()
			small, large, ierror = t.parseHead(line, chapter)
			return
		}
		p, largeOnly := t.parseParam(line)
		if !largeOnly {
			small.Params = append(small.Params, p.declared(false))
		}
		if large != nil {
			large.Params = append(large.Params, p.declared(true))
		}
	})
	finish()
}

// parseHead reads "MPI_Put +c @12.3.2: Purpose."
func (t *table) parseHead(line string, chapter int) (small, large *Function, ierror bool) {
	words, purpose, _ := strings.Cut(line, ": ")
	f := strings.Fields(words)
	small = &Function{Name: f[0], Returns: "int", Chapter: chapter, Purpose: purpose, F08: true, F90: true}
	ierror = true
	plus := false
	for _, w := range f[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch {
		case w == "+c":
			plus = true
		case w == "-f":
			small.F08, small.F90, ierror = false, false, false
		case w == "-f08":
			small.F08 = false
		case w == "-ierror":
			ierror = false
		case w[0] == '@':
			small.Section = w[1:]
		case key == "returns":
			small.Returns = value
		case key == "deprecated":
			small.Deprecated = value
		case key == "by":
			small.ReplacedBy = value
		default:
			panic("unknown word " + w)
		}
	}
	add := func(fn *Function) {
		switch {
		case fn.ReplacedBy != "":
			t.removed = append(t.removed, fn)
			return
		case chapter == 0:
			t.extensions = append(t.extensions, fn)
			return
		}
		t.functions = append(t.functions, fn)
		t.byName[fn.Name] = fn
	}
	add(small)
	if plus {
		twin := *small
		large = &twin
		large.Name += "_c"
		large.Large = true
		large.OtherForm, small.OtherForm = small, large
		add(large)
	}
	return small, large, ierror
}

var hiddenIn = map[string]Form{"f08": F08, "f90": F90, "f08_intent": F08Intent}

// parseParam reads "  name KIND [out|inout] [const] [async] [optional] [large] [len=L] [array=A] [func=F] [hide=H]
// [cname=N] [c=DECLARATION]".
func (t *table) parseParam(line string) (p *Param, largeOnly bool) {
	words, decl, _ := strings.Cut(line, " c=")
	f := strings.Fields(words)
	p = &Param{Name: f[0], CName: f[0], Kind: t.kind(f[1]), Dir: In, C: decl}
	p.Meaning = t.meaning(p.Name, p.Kind)
	for _, w := range f[2:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "out", "inout":
			p.Dir = Dir(w)
		case "const":
			p.Const = true
		case "async":
			p.Async = true
		case "optional":
			p.Optional = true
		case "large":
			largeOnly = true
		case "len":
			p.Length = strings.Split(value, ",")
		case "array":
			p.Array = value
		case "func":
			p.Func = value
		case "cname":
			p.CName = value
		case "hide":
			for _, h := range strings.Split(value, ",") {
				form, ok := hiddenIn[h]
				if !ok {
					panic("unknown binding " + h)
				}
				p.Hidden |= form
			}
		default:
			panic("unknown word " + w)
		}
	}
	return p, largeOnly
}

// declared returns a copy of p with its C declaration in the small or the large-count form. It keeps a declaration that
// the table specifies.
func (p *Param) declared(large bool) *Param {
	q := *p
	if q.C != "" {
		return &q
	}
	kind := q.Kind.C
	if large {
		kind = q.Kind.CLarge
	}
	constant := ""
	if q.Const {
		constant = "const "
	}
	pointer := q.Dir != In || q.Kind.Name == "STATUS"
	switch {
	case strings.HasPrefix(kind, "FUNC"):
		q.C = strings.Replace(kind, "FUNC", q.Func, 1) + q.CName
	case strings.HasSuffix(kind, "*"):
		q.C = constant + kind + q.CName
	case len(q.Length) > 0 && q.Kind.Name != "STATUS":
		q.C = constant + kind + " " + q.CName + "[]"
	case pointer:
		q.C = constant + kind + " *" + q.CName
	default:
		q.C = constant + kind + " " + q.CName
	}
	return &q
}

// cTypeOf removes the name from a C declaration. It returns "int (*)[3]" for "int ranges[][3]", and "const int *" for
// "const int counts[]".
func cTypeOf(decl, name string) string {
	if decl == "..." {
		return decl
	}
	array := ""
	if i := strings.IndexByte(decl, '['); i >= 0 {
		decl, array = decl[:i], decl[i:]
	}
	kind := strings.TrimSpace(strings.TrimSuffix(decl, name))
	switch {
	case array == "":
		return kind
	case array == "[]" && strings.HasSuffix(kind, "*"):
		return kind + "*"
	case array == "[]":
		return kind + " *"
	default:
		return kind + " (*)" + strings.TrimPrefix(array, "[]")
	}
}
