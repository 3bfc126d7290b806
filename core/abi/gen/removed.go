package main

import (
	"bytes"
	"fmt"

	"gompirma/core/abi"
)

const removedTop = `
/* ======== Functions that MPI-3.0 removed (MPI-5.0 chapter 17) ======== */

/*
 * These are not part of the ABI. They call the functions that replaced them, so they work with every library of the
 * ABI, and a profiling library sees the latter. If X is a macro of the program, it is not defined here. MPI_LB and
 * MPI_UB do not exist: use MPI_Type_create_resized.
 */
`

// writeRemoved writes the constants that MPI-3.0 removed, and inline definitions of the functions that it removed.
func writeRemoved(b *bytes.Buffer) {
	b.WriteString(removedTop)
	group := ""
	for _, c := range abi.RemovedConstants() {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(b, "\n/* %s. */\n", group)
		}
		writeConstant(b, c)
	}
	b.WriteString("\n/* As MPI_Comm_errhandler_function. */\n#ifndef MPI_Handler_function\n" +
		"typedef MPI_Comm_errhandler_function MPI_Handler_function;\n#endif\n")
	for _, f := range abi.Removed() {
		b.WriteString("\n")
		writeDoc(b, f)
		fmt.Fprintf(b, "#ifndef %s\n%s#endif\n%s", f.Name, inline(f, ""), inline(f, "P"))
	}
}

// inline returns the definition of the removed function f. The definition calls the function that replaced f, with the
// same prefix. That function validates all arguments, including null pointers.
func inline(f *abi.Function, prefix string) string {
	var params, args []string
	for _, p := range f.CParams() {
		params = append(params, declaration(p))
		args = append(args, p.CName)
	}
	by := prefix + f.ReplacedBy + "("
	var body string
	switch f.Name {
	case "MPI_Type_extent":
		body = "    MPI_Aint lb = 0;\n    return " + by + "datatype, &lb, extent);\n"
	case "MPI_Type_lb":
		body = "    MPI_Aint extent = 0;\n    return " + by + "datatype, lb, &extent);\n"
	case "MPI_Type_ub":
		body = "    MPI_Aint lb = 0, extent = 0;\n    int rc = " + by + "datatype, &lb, ub ? &extent : ub);\n" +
			"    if (rc == MPI_SUCCESS && ub)\n        *ub = lb + extent;\n    return rc;\n"
	default:
		body = wrap("    return "+by, args, ");\n")
	}
	return wrap("static inline "+f.Returns+" "+prefix+f.Name+"(", params, ")\n{\n") + body + "}\n"
}
