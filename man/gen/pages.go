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

// functionPages returns the pages of section 3, and the links of the functions that share a page.
func functionPages(root, date string) (files map[string][]byte, links map[string]string, err error) {
	list, err := readPages(root)
	if err != nil {
		return nil, nil, err
	}
	var b bindings
	if b.f08, b.f90, err = readProcedures(root); err != nil {
		return nil, nil, err
	}
	if b.callbacks, err = callbacks(root); err != nil {
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
	params, err := p.params()
	if err != nil {
		return nil, err
	}
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
	waits := first(p.waits, p.family.waits)
	switch waits {
	case "":
		return nil, fmt.Errorf("%s: nothing says for whom the functions wait", p.where)
	case "Local.":
		waits = "Local: waits for no other process."
	}
	r.line(".SS Blocking")
	r.text(waits)
	if len(params) > 0 {
		r.section("ARGUMENTS")
		for _, q := range params {
			term := `\fI` + q.name + `\fR`
			if q.dir != "" {
				term += " (" + q.dir + ")"
			}
			r.entry(term, q.text)
		}
	}
	p.results(r)
	if notes := slices.Concat(p.notes, p.family.notes); len(notes) > 0 {
		r.section("NOTES")
		r.blocks(notes)
	}
	if err := p.writeExample(r, root); err != nil {
		return nil, fmt.Errorf("%s: %w", p.where, err)
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

// writeExample writes the example of the page, a program in C or, with the suffix .f90, in Fortran. The text above the
// program is the comment at its beginning.
func (p *page) writeExample(r *roff, root string) error {
	name := first(p.example, p.family.example)
	end, comment := "*/\n", strings.NewReplacer("/*", "", "\n *", " ")
	if strings.HasSuffix(name, ".f90") {
		end, comment = "\n", strings.NewReplacer("!", "")
	} else {
		name += ".c"
	}
	source, err := os.ReadFile(filepath.Join(root, "man/examples", name))
	if err != nil {
		return err
	}
	isCalled := func(function string) bool { return strings.Contains(string(source), function+"(") }
	if !slices.ContainsFunc(p.names, isCalled) {
		return fmt.Errorf("the example %s calls no function of the page", name)
	}
	r.section("EXAMPLE")
	text, program, _ := strings.Cut(string(source), end)
	r.text(comment.Replace(text))
	r.verbatim(strings.ReplaceAll(program, "\t", "    "))
	return nil
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

type parameter struct{ name, dir, text string }

// parameters returns the parameters of a function in C. Those of functions outside of the table have no direction and
// no text.
func parameters(name string) (list []*parameter) {
	f, _ := describable(name)
	if f == nil {
		_, params, _ := strings.Cut(strings.TrimSuffix(*others()[name], ");"), "(")
		for _, declaration := range strings.Split(params, ", ") {
			if m := lastWord.FindStringSubmatch(declaration); m != nil && m[1] != "" {
				list = append(list, &parameter{name: m[1]})
			}
		}
		return list
	}
	for _, q := range f.CParams() {
		if q.Kind.Name != "VARARGS" {
			dir := map[abi.Dir]string{abi.In: "in", abi.Out: "out", abi.InOut: "in/out"}[q.Dir]
			list = append(list, &parameter{q.CName, dir, meaning(q)})
		}
	}
	return list
}

// params returns the parameters of all functions of the page in the order of their first appearance.
func (p *page) params() (list []*parameter, err error) {
	has := map[string][]string{} // functions by parameter
	for _, name := range p.all() {
		for _, q := range parameters(name) {
			has[q.name] = append(has[q.name], name)
			if at := slices.IndexFunc(list, func(o *parameter) bool { return o.name == q.name }); at >= 0 {
				if list[at].dir != q.dir { // in another function
					list[at].dir = "in or out"
				}
				continue
			}
			q.text = first(p.args[q.name], p.family.args[q.name], p.family.defaults[q.name], q.text)
			list = append(list, q)
		}
	}
	for _, q := range list {
		if q.text == "" {
			return nil, fmt.Errorf("%s: no description of the parameter %s", p.where, q.name)
		}
		if !slices.ContainsFunc(p.names, func(name string) bool { return strings.Contains(q.text, name) }) {
			q.text += p.limits(has[q.name])
		}
	}
	return list, nil
}

// limits returns a sentence which says that only the functions with names in has have a parameter.
func (p *page) limits(has []string) string {
	without := slices.DeleteFunc(p.all(), func(name string) bool { return slices.Contains(has, name) })
	has, without = withoutLarge(has), withoutLarge(without)
	switch {
	case len(without) == 0:
		return ""
	case len(without) < len(has):
		return " Not in " + alternatives(without) + "."
	default:
		return " Only in " + enumerate(has) + "."
	}
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

// alternatives returns "a, b or c".
func alternatives(words []string) string {
	return strings.Replace(enumerate(words), " and ", " or ", 1)
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
	case strings.HasPrefix(p.names[0], "MPI_T_"), strings.HasPrefix(p.names[0], "MPIX_Gompirma_"):
		r.text("MPI_SUCCESS or an error class. No error handler is called.")
	default:
		r.text("MPI_SUCCESS or an error code (in Fortran: the argument `ierror`). Before the function " +
			"returns an error code, it calls the error handler " + p.handlers() + ". A function that " +
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

// handlers names the error handlers with which the functions of the page raise errors.
func (p *page) handlers() string {
	if strings.HasPrefix(p.names[0], "MPIX_Comm_") {
		return "of the communicator `comm`"
	}
	var list []string
	for _, name := range p.names {
		f, _ := describable(name)
		if f == nil {
			continue
		}
		text := handler(f)
		if len(list) > 0 {
			text = "that " + text
		}
		if !slices.ContainsFunc(list, func(t string) bool { return strings.HasSuffix(text, t) }) {
			list = append(list, text)
		}
	}
	return alternatives(list)
}

// handler names the error handler of a function: that of an argument, or of MPI_FILE_NULL or MPI_COMM_SELF.
func handler(f *abi.Function) string {
	kinds := map[string]string{"WINDOW": "the window", "COMMUNICATOR": "the communicator", "FILE": "the file",
		"SESSION": "the session"}
	file := f.Chapter == 14
	for _, q := range f.CParams() {
		switch kind := q.Kind.Name; {
		case q.Dir == abi.Out:
		case kind == "REQUEST":
			return "of the communicator, window or file of the request"
		case kind == "MESSAGE":
			return "of the communicator of the message"
		case kind == "ERRHANDLER" && q.Dir == abi.In:
			return "`" + q.CName + "`"
		case kinds[kind] != "" && !(file && kind == "COMMUNICATOR"):
			return "of " + kinds[kind] + " `" + q.CName + "`"
		}
	}
	if file {
		return "of MPI_FILE_NULL"
	}
	return "of MPI_COMM_SELF"
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
	case strings.HasPrefix(p.names[0], "MPIX_Comm_"):
		return "An extension of MPI with the name ULFM (User-Level Failure Mitigation), which some other MPI " +
			"libraries have. The functions exist only in C."
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
