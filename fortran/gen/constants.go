package main

import (
	"bytes"
	"fmt"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/datatype"
)

// constant is a named constant of Fortran.
type constant struct {
	name   string
	handle string // the handle's derived type in mpi_f08; "" if the constant is a number
	kind   string // kind of the INTEGER; "" for the default kind
	value  int64
	group  string
}

// constants returns the constants of Fortran: those of C without the tool interface and without constants that are
// addresses. The maximum string lengths are smaller by 1, since there is no terminating zero (MPI-5.0 19.3.9).
func constants() []constant {
	var list []constant
	add := func(group string, kind string, name string, value int64) {
		list = append(list, constant{name: name, kind: kind, value: value, group: group})
	}
	for _, c := range abi.Constants() {
		switch {
		case strings.HasPrefix(c.Name, "MPI_T_"), strings.HasPrefix(c.Name, "MPI_F_"),
			strings.HasSuffix(c.Type, "*"):
			continue
		}
		typ := c.Type
		if typ == "alias" {
			for _, d := range abi.Constants() {
				if d.Name == c.Value {
					typ = d.Type
				}
			}
		}
		k := constant{name: c.Name, value: c.Number(), group: c.Group}
		switch typ {
		case "int":
			if strings.HasPrefix(c.Name, "MPI_MAX_") {
				k.value--
			}
		case "MPI_Offset":
			k.kind = "MPI_OFFSET_KIND"
		default:
			k.handle = typ
		}
		if strings.HasPrefix(k.group, "Lengths of strings") {
			k.group = "Lengths of strings, one less than in C"
		}
		list = append(list, k)
	}
	const status = "A status of INTEGERs: its size and the indices of its fields"
	for _, n := range []string{"SOURCE", "TAG", "ERROR"} {
		add(status, "", "MPI_"+n, number("MPI_F_"+n)+1)
	}
	return list
}

// removedConstants returns the constants that MPI-3.0 removed and that mpif.h and the module mpi still have. mpi_f08
// never had them.
func removedConstants() []constant {
	var list []constant
	for _, c := range abi.RemovedConstants() {
		list = append(list, constant{name: c.Name, value: c.Number(), group: c.Group})
	}
	return list
}

func number(name string) int64 {
	for _, c := range abi.Constants() {
		if c.Name == name {
			return c.Number()
		}
	}
	panic("no constant " + name)
}

// eightByteTypes holds the handles of MPI_LOGICAL, MPI_INTEGER and MPI_2INTEGER for INTEGERs of 8 bytes. They equal the
// handles of datatypes with a fixed size of 8 bytes, so that C and other processes need not know the size of this
// program's INTEGERs. MPI_2INTEGER has a private handle, since the ABI has no pair of INTEGER8s.
var eightByteTypes = map[string]int64{
	"MPI_LOGICAL": number("MPI_LOGICAL8"), "MPI_INTEGER": number("MPI_INTEGER8"),
	"MPI_2INTEGER": datatype.TwoInteger8,
}

// kinds returns the kind constants that declarations use, for INTEGERs of the given size.
func kinds(bytes int64) []constant {
	return []constant{
		{name: "MPI_ADDRESS_KIND", value: 8},
		{name: "MPI_COUNT_KIND", value: 8},
		{name: "MPI_INTEGER_KIND", value: bytes},
		{name: "MPI_OFFSET_KIND", value: 8},
		{name: "MPI_STATUS_SIZE", value: number("MPI_F_STATUS_SIZE")},
	}
}

// sentinel is a variable that MPI recognizes by its address, such as MPI_IN_PLACE.
type sentinel struct{ name, typ, dims, f08 string }

