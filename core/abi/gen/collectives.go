package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"strings"

	"gompirma/core/abi"
)

// call is one form of a collective operation: the call that waits, the one that starts, the one that makes a persistent
// request.
type call struct {
	*abi.Function
	operation string // the name of the form that waits
	method    string // of capi's collective: what the form does, with its arguments
}

// calls returns every form of every collective operation, in the order of the table. An operation is collective if the
// chapters of collectives and of topologies have it in all three forms; their other functions have one only.
func calls() []call {
	var list []call
	for _, f := range abi.Functions() {
		if f.Chapter != 6 && f.Chapter != 8 {
			continue
		}
		name := strings.TrimSuffix(f.Name, "_c")
		c := call{f, name, "run()"}
		if blocking, ok := strings.CutSuffix(name, "_init"); ok {
			c.operation, c.method = blocking, "init(info, request)"
		} else if started, ok := strings.CutPrefix(name, "MPI_I"); ok {
			c.operation, c.method = "MPI_"+strings.ToUpper(started[:1])+started[1:], "start(request)"
		}
		started := "MPI_I" + strings.ToLower(c.operation[4:5]) + c.operation[5:]
		if abi.FunctionByName(c.operation) != nil && abi.FunctionByName(started) != nil &&
			abi.FunctionByName(c.operation+"_init") != nil {
			list = append(list, c)
		}
	}
	return list
}

// exported returns the calls that need an export of their own: those that the sources of capi do not define, without
// the small forms that the large ones carry out.
func exported(written implementations) []call {
	var list []call
	for _, c := range calls() {
		if _, how := written.implementation(c.Function); how == none && !c.Widens() {
			list = append(list, c)
		}
	}
	return list
}

// withCollectives returns what capi defines once the exports of collectives are written.
func (written implementations) withCollectives() implementations {
	have := maps.Clone(written)
	for _, c := range exported(written) {
		have[internalName(c.Function)] = inGo
	}
	return have
}

// collectives writes the exports of the collective operations that nobody has written by hand.
func collectives(written implementations) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `// %s

package main

import "C"

import "gompirma/core/coll"

// The calls of collective operations: what each argument stands for; coll.go does the rest.
`, notice)
	for _, c := range exported(written) {
		writeExport(&b, c)
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		panic("gen: " + err.Error())
	}
	return text
}

func writeExport(b *bytes.Buffer, c call) {
	name := internalName(c.Function)
	fmt.Fprintf(b, "\n// MPI-5.0 %s\n//\n//export %s\n", c.Section, name)
	b.WriteString(strings.ReplaceAll(wrap("func "+name+"(", goParameters(c.CParams()), ") int32 {"), "\n    ",
		"\n\t"))
	fmt.Fprintf(b, "\n\ta := collective{\n\t\tfunction: %q, kind: coll.%s", strings.TrimSuffix(c.Name, "_c"),
		kindName(c))
	var sides [2][]string // what is sent, what is received
	wide, now := false, 0
	for _, p := range c.CParams() {
		if p.Kind.Name == "BUFFER" {
			// MPI_Bcast's is received: the root has what all get
			if now = 1; p.Const {
				now = 0
			}
		}
		field, one := fieldOf(p)
		if one {
			fmt.Fprintf(b, ", %s: %s", field, p.CName)
		} else if field != "" {
			value := p.CName
			if field == "count" && !c.Large {
				value = "int64(" + value + ")"
			}
			sides[now] = append(sides[now], field+": "+value)
		}
		wide = wide || c.Large && p.Kind.Poly() && p.Pointer()
	}
	if wide {
		b.WriteString(", wide: true")
	}
	b.WriteString(",\n")
	for i, name := range []string{"send", "recv"} {
		if len(sides[i]) > 0 {
			fmt.Fprintf(b, "\t\t%s: side{%s},\n", name, strings.Join(sides[i], ", "))
		}
	}
	fmt.Fprintf(b, "\t}\n\treturn a.%s\n}\n", c.method)
}

// fieldOf returns the field that a parameter fills: of the call, if it has one such parameter only, or of the side that
// the last buffer began. Info and request are arguments of its method.
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

// kindName returns the name that core/coll gives an operation: KindReduceScatterBlock for MPI_Reduce_scatter_block.
func kindName(c call) string {
	name := "Kind"
	for _, word := range strings.Split(strings.TrimPrefix(c.operation, "MPI_"), "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// goParameters returns the parameters of an export in Go; of neighbours of one type only the last has it.
func goParameters(params []*abi.Param) []string {
	var list []string
	for i, p := range params {
		item := p.CName
		if i+1 == len(params) || goType(p) != goType(params[i+1]) {
			item += " " + strings.ToLower(strings.TrimPrefix(goType(p), "Go"))
		}
		list = append(list, item)
	}
	return list
}
