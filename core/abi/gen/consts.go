package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"

	"gompirma/core/abi"
)

// goConstants writes every constant under its own name as an untyped Go constant.
func goConstants() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage abi\n\nconst (\n", notice)
	group := ""
	for _, c := range abi.Constants() {
		if c.Group != group {
			if group != "" {
				b.WriteString("\n")
			}
			group = c.Group
			fmt.Fprintf(&b, "// %s.\n\n", group)
		}
		fmt.Fprintf(&b, "%s = %s", c.Name, c.Value)
		if c.Text != "" {
			fmt.Fprintf(&b, " // %s", c.Text)
		}
		b.WriteString("\n")
	}
	b.WriteString(")\n")
	return formatted(b.Bytes())
}

// goErrors writes the names and texts of the error classes.
func goErrors() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage abi\n\n", notice)
	for _, t := range []struct {
		name, doc string
		value     func(*abi.Constant) string
	}{
		{"ErrorClassName", "returns the name of a predefined error class, \"MPI_ERR_RANK\", or \"\" if class " +
			"is none.",
			func(c *abi.Constant) string { return c.Name }},
		{"ErrorClassText", "returns in a few words what a predefined error class means, or \"\" if class is " +
			"none.",
			func(c *abi.Constant) string { return c.Text }},
	} {
		fmt.Fprintf(&b, "// %s %s\nfunc %s(class int32) string {\nswitch class {\n", t.name, t.doc, t.name)
		for _, c := range errorClasses() {
			fmt.Fprintf(&b, "case %s:\nreturn %q\n", c.Name, t.value(c))
		}
		b.WriteString("}\nreturn \"\"\n}\n\n")
	}
	return formatted(b.Bytes())
}

// errorClasses returns the constants that are error classes, MPI_SUCCESS among them.
func errorClasses() []*abi.Constant {
	var list []*abi.Constant
	for _, c := range abi.Constants() {
		if strings.HasPrefix(c.Group, "Error classes") {
			list = append(list, c)
		}
	}
	return list
}

func formatted(source []byte) []byte {
	out, err := format.Source(source)
	if err != nil {
		panic(err)
	}
	return out
}
