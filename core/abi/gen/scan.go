package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	// "int gompi_x(" at the beginning of a line in capi/*.c and capi/*/*.c: exactly the C types of the standard
	styleC
)

// implementations holds the style of each gompi_ function that capi defines.
type implementations map[string]style

var (
	goExport    = regexp.MustCompile(`(?m)^//export (gompi_\w+)\s*$`)
	cDefinition = regexp.MustCompile(`(?m)^(?:int|double|MPI_\w+) (gompi_\w+)\(`)
)

// scan reads the sources of capi, except for generated ones (z_*) and tests. A directory that does not exist has no
// implementations.
func scan(dir string) (implementations, error) {
	have := implementations{}
	for _, s := range []struct {
		pattern string
		define  *regexp.Regexp
		style   style
	}{{"*.go", goExport, styleGo}, {"*.c", cDefinition, styleC}, {"*/*.c", cDefinition, styleC}} {
		names, err := filepath.Glob(filepath.Join(dir, s.pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if b := filepath.Base(name); strings.HasPrefix(b, "z_") || strings.HasSuffix(b, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			for _, m := range s.define.FindAllSubmatch(text, -1) {
				if now := have[string(m[1])]; now != styleNone && now != s.style {
					return nil, fmt.Errorf("%s is defined both in Go and in C", m[1])
				}
				have[string(m[1])] = s.style
			}
		}
	}
	return have, nil
}

// functionsByDir returns the directories below capi that define functions of the ABI in C, with the functions of each
// in the order of the table.
func functionsByDir(capi string) (map[string][]*abi.Function, error) {
	names, err := filepath.Glob(filepath.Join(capi, "*", "*.c"))
	if err != nil {
		return nil, err
	}
	of := map[string][]*abi.Function{}
	for _, name := range names {
		of[filepath.Base(filepath.Dir(name))] = nil
	}
	for dir := range of {
		have, err := scan(filepath.Join(capi, dir))
		if err != nil {
			return nil, err
		}
		for _, f := range abi.Functions() {
			if have[internalName(f)] == styleC {
				of[dir] = append(of[dir], f)
			}
		}
		if of[dir] == nil {
			delete(of, dir)
		}
	}
	return of, nil
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
