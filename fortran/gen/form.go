package main

import (
	"strings"

	"gompirma/core/abi"
)

// binding selects mpi_f08, or the module mpi and mpif.h.
type binding int

const (
	f08 binding = iota // module mpi_f08: handles of derived types, buffers as descriptors
	f90                // module mpi, and the external procedures of mpif.h: handles are INTEGERs, buffers addresses
)

// exists reports whether the binding has the function. The mpi module has no large-count forms (MPI-5.0 19.1).
func (b binding) exists(f *abi.Function) bool {
	if b == f08 {
		return f.F08
	}
	return f.F90 && !f.Large
}

// params returns the dummy arguments of a function.
func (b binding) params(f *abi.Function) []*abi.Param {
	hidden := abi.F08
	if b == f90 {
		hidden = abi.F90
	}
	var list []*abi.Param
	for _, p := range f.Params {
		if p.Hidden&hidden == 0 && p.Kind.Name != "VARARGS" {
			list = append(list, p)
		}
	}
	return list
}

// class returns the class of a parameter in Fortran, as named in core/abi: integer, aint, handle, choice and so on.
func (b binding) class(f *abi.Function, p *abi.Param) string {
	switch {
	case p.Kind.Name == "C_BUFFER2" && b == f90:
		return "choice" // an input: this binding cannot return the address, which needs a TYPE(C_PTR)
	case p.Kind.Name == "LOGICAL_VOID":
		return "logical_void"
	case f.Large:
		return p.Kind.FLarge
	}
	return p.Kind.Fortran
}

var integerKinds = map[string]string{
	"integer": "integer",
	"aint":    "integer(kind=MPI_ADDRESS_KIND)",
	"count":   "integer(kind=MPI_COUNT_KIND)",
	"offset":  "integer(kind=MPI_OFFSET_KIND)",
	"logical": "logical",
}

// handleTypes are the derived types of mpi_f08, in the order of the standard.
var handleTypes = []string{
	"MPI_Comm", "MPI_Datatype", "MPI_Errhandler", "MPI_File", "MPI_Group", "MPI_Info", "MPI_Message", "MPI_Op",
	"MPI_Request",
	"MPI_Session", "MPI_Win",
}

// written lists buffers that MPI writes only after the call has returned. The standard's tables list them as input,
// because the call itself does not change them.
var written = map[string]bool{
	"MPI_Precv_init buf": true, "MPI_Precv_init_c buf": true,
	"MPI_Comm_attach_buffer buffer": true, "MPI_Comm_attach_buffer_c buffer": true,
	"MPI_Session_attach_buffer buffer": true, "MPI_Session_attach_buffer_c buffer": true,
}

// keepsState lists the functions whose callbacks get the program's own extra_state variable. MPICH and Open MPI do the
// same, and some programs change the variable. Callbacks of attributes get a copy instead, since programs must not
// change the extra state of attributes (MPI-5.0 20.3.8). (For attributes, MPICH and Open MPI differ.)
var keepsState = map[string]bool{"MPI_Grequest_start": true, "MPI_Register_datarep": true,
	"MPI_Register_datarep_c": true}

// intent returns the INTENT of a dummy argument; "" if it has none. An output argument has no INTENT if the program may
// pass a constant such as MPI_IN_PLACE or MPI_STATUS_IGNORE, which a call must not define (MPI-5.0 19.1.2).
func (b binding) intent(f *abi.Function, p *abi.Param) string {
	class := b.class(f, p)
	switch {
	case p.Hidden&abi.F08Intent != 0, class == "procedure", class == "logical_void":
		return ""
	case class == "choice" && (b == f90 || p.Dir != abi.In || written[f.Name+" "+p.Name]):
		return ""
	case class == "status" && p.Dir == abi.Out:
		return ""
	case b == f90 && (class == "status" || class == "character"):
		return ""
	}
	return string(p.Dir)
}

// dims returns the shape of a dummy argument, or "" for a scalar.
func (b binding) dims(f *abi.Function, p *abi.Param) string {
	class := b.class(f, p)
	switch {
	case class == "character":
		switch p.Kind.Name {
		case "STRING_ARRAY":
			return "*"
		case "STRING_2DARRAY":
			return p.Length[0] + ",*"
		}
		return ""
	case class == "status" && b == f90:
		if len(p.Length) > 0 {
			return "MPI_STATUS_SIZE,*"
		}
		return "MPI_STATUS_SIZE"
	case len(p.Length) == 2: // n triplets: C's [n][3]
		return p.Length[1] + "," + p.Length[0]
	case p.Array == "hidden", strings.HasSuffix(p.C, "[]") && len(p.Length) == 0:
		return "*"
	case len(p.Length) == 1:
		return p.Length[0]
	}
	return ""
}