// symbol returns the sentinel's linker symbol. In mpif.h, this is the name of its common block. If a sentinel has
// another type in mpi_f08, it has another symbol there too: a file may use both modules, and gfortran rejects a symbol
// with two types. The symbols for INTEGERs of 8 bytes differ too, so that fortran/mixed.c can detect a program that
// mixes sizes.
func (s sentinel) symbol(b binding, bytes int) string {
	prefix := "gompi_f_"
	if b == f08 && s.f08 != "" {
		prefix = "gompi_f08_"
	}
	if bytes == 8 {
		prefix += "i8_"
	}
	return prefix + strings.ToLower(strings.TrimPrefix(s.name, "MPI_")) + "_"
}

func sentinels() []sentinel {
	return []sentinel{
		{"MPI_BOTTOM", "integer", "", ""},
		{"MPI_IN_PLACE", "integer", "", ""},
		{"MPI_BUFFER_AUTOMATIC", "integer", "", ""},
		{"MPI_STATUS_IGNORE", "integer", "MPI_STATUS_SIZE", "type(MPI_Status)"},
		{"MPI_STATUSES_IGNORE", "integer", "MPI_STATUS_SIZE,1", "type(MPI_Status), dimension(1)"},
		{"MPI_ERRCODES_IGNORE", "integer", "1", ""},
		{"MPI_UNWEIGHTED", "integer", "1", ""},
		{"MPI_WEIGHTS_EMPTY", "integer", "1", ""},
		{"MPI_ARGV_NULL", "character", "1", ""},
		{"MPI_ARGVS_NULL", "character", "1,1", ""},
	}
}

// subarrays returns the value that MPI_SUBARRAYS_SUPPORTED and MPI_ASYNC_PROTECTS_NONBLOCKING have in mpi_f08 (if inF08
// is set) or in the other bindings.
func subarrays(inF08 bool) string {
	if inF08 {
		return ".true."
	}
	return ".false."
}

// copyFunctions lists the predefined callbacks, each with its abstract interface in mpi_f08; "" if only the module mpi
// has the callback.
var copyFunctions = []struct{ name, callback string }{
	{"MPI_COMM_NULL_COPY_FN", "MPI_Comm_copy_attr_function"},
	{"MPI_COMM_DUP_FN", "MPI_Comm_copy_attr_function"},
	{"MPI_COMM_NULL_DELETE_FN", "MPI_Comm_delete_attr_function"},
	{"MPI_TYPE_NULL_COPY_FN", "MPI_Type_copy_attr_function"},
	{"MPI_TYPE_DUP_FN", "MPI_Type_copy_attr_function"},
	{"MPI_TYPE_NULL_DELETE_FN", "MPI_Type_delete_attr_function"},
	{"MPI_WIN_NULL_COPY_FN", "MPI_Win_copy_attr_function"},
	{"MPI_WIN_DUP_FN", "MPI_Win_copy_attr_function"},
	{"MPI_WIN_NULL_DELETE_FN", "MPI_Win_delete_attr_function"},
	{"MPI_CONVERSION_FN_NULL", "MPI_Datarep_conversion_function"},
	{"MPI_CONVERSION_FN_NULL_C", "MPI_Datarep_conversion_function_c"},
	{"MPI_NULL_COPY_FN", ""},
	{"MPI_DUP_FN", ""},
	{"MPI_NULL_DELETE_FN", ""},
}

