package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/abi/genfile"
)

// entryFiles groups the entry points into a few files by the standard's chapters.
var entryFiles = []struct {
	name     string
	chapters []int
}{
	{"p2p", []int{3, 4}},
	{"datatypes", []int{5, 19}},
	{"collectives", []int{6}},
	{"communicators", []int{7, 8}},
	{"environment", []int{9, 10, 11, 13, 16, 20}},
	{"rma", []int{12}},
	{"io", []int{14}},
	{"tools", []int{15}},
}

func entryPoints(have implementations) genfile.Files {
	files := genfile.Files{}
	for _, e := range entryFiles {
		var b bytes.Buffer
		fmt.Fprintf(&b, "// %s\n", notice)
		b.WriteString(`//
// Functions of the ABI as PMPI_X, with MPI_X as its weak alias: a profiling library may define MPI_X and call PMPI_X.
// Those that are implemented in C with the standard's types stand there (GOMPI_ENTRY).
`)
		b.WriteString("// Chapters of MPI 5.0:\n")
		for _, c := range e.chapters {
			fmt.Fprintf(&b, "//   %d %s\n", c, abi.Chapters()[c])
		}
		b.WriteString("\n#include \"z_entry.h\"\n")
		for _, c := range e.chapters {
			for _, f := range abi.Functions() {
				if f.Chapter == c && have[internalName(f)] != styleC {
					writeEntry(&b, have, f)
				}
			}
		}
		files["capi/z_entry_"+e.name+".c"] = b.Bytes()
	}
	return files
}

func writeEntry(b *bytes.Buffer, have implementations, f *abi.Function) {
	fmt.Fprintf(b, "\n%s\n{\n", prototype(f, "P"))
	target, how := have.implementation(f)
	switch how {
	case styleC:
		fmt.Fprintf(b, "    return %s(%s);\n", internalName(target), strings.Join(arguments(f, false), ", "))
	case styleGo:
		b.WriteString(callGo(`"`+strings.TrimSuffix(f.Name, "_c")+`"`,
			internalName(target)+"("+strings.Join(arguments(f, true), ", ")+")"))
	default:
		writeStub(b, f)
	}
	fmt.Fprintf(b, "}\nGOMPI_ALIAS(%s)\n", f.Name)
}

// callGo returns the body of a C function that makes `call`, a call into Go, and returns its result. If Go executes a
// whole MPI function, the argument `name` is a C expression for that function's name. Otherwise `name` is "".
func callGo(name, call string) string {
	enter, leave := "", ""
	if name != "" {
		enter = "    const char *outer = gompi_enter_call(" + name + ");\n"
		leave = "    gompi_leave_call(outer);\n"
	}
	return enter + "    int rc = " + call + ";\n" + leave + "    return rc < 0 ? gompi_raise_pending(rc) : rc;\n"
}

// writeStub writes the body of a function without an implementation: it raises MPI_ERR_UNSUPPORTED_OPERATION on the
// object of the call.
func writeStub(b *bytes.Buffer, f *abi.Function) {
	kind, object, used := "GOMPI_ON_NONE", "0", ""
	for _, p := range f.CParams() {
		on, ok := raisedOn[p.Kind.Name]
		if !ok || p.Dir == abi.Out {
			continue
		}
		kind, used = on, p.CName
		if p.Pointer() {
			object = fmt.Sprintf("%s ? (uintptr_t)*%s : 0", p.CName, p.CName)
		} else {
			object = "(uintptr_t)" + p.CName
		}
		break
	}
	// calls that open or delete a file raise errors on MPI_FILE_NULL
	if strings.HasPrefix(f.Name, "MPI_File_") && kind != "GOMPI_ON_FILE" {
		kind, object, used = "GOMPI_ON_FILE", "(uintptr_t)MPI_FILE_NULL", ""
	}
	unused(b, f, used)
	if f.Returns != "int" {
		panic("gen: " + f.Name + " must be implemented: it cannot return an error")
	}
	fmt.Fprintf(b, "    return gompi_unsupported(%q, %s, %s);\n", f.Name, kind, object)
}

func unused(b *bytes.Buffer, f *abi.Function, used string) {
	var words []string
	for _, p := range f.CParams() {
		if p.C != "..." && p.CName != used {
			words = append(words, "(void)"+p.CName+";")
		}
	}
	for len(words) > 0 {
		line := "    " + words[0]
		words = words[1:]
		for len(words) > 0 && len(line)+1+len(words[0]) <= 120 {
			line += " " + words[0]
			words = words[1:]
		}
		b.WriteString(line + "\n")
	}
}

// raisedOn maps kinds of parameters whose objects have error handlers to the C constants of these kinds.
var raisedOn = map[string]string{
	"COMMUNICATOR": "GOMPI_ON_COMM", "WINDOW": "GOMPI_ON_WIN", "FILE": "GOMPI_ON_FILE",
	"SESSION": "GOMPI_ON_SESSION",
}

// arguments returns the arguments that the entry point passes to its implementation.
func arguments(f *abi.Function, toGo bool) []string {
	var list []string
	for _, p := range f.CParams() {
		is, _ := p.Handle()
		switch {
		case p.C == "...":
		case toGo && (p.Pointer() || is || isPointerType(p)):
			list = append(list, "(uintptr_t)"+p.CName)
		default:
			list = append(list, p.CName)
		}
	}
	return list
}

