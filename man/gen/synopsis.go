package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// bindings holds the interface bodies of both Fortran modules, and the C declarations of the types of callbacks.
type bindings struct {
	f08, f90  map[string]*procedure
	callbacks map[string]string
}

var callback = regexp.MustCompile(`(?ms)^(typedef \w+ (\w+)\(.*?\);)`)

// callbacks returns the declarations of the types of functions in the header, by name.
func callbacks(root string) (map[string]string, error) {
	header, err := os.ReadFile(filepath.Join(root, "include/mpi_rma.h"))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, m := range callback.FindAllStringSubmatch(string(header), -1) {
		all[m[2]] = strings.Join(strings.Fields(m[1]), " ")
	}
	return all, nil
}

var word = regexp.MustCompile(`\w+`)

// synopsis writes the prototypes in C, with the types of callbacks, and those of mpi_f08 and mpi.
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
	for _, name := range word.FindAllString(strings.Join(c, " "), -1) {
		if declaration := b.callbacks[name]; declaration != "" && !slices.Contains(c, declaration) {
			c = append(c, declaration)
		}
	}
	f08, f90 := "USE mpi_f08", "USE mpi  ! or INCLUDE 'mpif.h'"
	if len(c) > 0 {
		header := "mpi.h"
		switch {
		case strings.HasPrefix(p.names[0], "MPIX_Comm_"):
			header, f08, f90 = "mpi-ext.h", "USE mpi_f08_ext", "USE mpi_ext  ! or INCLUDE 'mpif-ext.h'"
		case strings.HasPrefix(p.names[0], "MPIX_"):
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
	}{{f08, b.f08, true}, {f90, b.f90, false}} {
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

var lastWord = regexp.MustCompile(`(\w+)\)?(?:\[[^]]*\])*$`)
