package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gompirma/core/abi/genfile"
)

// callback is a function of capi that packages below capi call through a pointer, since they cannot import capi. The
// pointer is a field of struct gompi_go_callbacks; its name is the function's name without gompi_. A function is
// declared in one of two ways:
//
//   - an exported function in capi/*.go, with pointers and handles as integers. A line before //export states the C
//     types: "//gompi:callback int (const char *name, int size)". A negative result is a token for
//     gompi_raise_pending. If the function executes a whole MPI call, the name of the MPI function follows as an
//     expression in C: `as "MPI_Barrier"`.
//   - a prototype in a header below capi, after the line "// gompi:callback".
type callback struct {
	comment, result, name, parameters, call string
	header                                  string // the header that declares a C function
}

var (
	goCallback = regexp.MustCompile(`(?m)((?:^//(?: .*)?\n)*)` +
		`^//gompi:callback (.+[ *])\((.*?)\)(?: as (.*))?\n//export gompi_(\w+)$`)
	cCallback = regexp.MustCompile(`(?m)((?:^// .*\n)*)^// gompi:callback\n(.+[ *])gompi_(\w+)\(([^)]*)\);`)
	blanks    = regexp.MustCompile(`\s+`)
	structs   = regexp.MustCompile(`struct \w+`)
	lastWord  = regexp.MustCompile(`\w+$`)
)

// callbacks returns the callbacks that the sources of capi declare, by the names of their files.
func callbacks(root string) ([]callback, error) {
	var list []callback
	for _, pattern := range []string{"capi/*/*.h", "capi/*.go"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			for _, m := range cCallback.FindAllStringSubmatch(string(text), -1) {
				header, _ := filepath.Rel(filepath.Join(root, "capi"), name)
				list = append(list, callback{comment: m[1], result: m[2], name: m[3],
					parameters: blanks.ReplaceAllString(m[4], " "), header: header})
			}
			for _, m := range goCallback.FindAllStringSubmatch(string(text), -1) {
				list = append(list, callback{comment: strings.TrimSuffix(m[1], "//\n"), result: m[2],
					parameters: m[3], call: m[4], name: m[5]})
			}
		}
	}
	return list, nil
}

// callbackFiles returns the header with the struct of callbacks and the C file that initializes it.
func callbackFiles(root string) (genfile.Files, error) {
	list, err := callbacks(root)
	if err != nil {
		return nil, err
	}
	var fields, wrappers, values strings.Builder
	var declared, headers []string
	for _, c := range list {
		comment := strings.Replace(c.comment, "// gompi_", "// ", 1)
		comment = strings.ReplaceAll("\n"+comment, "\n//", "\n    //")
		fmt.Fprintf(&fields, "%s    %s(*%s)(%s);\n", comment[1:], c.result, c.name, c.parameters)
		declared = append(declared, structs.FindAllString(c.parameters, -1)...)
		if c.header != "" {
			headers = append(headers, c.header)
			fmt.Fprintf(&values, "        .%s = gompi_%s,\n", c.name, c.name)
			continue
		}
		fmt.Fprintf(&wrappers, "\nstatic %s%s(%s) {\n%s}\n", c.result, c.name, c.parameters, c.body())
		fmt.Fprintf(&values, "        .%s = %s,\n", c.name, c.name)
	}
	slices.Sort(declared)
	slices.Sort(headers)
	var header, source strings.Builder
	fmt.Fprintf(&header, `// %s
//
// Callbacks from these packages to the layers above them: to Go, and to capi/runtime. No package calls either by name,
// so each package can be compiled, tested and understood without them.
#ifndef GOMPI_Z_CALLBACKS_H
#define GOMPI_Z_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

`, notice)
	for _, s := range slices.Compact(declared) {
		fmt.Fprintf(&header, "%s;\n", s)
	}
	header.WriteString(`
// capi/z_callbacks.c fills it in before the first call of MPI. All functions may block for a short time and may
// allocate memory. No fast path calls them.
struct gompi_go_callbacks {
` + fields.String() + `};
extern __attribute__((visibility("hidden"))) struct gompi_go_callbacks gompi_go_callbacks;

#endif
`)
	fmt.Fprintf(&source, "// %s\n#include \"base/go_callbacks.h\"\n\n#include \"_cgo_export.h\"\n"+
		"#include \"base/call_name.h\"\n", notice)
	for _, name := range slices.Compact(headers) {
		fmt.Fprintf(&source, "#include \"%s\"\n", name)
	}
	source.WriteString(wrappers.String() + `
// Runs when the library is loaded, before any call of MPI.
static __attribute__((constructor)) void register_callbacks(void) {
    gompi_go_callbacks = (struct gompi_go_callbacks){
` + values.String() + "    };\n}\n")
	return genfile.Files{"capi/base/z_callbacks.h": []byte(header.String()),
		"capi/z_callbacks.c": []byte(source.String())}, nil
}

// body returns the body of the C function that calls the Go function.
func (c *callback) body() string {
	var arguments []string
	for _, p := range strings.Split(c.parameters, ", ") {
		name := lastWord.FindString(p)
		if strings.Contains(p, "*") {
			name = "(uintptr_t)" + name
		}
		if p != "void" {
			arguments = append(arguments, name)
		}
	}
	call := fmt.Sprintf("gompi_%s(%s)", c.name, strings.Join(arguments, ", "))
	switch result := strings.TrimSpace(c.result); result {
	case "void":
		return "    " + call + ";\n"
	case "int":
		return callGo(c.call, call)
	default:
		return "    return (" + result + ")" + call + ";\n"
	}
}
