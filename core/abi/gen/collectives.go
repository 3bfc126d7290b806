package main

import (
	"bytes"
	"fmt"
	"maps"
	"strings"

	"gompirma/core/abi"
)

// call is one form of a collective operation: the blocking, the nonblocking or the persistent one.
type call struct {
	*abi.Function
	operation string // the name of the blocking form
	ends      string // end of the generated call: last word of the function's name in capi/coll, and the arguments
}

// calls returns every form of every collective operation, in the order of the table. An operation is collective if the
// chapter on collectives or on topologies has it in all three forms. The other functions of these chapters have one
// form only.
func calls() []call {
	var list []call
	for _, f := range abi.Functions() {
		if f.Chapter != 6 && f.Chapter != 8 {
			continue
		}
		name := strings.TrimSuffix(f.Name, "_c")
		c := call{f, name, "run(&a)"}
		if blocking, ok := strings.CutSuffix(name, "_init"); ok {
			c.operation, c.ends = blocking, "init(&a, info, request)"
		} else if started, ok := strings.CutPrefix(name, "MPI_I"); ok {
			c.operation, c.ends = "MPI_"+strings.ToUpper(started[:1])+started[1:], "start(&a, request)"
		}
		started := "MPI_I" + strings.ToLower(c.operation[4:5]) + c.operation[5:]
		if abi.FunctionByName(c.operation) != nil && abi.FunctionByName(started) != nil &&
			abi.FunctionByName(c.operation+"_init") != nil {
			list = append(list, c)
		}
	}
	return list
}

// generated returns the calls to generate: the forms that the sources of capi do not define. It omits a small form if
// the large-count form implements it.
func generated(written implementations) []call {
	var list []call
	for _, c := range calls() {
		if _, how := written.implementation(c.Function); how == styleNone && !c.CanWiden() {
			list = append(list, c)
		}
	}
	return list
}

// withGenerated returns the implementations written by hand and the generated implementations.
func (written implementations) withGenerated() implementations {
	have := maps.Clone(written)
	for _, c := range generated(written) {
		have[internalName(c.Function)] = styleC
	}
	return have
}

// collectivesDir is the directory of the collectives.
const collectivesDir = "coll"

// addCollectives adds the generated forms to `packages`, which maps each directory to its functions.
func addCollectives(written implementations, packages map[string][]*abi.Function) {
	have := map[*abi.Function]bool{}
	for _, f := range packages[collectivesDir] {
		have[f] = true
	}
	for _, c := range generated(written) {
		have[c.Function] = true
	}
	packages[collectivesDir] = nil
	for _, f := range abi.Functions() {
		if have[f] {
			packages[collectivesDir] = append(packages[collectivesDir], f)
		}
	}
}

// collectivesSource returns the C source of the generated forms.
func collectivesSource(written implementations) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `// %s
//
// The entry functions of the calls that run or start a collective, or create a persistent request for one. Each stores
// its arguments in a struct gompi_collective, and passes it to the function that all of these calls share.
#include "coll/entry.h"
#include "coll/z_calls.h"
`, notice)
	for _, c := range generated(written) {
		writeCollective(&b, c)
	}
	return b.Bytes()
}

func writeCollective(b *bytes.Buffer, c call) {
	head := wrap("int "+internalName(c.Function)+"(", cParams(c.Function), ")")
	fmt.Fprintf(b, "\n// MPI-5.0 %s\n%s {\n", c.Section, head)
	fields := []string{fmt.Sprintf("name = %q", strings.TrimSuffix(c.Name, "_c")),
		"kind = GOMPI_" + strings.ToUpper(strings.TrimPrefix(c.operation, "MPI_"))}
	one, sides, wide := fieldsOf(c)
	for _, f := range one {
		if f[0] != "root" {
			f[1] = "(uintptr_t)" + f[1]
		}
		fields = append(fields, f[0]+" = "+f[1])
	}
	if wide {
		fields = append(fields, "is_large = true")
	}
	for i, name := range []string{"send", "recv"} {
		for _, f := range sides[i] {
			if f[0] == "typ" {
				f[0] = "type"
			}
			if f[0] != "count" {
				f[1] = "(uintptr_t)" + f[1]
			}
			fields = append(fields, name+"."+f[0]+" = "+f[1])
		}
	}
	b.WriteString(wrap("\tstruct gompi_collective a = {", dotted(fields), "};") + "\n")
	fmt.Fprintf(b, "\treturn gompi_collective_%s;\n}\n", c.ends)
	fmt.Fprintf(b, "GOMPI_ENTRY(%s, %s);\n", c.Name, internalName(c.Function))
}

// dotted returns the names of fields with a dot in front, as designated initializers of C need them.
func dotted(fields []string) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = "." + f
	}
	return out
}

// fieldsOf returns pairs of a field of C's struct and the parameter that sets the field. The result `one` has the
// fields that exist once in a call. The result `sides` has the fields of the send side (0) and of the receive side (1).
// The result `wide` is true if array arguments have elements of 64 bits.
func fieldsOf(c call) (one [][2]string, sides [2][][2]string, wide bool) {
	now := 0
	for _, p := range c.CParams() {
		if p.Kind.Name == "BUFFER" {
			// A buffer without const belongs to the receive side. This includes the buffer of MPI_Bcast,
			// also at the root.
			if now = 1; p.Const {
				now = 0
			}
		}
		field, alone := fieldOf(p)
		if alone {
			one = append(one, [2]string{field, p.CName})
		} else if field != "" {
			sides[now] = append(sides[now], [2]string{field, p.CName})
		}
		wide = wide || c.Large && p.Kind.DiffersLarge() && p.Pointer()
	}
	return one, sides, wide
}

// fieldOf returns the field that a parameter sets. The result `one` is true if the field exists once in a call.
// Otherwise the send side and the receive side each have such a field, and the preceding buffer determines the side.
// For info and request the field is "": they are passed as separate arguments.
func fieldOf(p *abi.Param) (field string, one bool) {
	array := len(p.Length) > 0
	switch k := p.Kind.Name; {
	case k == "COMMUNICATOR":
		return "comm", true
	case k == "RANK":
		return "root", true
	case k == "OPERATION":
		return "op", true
	case k == "BUFFER":
		return "buf", false
	case k == "DATATYPE" && array:
		return "types", false
	case k == "DATATYPE":
		return "typ", false
	case strings.Contains(k, "NUM_ELEM") && array:
		return "counts", false
	case strings.Contains(k, "NUM_ELEM"):
		return "count", false
	case strings.Contains(k, "DISPLACEMENT"):
		return "displs", false
	case k == "INFO", k == "REQUEST":
		return "", false
	}
	panic("gen: no field of a collective for " + p.Name + " " + p.Kind.Name)
}