// mpifHeader generates mpif.h for INTEGERs of the given size. To be valid in fixed and in free form, it has statements
// only in columns 7 to 72, and no continuation lines.
func mpifHeader(size int) []byte {
	var b bytes.Buffer
	statement := func(format string, args ...any) {
		line := fmt.Sprintf("      "+format, args...)
		if len(line) > 72 {
			panic("gen: mpif.h: a line is too long: " + line)
		}
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "! %s\n", notice)
	b.WriteString("! MPI for programs in fixed and free form, without interfaces: constants and what external " +
		"functions\n! return. Everything in it is in the module mpi too, which also checks the arguments of " +
		"calls.\n")
	if size == 8 {
		b.WriteString("! INTEGERs have 8 bytes, as -fdefault-integer-8 makes them: with 4 the next line " +
			"divides by 0.\n")
		statement("INTEGER GOMPI_INTEGERS_HAVE_8_BYTES")
		statement("PARAMETER (GOMPI_INTEGERS_HAVE_8_BYTES=1/(KIND(1)/8))")
	} else {
		b.WriteString("! INTEGERs have 4 bytes. With 8 the next line divides by 0: gompifort has another " +
			"mpif.h for -fdefault-integer-8.\n")
		statement("INTEGER GOMPI_INTEGERS_HAVE_4_BYTES")
		statement("PARAMETER (GOMPI_INTEGERS_HAVE_4_BYTES=1/(8/KIND(1)-1))")
	}
	for _, k := range kinds(int64(size)) {
		statement("INTEGER %s", k.name)
		statement("PARAMETER (%s=%d)", k.name, k.value)
	}
	group := ""
	for _, k := range append(constants(), removedConstants()...) {
		if k.group != group {
			group = k.group
			fmt.Fprintf(&b, "! %s\n", group)
		}
		if k.kind != "" {
			statement("INTEGER(KIND=%s) %s", k.kind, k.name)
		} else {
			statement("INTEGER %s", k.name)
		}
		if other := eightByteTypes[k.name]; other != 0 && size == 8 {
			k.value = other
		}
		statement("PARAMETER (%s=%d)", k.name, k.value)
	}
	b.WriteString("! Buffers are addresses: the compiler copies a section that is not contiguous.\n")
	for _, name := range []string{"MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"} {
		statement("LOGICAL %s", name)
		statement("PARAMETER (%s=.FALSE.)", name)
	}
	b.WriteString("! MPI recognizes these variables by their addresses.\n")
	for _, s := range sentinels() {
		dims := ""
		if s.dims != "" {
			dims = "(" + s.dims + ")"
		}
		typ := "INTEGER"
		if s.typ == "character" {
			typ = "CHARACTER"
		}
		statement("%s %s%s", typ, s.name, dims)
		statement("COMMON /%s/ %s", strings.ToUpper(strings.TrimSuffix(s.symbol(f90, size), "_")), s.name)
	}
	b.WriteString("! Functions\n")
	for _, f := range abi.Functions() {
		typ := result(f)
		if typ == "" || !f90.exists(f) {
			continue
		}
		for _, prefix := range []string{"", "P"} {
			name := strings.ToUpper(prefix + f.Name)
			statement("%s %s", strings.ToUpper(typ), name)
			statement("EXTERNAL %s", name)
		}
	}
	b.WriteString("! Predefined callbacks\n")
	for _, c := range copyFunctions {
		statement("EXTERNAL %s", c.name)
	}
	return b.Bytes()
}

