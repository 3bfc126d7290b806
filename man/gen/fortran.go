package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// procedure is an interface body of a Fortran module.
type procedure struct {
	args   []string
	result string // type of a function; "" for a subroutine
	decls  []declaration
}

// declaration declares a dummy argument: its attributes, such as "integer, intent(in)", and its shape.
type declaration struct{ attributes, name, shape string }

func (p *procedure) of(name string) *declaration {
	for i := range p.decls {
		if p.decls[i].name == name {
			return &p.decls[i]
		}
	}
	return nil
}

var (
	bodyHead = regexp.MustCompile(`^(.*?) ?\b(?:subroutine|function) (\w+)\((.*?)\)(?: bind\(C, name="\w+"\))?$`)
	bodyDecl = regexp.MustCompile(`^(.*) :: (\w+)(\(.*\))?$`)
	suffixes = regexp.MustCompile(`_f08(ts)?$`)
)

// readProcedures returns the procedures of mpi_f08 and of mpi with their extensions, by the names of functions in C:
// MPI_Put and MPI_Put_c.
func readProcedures(root string) (f08, f90 map[string]*procedure, err error) {
	var text [3]string
	for i, file := range []string{"mpi_f08.F90", "mpi.F90", "mpi_ext.F90"} {
		source, err := os.ReadFile(filepath.Join(root, "fortran/generated", file))
		if err != nil {
			return nil, nil, err
		}
		text[i] = string(source)
	}
	extensions, extensions08, _ := strings.Cut(text[2], "\nmodule mpi_f08_ext\n")
	f08, f90 = procedures(text[0]+extensions08), procedures(text[1]+extensions)
	for _, f := range abi.Removed() {
		f90[f.Name] = removed(f)
	}
	return f08, f90, nil
}

// removed returns the procedure of a function that MPI-3.0 removed. It has no interface body. All values are INTEGERs.
func removed(f *abi.Function) *procedure {
	p := &procedure{}
	intent := map[abi.Dir]string{abi.In: ", intent(in)", abi.Out: ", intent(out)", abi.InOut: ", intent(inout)"}
	for _, a := range f.Params {
		d := declaration{"integer" + intent[a.Dir], a.Name, strings.Repeat("(*)", len(a.Length))}
		switch a.Kind.Fortran {
		case "choice":
			d.attributes = "type(*), dimension(*)"
		case "procedure":
			d.attributes = "external"
		}
		p.args, p.decls = append(p.args, a.Name), append(p.decls, d)
	}
	return p
}

// procedures parses the interface bodies of a module, for INTEGERs of 4 bytes. Keys are the names of functions in C.
func procedures(source string) map[string]*procedure {
	all := map[string]*procedure{}
	var at *procedure
	keep := true
	for _, line := range strings.Split(strings.ReplaceAll(source, "&\n", ""), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "#ifdef GOMPI_F_INTEGER_8":
			keep = false
		case line == "#else", line == "#endif":
			keep = true
		case !keep, strings.HasPrefix(line, "!"), strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "end "):
			at = nil
		case at == nil && bodyHead.MatchString(line):
			m := bodyHead.FindStringSubmatch(line)
			at = &procedure{result: m[1]}
			if m[3] != "" {
				at.args = strings.Split(strings.ReplaceAll(m[3], " ", ""), ",")
			}
			all[suffixes.ReplaceAllString(m[2], "")] = at
		case at != nil && bodyDecl.MatchString(line):
			m := bodyDecl.FindStringSubmatch(line)
			attributes := strings.ReplaceAll(m[1], ", target", "")
			if !slices.Contains(at.args, m[2]) {
				continue
			}
			at.decls = append(at.decls, declaration{attributes, m[2], m[3]})
		}
	}
	return all
}

// fortran writes the prototype of a procedure in the form that the standard uses: keywords in upper case, arguments
// with equal attributes in one line. Large is the large-count form under the same generic name, or nil.
func (r *roff) fortran(name string, p, large *procedure) {
	head := "CALL " + name + "("
	if p.result != "" {
		head = upper(p.result) + " FUNCTION " + name + "("
	}
	args := strings.Join(p.args, ", ")
	for i, line := range wrapWords(args, 76-len(head)) {
		if i == 0 {
			line = "\\fB" + head + "\\fR" + line
		} else {
			line = strings.Repeat(" ", len(head)) + line
		}
		if i == len(wrapWords(args, 76-len(head)))-1 {
			line += "\\fB)\\fR"
		}
		r.line("%s", line)
	}
	var groups []string
	names := map[string][]string{}
	for _, d := range p.decls {
		if names[d.attributes] == nil {
			groups = append(groups, d.attributes)
		}
		names[d.attributes] = append(names[d.attributes], d.name+upper(d.shape))
	}
	for _, g := range groups {
		r.listed("    "+upper(g)+" :: ", names[g])
	}
	if large == nil {
		return
	}
	kinds := map[string][]string{}
	groups = nil
	for _, d := range large.decls {
		small := p.of(d.name)
		if small != nil && small.attributes == d.attributes {
			continue
		}
		kind, _, _ := strings.Cut(d.attributes, ", ")
		if kinds[kind] == nil {
			groups = append(groups, kind)
		}
		kinds[kind] = append(kinds[kind], d.name+upper(d.shape))
	}
	for _, g := range groups {
		r.listed("    ! large: "+upper(g)+" :: ", kinds[g])
	}
}

// listed writes a head and a list of names, in lines of at most 80 columns. The head's comment sign is repeated.
func (r *roff) listed(head string, names []string) {
	for i, line := range wrapWords(strings.Join(names, ", "), max(20, 78-len(head))) {
		if i == 1 {
			mark := "     "
			if strings.Contains(head, "!") {
				mark = "    !"
			}
			head = mark + strings.Repeat(" ", len(head)-len(mark))
		}
		r.line("%s%s", head, line)
	}
}

// upper writes Fortran keywords in upper case, but the names of derived types and constants as they are.
func upper(text string) string {
	return fortranWord.ReplaceAllStringFunc(text, func(w string) string {
		if strings.HasPrefix(w, "MPI_") {
			return w
		}
		return strings.ToUpper(w)
	})
}

var fortranWord = regexp.MustCompile(`\w+`)