// length returns the length of a CHARACTER dummy argument. Only mpi_f08 requires the length of an output variable. In
// the other bindings the output is truncated if the variable is shorter.
func (b binding) length(p *abi.Param) string {
	if b == f08 && p.Dir == abi.Out && len(p.Length) == 1 && p.Length[0] != "*" {
		return p.Length[0]
	}
	return "*"
}

// declaration returns the lines that declare a dummy argument.
func (b binding) declaration(f *abi.Function, p *abi.Param) []string {
	class := b.class(f, p)
	typ := integerKinds[class]
	var attributes []string
	var before []string
	dims := b.dims(f, p)
	switch class {
	case "handle":
		typ = "integer"
		if b == f08 {
			typ = "type(" + p.Kind.C + ")"
		}
	case "status":
		typ = "integer"
		if b == f08 {
			typ = "type(MPI_Status)"
		}
	case "character":
		typ = "character(len=" + b.length(p) + ")"
	case "c_ptr":
		typ = "type(C_PTR)"
		if b == f90 {
			typ = integerKinds["aint"]
		}
	case "logical_void":
		typ = "type(*)"
	case "procedure":
		if b == f90 {
			return []string{"external :: " + p.Name}
		}
		name := p.Func
		if f.Large && p.Kind.Name == "POLYFUNCTION" {
			name += "_c"
		}
		return []string{"procedure(" + name + ") :: " + p.Name}
	case "choice":
		typ = "type(*)"
		attributes = append(attributes, "dimension(..)")
		if b == f90 {
			attributes[0] = "dimension(*)"
			// Directives for several compilers, by which they accept any actual argument.
			before = []string{
				"!GCC$ attributes no_arg_check :: " + p.Name,
				"!DIR$ ignore_tkr (tkr) " + p.Name,
				"!DEC$ attributes no_arg_check :: " + p.Name,
			}
		}
	}
	if in := b.intent(f, p); in != "" {
		attributes = append(attributes, "intent("+in+")")
	}
	if p.Optional && b == f08 {
		attributes = append([]string{"optional"}, attributes...)
	}
	keeps := class == "aint" && keepsState[f.Name] && p.Kind.Name == "EXTRA_STATE"
	// The tables do not mark the buffers of partitioned calls (chapter 4) as asynchronous.
	if p.Async || keeps || class == "choice" && f.Chapter == 4 {
		attributes = append(attributes, "asynchronous")
		if class == "choice" || keeps {
			// MPI uses the address after the call. Because of TARGET, gfortran does not move accesses to
			// the variable across later calls, even if the program's variable has no ASYNCHRONOUS.
			attributes = append(attributes, "target")
		}
	}
	decl := typ
	for _, a := range attributes {
		decl += ", " + a
	}
	decl += " :: " + p.Name
	if dims != "" {
		decl += "(" + dims + ")"
	}
	return append(before, decl)
}

// result returns the type of a function's result, or "" for a subroutine.
func result(f *abi.Function) string {
	switch f.Returns {
	case "double":
		return "double precision"
	case "MPI_Aint":
		return integerKinds["aint"]
	}
	return ""
}

// hasChoice reports whether a function has a choice buffer.
func hasChoice(f *abi.Function) bool {
	for _, p := range f.Params {
		if p.Kind.Fortran == "choice" {
			return true
		}
	}
	return false
}

// base returns a function's name in lower case without MPI_: "put_c" for MPI_Put_c.
func base(f *abi.Function) string { return strings.ToLower(strings.TrimPrefix(f.Name, "MPI_")) }

// suffix returns the suffix of a function's specific procedure in mpi_f08 (MPI-5.0 19.1.5): _f08ts if buffers are
// passed as descriptors, else _f08.
func suffix(f *abi.Function) string {
	if hasChoice(f) {
		return "_f08ts"
	}
	return "_f08"
}

// ambiguous reports whether the large-count form of f cannot have the generic name, for INTEGERs of the given size.
// Fortran cannot distinguish two forms that differ only in a callback, or only in kinds with equal values.
func ambiguous(f *abi.Function, bytes int) bool {
	small, large := f, f.OtherForm
	if large == nil {
		return false
	}
	if f.Large {
		small, large = large, small
	}
	a, b := f08.params(small), f08.params(large)
	if len(b) > len(a)+1 { // one additional argument does not distinguish them, since ierror is optional
		return false
	}
	for i := range a {
		if eight(f08.class(small, a[i]), bytes) != eight(f08.class(large, b[i]), bytes) {
			return false
		}
	}
	return true
}

// eight maps the classes of 8-byte integers to "8", and leaves other classes unchanged.
func eight(class string, bytes int) string {
	switch {
	case class == "aint", class == "count", class == "offset", class == "integer" && bytes == 8:
		return "8"
	}
	return class
}

// starts lists the functions that start MPI; every program calls one of them. In the modules for INTEGERs of 8 bytes
// they have different linker symbols, so that such a program cannot be linked with the library for 4 bytes.
var starts = map[string]bool{"MPI_Init": true, "MPI_Init_thread": true, "MPI_Session_init": true}
