package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/abi/genfile"
	"gompirma/core/version"
)

// others returns the C prototypes of the functions that are not in the table of the ABI: conversions for Fortran, and
// those of mpix_gompirma.h. A procedure that only Fortran has maps to "-".
var others = sync.OnceValue(func() map[string]*string {
	all := map[string]*string{}
	add := func(name, prototype string) { all[name] = &prototype }
	for _, c := range abi.FortranConversions() {
		add(c.Name, c.Returns+" "+c.Name+"("+c.Params+");")
	}
	for _, name := range []string{"MPI_Sizeof", "MPI_F_sync_reg"} {
		add(name, "-")
	}
	root, err := genfile.Root()
	if err != nil {
		panic(err)
	}
	header, err := os.ReadFile(filepath.Join(root, "include/mpix_gompirma.h"))
	if err != nil {
		panic(err)
	}
	for _, m := range extension.FindAllStringSubmatch(string(header), -1) {
		add(m[1], m[0])
	}
	return all
})

var extension = regexp.MustCompile(`(?m)^int (MPIX_\w+)\(.*\);`)

func known(name string) bool {
	if name = strings.TrimPrefix(name, "P"); others()[name] != nil {
		return true
	}
	_, ok := describable(name)
	return ok
}

// bindings holds the interface bodies of both Fortran modules.
type bindings struct{ f08, f90 map[string]*procedure }

// functionPages returns the pages of section 3, and the links of the functions that share a page.
func functionPages(root, date string) (files map[string][]byte, links map[string]string, err error) {
	list, err := readPages(root)
	if err != nil {
		return nil, nil, err
	}
	var b bindings
	if b.f08, err = procedures(root, "mpi_f08.F90"); err != nil {
		return nil, nil, err
	}
	if b.f90, err = procedures(root, "mpi.F90"); err != nil {
		return nil, nil, err
	}
	pageOf := map[string]*page{}
	for _, p := range list {
		for _, name := range p.names {
			if _, ok := describable(name); !ok {
				return nil, nil, fmt.Errorf("%s: there is no function %s", p.where, name)
			}
			if pageOf[name] != nil {
				return nil, nil, fmt.Errorf("%s: %s also has another page", p.where, name)
			}
			pageOf[name] = p
		}
	}
	files, links = map[string][]byte{}, map[string]string{}
	for _, p := range list {
		content, err := p.write(root, date, b, pageOf)
		if err != nil {
			return nil, nil, err
		}
		files["man/man3/"+p.names[0]+".3"] = content
		for _, name := range p.all()[1:] {
			links["man/man3/"+name+".3"] = p.names[0] + ".3"
		}
	}
	return files, links, nil
}

// all returns the page's functions with their large-count forms.
func (p *page) all() (names []string) {
	for _, name := range p.names {
		names = append(names, name)
		if f := abi.FunctionByName(name); f != nil && f.OtherForm != nil {
			names = append(names, f.OtherForm.Name)
		}
	}
	return names
}

