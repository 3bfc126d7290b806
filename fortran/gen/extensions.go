package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// Functions that are not part of MPI (abi.Extensions). They have no PMPI_ names and no buffers.

// extensionsByHand lists the functions in fortran/extension.c. Their requests return a result at completion, or they
// have an INOUT argument.
var extensionsByHand = []string{"mpix_comm_ishrink", "mpix_comm_agree", "mpix_comm_iagree"}

// extensionShims generates the C functions, and checks that C has the same constants.
func extensionShims() []byte {
	var b bytes.Buffer
	for _, f := range abi.Extensions() {
		if !slices.Contains(extensionsByHand, base(f)) {
			writeShim(&b, f, f90, base(f))
			fmt.Fprintf(&b, "SAME(%s, %s%s)\n", base(f), base(f), suffix(f))
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "/* %s */\n/* The functions that are not part of MPI. */\n#include \"extension.h\"\n\n",
		notice)
	for _, c := range abi.ExtensionConstants() {
		fmt.Fprintf(&out, "_Static_assert(%s == %s, \"the constant of mpix_gompirma.h\");\n", c.Name, c.Value)
	}
	for name, other := range map[string]string{"ENTRY void NAME(": "ENTRY void EXTENSION(", "CALL(": "MPIX(",
		"\nSAME(": "\nSAME_EXTENSION("} {
		b = *bytes.NewBufferString(strings.ReplaceAll(b.String(), name, other))
	}
	out.Write(b.Bytes())
	return out.Bytes()
}

// extensionModules generates the modules mpi_ext and mpi_f08_ext, which Open MPI has, too.
func extensionModules() []byte {
	t := &fortran{}
	t.line("! %s", notice)
	t.line("! The functions that are not part of MPI, for programs that use mpi or mpi_f08.")
	t.line("module gompi_extensions")
	t.indent++
	t.line("implicit none")
	t.line("public")
	for _, c := range abi.ExtensionConstants() {
		t.line("integer, parameter :: %s = %s", c.Name, c.Value)
	}
	t.indent--
	t.line("end module")
	for _, m := range []struct {
		name, types string
		b           binding
	}{{"mpi_ext", "", f90}, {"mpi_f08_ext", "use mpi_f08, only: MPI_Comm, MPI_Group, MPI_Request", f08}} {
		t.line("")
		t.line("module %s", m.name)
		t.indent++
		t.line("use gompi_extensions")
		if m.types != "" {
			t.line("%s", m.types)
		}
		t.line("implicit none")
		t.line("public")
		if m.types != "" { // the program has the types from mpi_f08
			t.line("private :: MPI_Comm, MPI_Group, MPI_Request")
		}
		for _, f := range abi.Extensions() {
			t.line("")
			t.indent++
			if m.b == f08 {
				t.indent--
				t.line("interface %s", f.Name)
				t.indent++
				t.specific(f, "", 4)
			} else {
				t.indent--
				t.line("interface")
				t.indent++
				t.procedure(f90, f, f.Name, "")
			}
			t.indent--
			t.line("end interface")
		}
		t.indent--
		t.line("end module")
	}
	return t.Bytes()
}

// extensionHeader generates mpif-ext.h. To be valid in fixed and in free form, its statements begin in column 7.
func extensionHeader() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "! %s\n! The constants of functions that are not part of MPI, for programs that include "+
		"mpif.h.\n", notice)
	for _, c := range abi.ExtensionConstants() {
		fmt.Fprintf(&b, "      INTEGER %s\n      PARAMETER (%s=%s)\n", c.Name, c.Name, c.Value)
	}
	return b.Bytes()
}