// isPointerType returns whether the C type of a parameter is a typedef of a pointer. These are the handles of the tool
// interface.
func isPointerType(p *abi.Param) bool {
	switch p.Kind.C {
	case "MPI_T_enum", "MPI_T_cvar_handle", "MPI_T_pvar_handle", "MPI_T_pvar_session", "MPI_T_event_registration",
		"MPI_T_event_instance":
		return true
	}
	return false
}

// goType returns the type of a parameter in the prototype of a Go export, by its name in _cgo_export.h.
func goType(p *abi.Param) string {
	is, _ := p.Handle()
	if p.Pointer() || is || isPointerType(p) {
		return "GoUintptr"
	}
	switch p.CType() {
	case "int", "const int", "MPI_T_cb_safety":
		return "GoInt32"
	case "MPI_Aint", "MPI_Count", "MPI_Offset":
		return "GoInt64"
	case "double":
		return "GoFloat64"
	}
	panic("gen: no Go type for " + p.C)
}

// callsHeader returns a header that declares the functions of the ABI that a directory implements.
func callsHeader(dir string, functions []*abi.Function) []byte {
	var b bytes.Buffer
	guard := "GOMPI_Z_" + strings.ToUpper(dir) + "_CALLS_H"
	fmt.Fprintf(&b, "// %s\n", notice)
	fmt.Fprintf(&b, "//\n// The functions of the ABI that are implemented here. Every file that defines one "+
		"includes this file, so that a\n// definition with other types does not compile.\n"+
		"#ifndef %s\n#define %s\n\n#include \"base/abi.h\"\n\n#pragma GCC visibility push(hidden)\n\n",
		guard, guard)
	for _, f := range functions {
		writeImplementation(&b, f)
	}
	b.WriteString("\n#pragma GCC visibility pop\n#endif\n")
	return b.Bytes()
}

// writeImplementation declares the implementation of f in C.
func writeImplementation(b *bytes.Buffer, f *abi.Function) {
	b.WriteString(wrap("GOMPI_CALL "+f.Returns+" "+internalName(f)+"(", cParams(f), ");") + "\n")
}

// cParams returns the C parameters of a function as the standard declares them.
func cParams(f *abi.Function) []string {
	var list []string
	for _, p := range f.CParams() {
		list = append(list, p.C)
	}
	if len(list) == 0 {
		list = []string{"void"}
	}
	return list
}

// entryHeader returns the declarations of the implementations that the entry points call, so that a different
// definition does not compile.
func entryHeader(have implementations, packages map[string][]*abi.Function) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n", notice)
	b.WriteString(`//
// The implementations of the ABI's functions, as capi defines them: in C with the standard's types, in Go with handles
// and pointers as integers. A definition with other types does not compile.
#ifndef GOMPI_Z_ENTRY_H
#define GOMPI_Z_ENTRY_H

#include <stdint.h>

#include "base/abi.h"

#include "_cgo_export.h"
#include "base/call_name.h"
#include "base/error_status.h"
#include "runtime/raise.h"
`)
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(&b, "#include \"%s/z_calls.h\"\n", dir)
	}
	b.WriteString(`
// Makes MPI_X the weak alias of PMPI_X.
#define GOMPI_ALIAS(name) \
    __attribute__((weak, alias("P" #name), visibility("default"))) extern __typeof__(P##name) name;

// Implemented in Go.
`)
	for _, f := range abi.Functions() {
		if have[internalName(f)] != styleGo {
			continue
		}
		var list []string
		for _, p := range f.CParams() {
			if p.C != "..." {
				list = append(list, goType(p)+" "+p.CName)
			}
		}
		if len(list) == 0 {
			list = []string{"void"}
		}
		b.WriteString(wrap("extern GoInt32 "+internalName(f)+"(", list, ");") + "\n")
	}
	b.WriteString("\n#endif\n")
	return b.Bytes()
}

// prototype returns "int MPI_X(...)" with the text `prefix` before the name, without a semicolon or body.
func prototype(f *abi.Function, prefix string) string {
	var list []string
	for _, p := range f.CParams() {
		list = append(list, declaration(p))
	}
	if len(list) == 0 {
		list = []string{"void"}
	}
	return wrap(f.Returns+" "+prefix+f.Name+"(", list, ")")
}

// wrap is genfile.Wrap with continuation lines that are indented by four spaces.
func wrap(head string, items []string, tail string) string {
	return genfile.Wrap(head, items, tail, "    ")
}

// exports returns the linker script with the names that the library exports. The names have no version: a program that
// was built with one library of the standard ABI must run with another one.
//
// It is an implicit linker script, like libc.so on Linux. The reason: cgo does not allow -Wl,--version-script in a
// source file, but it allows an input file called *.so. Therefore a plain `go build` also hides all other names.
func exports() []byte {
	return []byte("/* " + notice +
		" */\nVERSION {\n  {\n    global:\n      MPI_*;\n      PMPI_*;\n      MPIX_*;\n" +
		"    local:\n      *;\n  };\n}\n")
}