func (p *page) write(root, date string, b bindings, pageOf map[string]*page) ([]byte, error) {
	r := &roff{}
	params := p.params()
	for name := range p.args {
		if !slices.ContainsFunc(params, func(q *parameter) bool { return q.name == name }) {
			return nil, fmt.Errorf("%s: no parameter %s", p.where, name)
		}
	}
	r.italic = func(word string) bool {
		return slices.ContainsFunc(params, func(q *parameter) bool { return q.name == word })
	}
	chapter := "MPI"
	r.head(p.names[0], 3, date, version.String, chapter)
	r.section("NAME")
	for _, line := range wrapWords(strings.Join(p.all(), ", ")+" \\- "+plain(p.summary), 78) {
		r.line("%s", line)
	}
	p.synopsis(r, b)
	r.section("DESCRIPTION")
	body := slices.Concat(p.body, p.family.body)
	if len(body) == 0 {
		return nil, fmt.Errorf("%s: no description", p.where)
	}
	r.blocks(body)
	if waits := first(p.waits, p.family.waits); waits != "" {
		if waits == "Local." {
			waits = "Local: waits for no other process."
		}
		r.line(".SS Blocking")
		r.text(waits)
	}
	if len(params) > 0 {
		r.section("ARGUMENTS")
		for _, q := range params {
			r.entry(`\fI`+q.name+`\fR (`+q.dir+`)`, q.text)
		}
	}
	p.results(r)
	if notes := slices.Concat(p.notes, p.family.notes); len(notes) > 0 {
		r.section("NOTES")
		r.blocks(notes)
	}
	if example := first(p.example, p.family.example); example != "" {
		source, err := os.ReadFile(filepath.Join(root, "man/examples", example+".c"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.where, err)
		}
		r.section("EXAMPLE")
		comment, program, _ := strings.Cut(string(source), "*/\n")
		r.text(strings.ReplaceAll(strings.TrimPrefix(comment, "/*"), "\n *", " "))
		r.verbatim(strings.ReplaceAll(program, "\t", "    "))
	}
	r.section("SEE ALSO")
	related, err := p.related(pageOf)
	if err != nil {
		return nil, err
	}
	for i, name := range related {
		comma := ","
		if i == len(related)-1 {
			comma = ""
		}
		section := 3
		if strings.HasPrefix(name, "gompirma") {
			section = 7
		} else if strings.HasPrefix(name, "gompi") {
			section = 1
		}
		r.line(".BR %s (%d)%s", name, section, comma)
	}
	r.section("STANDARDS")
	r.text(p.standard())
	return r.Bytes(), nil
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// synopsis writes the prototypes in C, mpi_f08, and mpi.
func (p *page) synopsis(r *roff, b bindings) {
	r.section("SYNOPSIS")
	r.line(".nf")
	var c []string
	for _, name := range p.all() {
		if f, _ := describable(name); f != nil {
			c = append(c, prototype(f))
		} else if proto := *others()[name]; proto != "-" {
			c = append(c, proto)
		}
	}
	if len(c) > 0 {
		header := "mpi.h"
		if strings.HasPrefix(p.names[0], "MPIX_") {
			header = "mpix_gompirma.h"
		}
		r.line("\\fB#include <%s>\\fR", header)
		for _, proto := range c {
			r.line("")
			r.cPrototype(proto)
		}
	}
	for _, module := range []struct {
		title string
		of    map[string]*procedure
		large bool
	}{{"USE mpi_f08", b.f08, true}, {"USE mpi  ! or INCLUDE 'mpif.h'", b.f90, false}} {
		shown := false
		for _, name := range p.names {
			proc := module.of[name]
			if proc == nil {
				continue
			}
			if !shown {
				r.line("\n\\fB%s\\fR", code(module.title))
			}
			shown = true
			r.line("")
			var large *procedure
			if module.large {
				large = module.of[name+"_c"]
			}
			r.fortran(name, proc, large)
		}
	}
	r.line(".fi")
}

// prototype returns the C prototype of a function.
func prototype(f *abi.Function) string {
	var list []string
	for _, p := range f.CParams() {
		list = append(list, p.C)
	}
	if len(list) == 0 {
		list = []string{"void"}
	}
	return f.Returns + " " + f.Name + "(" + strings.Join(list, ", ") + ");"
}

// cPrototype writes a C prototype in lines of at most 78 columns, types bold and parameters italic.
func (r *roff) cPrototype(proto string) {
	head, rest, _ := strings.Cut(proto, "(")
	head += "("
	line, width := `\fB`+head+`\fR`, len(head)
	list := strings.Split(strings.TrimSuffix(rest, ");"), ", ")
	for i, arg := range list {
		end := ", "
		if i == len(list)-1 {
			end = ");"
		}
		if width+len(arg)+len(end) > 79 && i > 0 {
			r.line("%s", strings.TrimRight(line, " "))
			line, width = "    ", 4
		}
		shown := arg
		if m := lastWord.FindStringSubmatchIndex(arg); m != nil && arg != "void" {
			shown = arg[:m[2]] + `\fI` + arg[m[2]:m[3]] + `\fR` + arg[m[3]:]
		}
		line += shown + end
		width += len(arg) + len(end)
	}
	r.line("%s", line)
}

var lastWord = regexp.MustCompile(`(\w+)(?:\[[^]]*\])*$`)

type parameter struct{ name, dir, text string }

// params returns the parameters of all functions of the page in the order of their first appearance.
func (p *page) params() (list []*parameter) {
	has := map[string][]string{} // functions by parameter
	total := 0
	for _, name := range p.all() {
		f, _ := describable(name)
		if f == nil {
			continue
		}
		total++
		for _, q := range f.CParams() {
			if q.Kind.Name == "VARARGS" {
				continue
			}
			has[q.CName] = append(has[q.CName], name)
			dir := map[abi.Dir]string{abi.In: "in", abi.Out: "out", abi.InOut: "in/out"}[q.Dir]
			at := slices.IndexFunc(list, func(o *parameter) bool { return o.name == q.CName })
			if at >= 0 {
				if list[at].dir != dir { // in another function
					list[at].dir = "in or out"
				}
				continue
			}
			text := first(p.args[q.CName], p.family.args[q.CName], p.family.defaults[q.CName])
			if text == "" {
				text = meaning(q)
			}
			list = append(list, &parameter{q.CName, dir, text})
		}
	}
	for _, q := range list {
		if n := len(has[q.name]); n < total && p.args[q.name] == "" {
			q.text += " Only in " + enumerate(withoutLarge(has[q.name])) + "."
		}
	}
	return list
}

// withoutLarge removes the large-count forms of functions that are in the list, too.
func withoutLarge(names []string) (list []string) {
	for _, name := range names {
		if f := abi.FunctionByName(name); f == nil || !f.Large || !slices.Contains(names, f.OtherForm.Name) {
			list = append(list, name)
		}
	}
	return list
}

// enumerate returns "a, b and c".
func enumerate(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// meaning returns the description of a parameter that follows from its kind.
func meaning(q *abi.Param) string {
	text := q.Meaning
	text = strings.ToUpper(text[:1]) + text[1:]
	switch {
	case len(q.Length) > 0 && q.Length[0] != "*" && q.Kind.Fortran != "character":
		text += " (array of " + strings.Join(q.Length, " by ") + ")"
	case len(q.Length) > 0 && q.Kind.Fortran != "character":
		text += " (array)"
	case len(q.Length) == 1 && q.Length[0] != "*":
		text += ", at most `" + q.Length[0] + "` characters"
	}
	return text + "."
}

// results writes RETURN VALUE and ERRORS.
func (p *page) results(r *roff) {
	r.section("RETURN VALUE")
	errs := p.errors()
	switch {
	case p.returns() != "":
		r.text(p.returns())
		return
	case strings.HasPrefix(p.names[0], "MPI_T_"), strings.HasPrefix(p.names[0], "MPIX_"):
		r.text("MPI_SUCCESS or an error class. No error handler is called.")
	default:
		r.text("MPI_SUCCESS or an error code (in Fortran: the argument `ierror`). Before the function " +
			"returns an error code, it calls the error handler of " + p.object() + ". A function that " +
			"raises an error has changed nothing, unless this page says otherwise.")
	}
	if len(errs) == 0 {
		return
	}
	r.section("ERRORS")
	for _, e := range errs {
		r.entry(`\fB`+e.name+`\fR`, e.text)
	}
}

// returns returns the description of a result that is not an error code; "" if the functions return error codes.
func (p *page) returns() string {
	for _, e := range p.errs {
		if e.name == "RETURNS" {
			return e.text
		}
	}
	return ""
}

// object names the objects on which the functions of the page raise errors.
func (p *page) object() string {
	var list []string
	for _, name := range p.names {
		if f, _ := describable(name); f != nil {
			if o := object(f); !slices.Contains(list, o) {
				list = append(list, o)
			}
		}
	}
	return strings.Replace(enumerate(list), " and ", " or ", 1)
}

func object(f *abi.Function) string {
	kinds := map[string]string{"WINDOW": "the window", "COMMUNICATOR": "the communicator", "FILE": "the file",
		"SESSION": "the session", "REQUEST": "the communicator, window or file of",
		"MESSAGE": "the communicator of"}
	for _, q := range f.CParams() {
		if text := kinds[q.Kind.Name]; text != "" && q.Dir != abi.Out {
			return text + " `" + q.CName + "`"
		}
	}
	return "MPI_COMM_SELF"
}

// related returns the names of other pages: those of the family, and those that the text names.
func (p *page) related(pageOf map[string]*page) (list []string, err error) {
	add := func(name string) {
		if name != p.names[0] && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range slices.Concat(p.see, p.family.see) {
		if strings.HasPrefix(name, "gompi") {
			continue
		}
		if pageOf[name] == nil {
			return nil, fmt.Errorf("%s: see: there is no page %s", p.where, name)
		}
		add(pageOf[name].names[0])
	}
	for _, m := range p.family.members {
		add(m.names[0])
	}
	for _, name := range slices.Concat(p.see, p.family.see) {
		if strings.HasPrefix(name, "gompi") {
			add(name)
		}
	}
	add("gompirma")
	return list, nil
}

// standard returns the section of the standard and the history of the functions.
func (p *page) standard() string {
	f, _ := describable(p.names[0])
	switch {
	case strings.HasPrefix(p.names[0], "MPIX_"):
		return "An extension of gompirma, which other MPI libraries do not have."
	case f == nil:
		return "MPI-5.0 chapter 19. Not part of the standard ABI."
	}
	var parts []string
	for _, name := range p.names {
		g, _ := describable(name)
		if g == nil {
			continue
		}
		at := g.Section
		if at == "" {
			at = fmt.Sprintf("chapter %d", g.Chapter)
		}
		if !slices.Contains(parts, at) {
			parts = append(parts, at)
		}
	}
	text := "MPI-5.0 " + enumerate(parts) + "."
	switch {
	case f.ReplacedBy != "":
		return text + " MPI-3.0 removed the function. The header and the Fortran bindings define it; it is " +
			"not part of the standard ABI."
	case f.Deprecated != "":
		text += " Deprecated since " + f.Deprecated + "."
	}
	return text + " Each function also exists with the prefix PMPI_, for profiling libraries."
}
