package main

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"gompirma/core/abi"
)

// fuzzCalls returns the C source for tests/c/fuzz that describes all functions. For each function, it has the semantic
// kinds of the parameters, and a C function that makes the call with arguments from an array.
func fuzzCalls(have implementations) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n", notice)
	b.WriteString("/* Every function of the standard ABI: its parameters, and the call with arguments out of an " +
		"array. */\n#include \"fuzz.h\"\n")
	lists := map[string]string{} // names of parameter lists by content, since many functions share a list
	var rows bytes.Buffer
	for _, f := range abi.Functions() {
		params, name := fuzzParams(f), "NULL"
		if params != "" {
			if lists[params] == "" {
				lists[params] = "params_" + f.Name
				fmt.Fprintf(&b, "\nstatic const struct param params_%s[] = {\n%s};\n", f.Name, params)
			}
			name = lists[params]
		}
		fmt.Fprintf(&b, "\n%s", fuzzCall(f))
		fmt.Fprintf(&rows, "    {\"%s\", call_%s, %s, %d, %d, %s},\n", f.Name, f.Name, name,
			strings.Count(params, "\n"), f.Chapter, fuzzFlags(have, f))
	}
	fmt.Fprintf(&b, "\nconst struct function functions[FUNCTIONS] = {\n%s};\n", &rows)
	return b.Bytes()
}

// fuzzKinds returns the header with the kinds of parameters.
func fuzzKinds() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n/* The semantic kinds of parameters. */\n#ifndef Z_KINDS_H\n#define "+
		"Z_KINDS_H\n\nenum kind {\n", notice)
	var names []string
	for name := range abi.Kinds() {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, "    K_%s,\n", name)
	}
	fmt.Fprintf(&b, "    KINDS\n};\n\nenum { FUNCTIONS = %d };\n\n#endif\n", len(abi.Functions()))
	return b.Bytes()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fuzzFlags returns the flags of a function as C text: MISSING if the library does not implement it, NO_CODE if it
// returns no error code, or 0.
func fuzzFlags(have implementations, f *abi.Function) string {
	var flags []string
	if _, style := have.implementation(f); style == styleNone {
		flags = append(flags, "MISSING")
	}
	if f.Returns != "int" || strings.HasSuffix(f.Name, "_toint") {
		flags = append(flags, "NO_CODE")
	}
	if len(flags) == 0 {
		return "0"
	}
	return strings.Join(flags, " | ")
}

// width returns the size in bytes of one element of a parameter, in C on a 64-bit machine.
func width(p *abi.Param) int {
	t := strings.TrimPrefix(p.CType(), "const ")
	switch {
	case strings.HasSuffix(t, "(*)[3]"):
		return 12
	case p.Kind.Name == "STATUS":
		return 32
	case strings.HasPrefix(t, "char *"):
		return 1 + 7*boolInt(strings.Count(t, "*") > 1)
	case strings.HasPrefix(t, "void *"), strings.HasPrefix(t, "char **"):
		return 8
	}
	switch strings.TrimRight(t, " *") {
	case "int", "MPI_T_cb_safety", "MPI_T_source_order":
		return 4
	}
	return 8 // MPI_Aint, MPI_Count, MPI_Offset, handles, functions
}

// bufferOf returns the indices of the two parameters from which the length of buffer i follows: a count (of elements or
// bytes) and a datatype. The index of a parameter that the function does not have is -1. A count of bytes has no
// datatype.
func bufferOf(params []*abi.Param, i int) (count, datatype int) {
	count, datatype = -1, -1
	for j := i + 1; j < len(params) && count < 0; j++ {
		switch k := params[j].Kind.Name; {
		case params[j].Dir != abi.In:
		case k == "DATATYPE":
			return -1, j // one element
		case strings.Contains(k, "NUM_ELEM"), strings.Contains(k, "NUM_BYTES"), k == "POLYDTYPE_PACK_SIZE",
			k == "WINDOW_SIZE", k == "WIN_ATTACH_SIZE":
			count = j
		}
	}
	if count < 0 || !strings.Contains(params[count].Kind.Name, "NUM_ELEM") {
		return count, -1
	}
	for j := count + 1; j < len(params); j++ {
		if p := params[j]; p.Kind.Name == "DATATYPE" && p.Dir == abi.In {
			return count, j
		}
	}
	return count, -1
}

// lengthOf returns two facts about the length of an array. The first is C text: the index of the parameter that holds
// the length, or SCALAR, FIXED or OTHER. The second is the length if the first is FIXED, else 0.
func lengthOf(params []*abi.Param, p *abi.Param) (string, int64) {
	if len(p.Length) == 0 {
		return "SCALAR", 0
	}
	for i, q := range params {
		if q.Name == p.Length[0] {
			return fmt.Sprint(i), 0
		}
	}
	if strings.HasPrefix(p.Length[0], "MPI_") {
		for _, c := range abi.Constants() {
			if c.Name == p.Length[0] {
				return "FIXED", c.Number()
			}
		}
	}
	return "OTHER", 0
}

// fuzzParams returns the initializers of a function's parameters, one line for each, except for variable arguments.
func fuzzParams(f *abi.Function) string {
	var b strings.Builder
	params := f.CParams()
	for i, p := range params {
		if p.C == "..." {
			continue
		}
		dir := map[abi.Dir]string{abi.In: "IN", abi.Out: "OUT", abi.InOut: "INOUT"}[p.Dir]
		length, number := lengthOf(params, p)
		count, datatype := -1, -1
		if p.Kind.Name == "BUFFER" {
			count, datatype = bufferOf(params, i)
		}
		function := "NULL"
		if p.Func != "" {
			function = "\"" + strings.TrimSuffix(p.CType(), " *") + "\""
		}
		fmt.Fprintf(&b, "    {\"%s\", K_%s, %s, %d, %d, %s, %d, %d, %d, %s},\n", p.CName, p.Kind.Name, dir,
			boolInt(p.Pointer()), width(p), length, number, count,
			datatype, function)
	}
	return b.String()
}

// fuzzCall returns the C function that calls f.
func fuzzCall(f *abi.Function) string {
	var args []string
	for i, p := range f.CParams() {
		is, _ := p.Handle()
		switch {
		case p.C == "...":
		case strings.HasSuffix(p.Kind.Name, "FUNCTION"):
			args = append(args, fmt.Sprintf("(%s *)a[%d].function", strings.TrimSuffix(p.CType(), " *"), i))
		case p.Pointer() || is || isPointerType(p):
			args = append(args, fmt.Sprintf("a[%d].pointer", i))
		case width(p) == 4:
			args = append(args, fmt.Sprintf("(%s)a[%d].number", strings.TrimPrefix(p.CType(), "const "), i))
		default:
			args = append(args, fmt.Sprintf("a[%d].number", i))
		}
	}
	unused, cast := "", ""
	if len(args) == 0 {
		unused, args = "    (void)a;\n", []string{""}
	}
	if strings.HasSuffix(f.Name, "_fromint") {
		cast = "(int64_t)(intptr_t)"
	}
	return fmt.Sprintf("static int64_t call_%s(const union value *a)\n{\n%s%s\n}\n", f.Name, unused,
		wrap("    return "+cast+f.Name+"(", args, ");"))
}
