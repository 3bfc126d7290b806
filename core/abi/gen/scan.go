package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// style is the way in which a function is implemented.
type style int

const (
	styleNone style = iota
	// "//export gompi_x" in capi/*.go: handles and pointers as uintptr; a negative result is a token for
	// gompi_raise_pending.
	styleGo
	// "int gompi_x(" at the beginning of a line in capi/*/*.c: exactly the C types of the standard
	styleC
)

// implementations holds the style of each gompi_ function that capi defines.
type implementations map[string]style

var (
	goExport    = regexp.MustCompile(`(?m)^//export (gompi_\w+)\s*$`)
	cDefinition = regexp.MustCompile(`(?m)^(?:int|double|MPI_\w+) (gompi_\w+)\(`)
)

// scan returns the style of each function that the sources of capi define. If the directory capi is missing, the result
// is empty. scan returns an error if a function is defined both in Go and in C.
func scan(capi string) (implementations, error) {
	inGo, err := definedNames(filepath.Join(capi, "*.go"), goExport)
	if err != nil {
		return nil, err
	}
	inC, err := definedNames(filepath.Join(capi, "*/*.c"), cDefinition)
	if err != nil {
		return nil, err
	}
	have := implementations{}
	for _, names := range inGo {
		for _, name := range names {
			have[name] = styleGo
		}
	}
	for _, names := range inC {
		for _, name := range names {
			if have[name] == styleGo {
				return nil, fmt.Errorf("%s is defined both in Go and in C", name)
			}
			have[name] = styleC
		}
	}
	return have, nil
}

// definedNames returns, for each directory, the names that its files define. The glob `pattern` selects the files, and
// the expression `define` matches a definition. definedNames omits generated files (z_*) and tests.
func definedNames(pattern string, define *regexp.Regexp) (map[string][]string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	names := map[string][]string{}
	for _, file := range files {
		if b := filepath.Base(file); strings.HasPrefix(b, "z_") || strings.HasSuffix(b, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		dir := filepath.Base(filepath.Dir(file))
		for _, m := range define.FindAllSubmatch(text, -1) {
			names[dir] = append(names[dir], string(m[1]))
		}
	}
	return names, nil
}

// functionsByDir returns, for each directory below capi, the functions of the ABI that the directory defines in C, in
// the order of the table.
func functionsByDir(capi string) (map[string][]*abi.Function, error) {
	inC, err := definedNames(filepath.Join(capi, "*/*.c"), cDefinition)
	if err != nil {
		return nil, err
	}
	functions := map[string][]*abi.Function{}
	for dir, names := range inC {
		for _, f := range abi.Functions() {
			if slices.Contains(names, internalName(f)) {
				functions[dir] = append(functions[dir], f)
			}
		}
	}
	return functions, nil
}

// internalName returns the name of a function's implementation: gompi_win_lock for MPI_Win_lock, gompi_t_init_thread
// for MPI_T_init_thread.
func internalName(f *abi.Function) string {
	return "gompi_" + strings.ToLower(strings.TrimPrefix(f.Name, "MPI_"))
}

// implementation returns the function whose implementation f uses (itself or its large-count form) and its style.
func (have implementations) implementation(f *abi.Function) (*abi.Function, style) {
	if s := have[internalName(f)]; s != styleNone {
		return f, s
	}
	if f.CanWiden() {
		if s := have[internalName(f.OtherForm)]; s != styleNone {
			return f.OtherForm, s
		}
	}
	return nil, styleNone
}
