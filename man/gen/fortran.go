package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// procedures parses the interface bodies of a generated module, for INTEGERs of 4 bytes. Keys are the names of
// functions in C, MPI_Put and MPI_Put_c.
func procedures(root, file string) (map[string]*procedure, error) {
	source, err := os.ReadFile(filepath.Join(root, "fortran/generated", file))
	if err != nil {
		return nil, err
	}
	all := map[string]*procedure{}
	var at *procedure
	keep := true
	for _, line := range strings.Split(strings.ReplaceAll(string(source), "&\n", ""), "\n") {
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
	return all, nil
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