// constantsModule generates the module that mpi and mpi_f08 use: kinds, types, numbers and sentinels.
func constantsModule() []byte {
	t := &fortran{}
	t.line("! %s", notice)
	t.line("! What the modules mpi and mpi_f08 have in common: kinds, derived types with their operators, " +
		"numbers, sentinels.")
	t.line("module gompi_types")
	t.indent++
	t.line("implicit none")
	t.line("public")
	t.line("")
	for i, k := range kinds(4) {
		t.differs(kinds(8)[i].value != k.value, func(bytes int) {
			t.line("integer, parameter :: %s = %d", k.name, kinds(int64(bytes))[i].value)
		})
	}
	t.line("")
	for _, h := range handleTypes {
		t.line("type, bind(C) :: %s", h)
		t.line("  integer :: MPI_VAL")
		t.line("end type")
	}
	t.line("")
	t.line("! The same eight numbers as a status of C.")
	t.line("type, bind(C) :: MPI_Status")
	t.line("  integer :: MPI_SOURCE")
	t.line("  integer :: MPI_TAG")
	t.line("  integer :: MPI_ERROR")
	t.line("  integer, private :: internal(5)")
	t.line("end type")
	for _, op := range []struct{ symbol, name string }{{"==", "equal"}, {"/=", "unequal"}} {
		t.line("")
		t.line("interface operator(%s)", op.symbol)
		for _, h := range handleTypes {
			t.line("  module procedure %s_%s", h[4:], op.name)
		}
		t.line("end interface")
		for _, h := range handleTypes {
			t.line("private :: %s_%s", h[4:], op.name)
		}
	}
	t.indent--
	t.line("contains")
	t.indent++
	for _, op := range []struct{ symbol, name string }{{"==", "equal"}, {"/=", "unequal"}} {
		for _, h := range handleTypes {
			t.line("")
			t.line("elemental logical function %s_%s(a, b)", h[4:], op.name)
			t.line("  type(%s), intent(in) :: a, b", h)
			t.line("  %s_%s = a%%MPI_VAL %s b%%MPI_VAL", h[4:], op.name, op.symbol)
			t.line("end function")
		}
	}
	t.indent--
	t.line("end module")
	t.line("")
	t.line("module gompi_constants")
	t.indent++
	t.line("use, intrinsic :: iso_c_binding, only: C_CHAR")
	t.line("use gompi_types")
	t.line("implicit none")
	t.line("public")
	t.line("private :: C_CHAR")
	group := ""
	for _, k := range constants() {
		if k.handle != "" {
			continue
		}
		if k.group != group {
			group = k.group
			t.line("")
			t.line("! %s.", group)
		}
		kind := ""
		if k.kind != "" {
			kind = "(kind=" + k.kind + ")"
		}
		t.line("integer%s, parameter :: %s = %d", kind, k.name, k.value)
	}
	t.line("")
	t.line("! gfortran keeps a local variable with ASYNCHRONOUS in memory. It assumes that every later call may " +
		"access the data")
	t.line("! of an ASYNCHRONOUS argument: test/async.f90.")
	t.line("logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.")
	t.line("")
	t.line("! MPI recognizes these variables by their addresses; in mpif.h they are common blocks.")
	for _, s := range sentinels() {
		if s.f08 != "" {
			continue
		}
		typ := s.typ
		if typ == "character" {
			typ = "character(kind=C_CHAR)"
		}
		dims := ""
		if s.dims != "" {
			dims = ", dimension(" + s.dims + ")"
		}
		t.differs(true, func(bytes int) {
			t.line("%s%s, bind(C, name=\"%s\"), target :: %s", typ, dims, s.symbol(f90, bytes), s.name)
		})
	}
	t.indent--
	t.line("end module")
	return t.Bytes()
}

// handleConstants generates the predefined handles, whose types differ between mpi and mpi_f08, and the constants that
// only one of these modules has.
func (t *fortran) handleConstants(b binding) {
	group := ""
	for _, k := range constants() {
		if k.handle == "" {
			continue
		}
		if k.group != group {
			group = k.group
			t.line("")
			t.line("! %s.", group)
		}
		other := eightByteTypes[k.name]
		t.differs(other != 0, func(bytes int) {
			value := k.value
			if bytes == 8 {
				value = other
			}
			if b == f08 {
				t.line("type(%s), parameter :: %s = %s(%d)", k.handle, k.name, k.handle, value)
			} else {
				t.line("integer, parameter :: %s = %d", k.name, value)
			}
		})
	}
	if b == f90 {
		for _, k := range removedConstants() {
			if k.group != group {
				group = k.group
				t.line("")
				t.line("! %s.", group)
			}
			t.line("integer, parameter :: %s = %d", k.name, k.value)
		}
	}
	t.line("")
	t.line("! No status is wanted.")
	for _, s := range sentinels() {
		if s.f08 == "" {
			continue
		}
		typ := s.f08
		if b == f90 {
			typ = s.typ + ", dimension(" + s.dims + ")"
		}
		t.differs(true, func(bytes int) {
			t.line("%s, bind(C, name=\"%s\"), target :: %s", typ, s.symbol(b, bytes), s.name)
		})
	}
}
