package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"

	"gompirma/core/abi"
)

// goConstants returns the Go source of every constant under its own name as an untyped constant.
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

// cErrors returns the C header of the error classes with their names and texts.
func cErrors() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n//\n// The predefined error classes, and what each means.\n"+
		"#ifndef GOMPI_Z_CLASSES_H\n#define GOMPI_Z_CLASSES_H\n\n#define GOMPI_ERROR_CLASSES(X)", notice)
	for _, c := range errorClasses() {
		fmt.Fprintf(&b, " \\\n\tX(%s, %q)", c.Name, c.Text)
	}
	b.WriteString("\n\n#endif\n")
	return b.Bytes()
}

// errorClasses returns the constants that are error classes, including MPI_SUCCESS.
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
