package main

import (
	"strings"

	"gompirma/core/abi"
)

// procedure generates an interface body. The argument `name` is the specific procedure's name, and `label` is its
// linker symbol; "" if the symbol is that of an external procedure: the lower-case name with an underscore appended.
func (t *fortran) procedure(b binding, f *abi.Function, name, label string) {
	params := b.params(f)
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	what := "subroutine"
	if typ := result(f); typ != "" {
		what = typ + " function"
	}
	bind := ""
	if label != "" {
		bind = ` bind(C, name="` + label + `")`
	}
	t.line("%s %s(%s)%s", what, name, strings.Join(names, ", "), bind)
	t.indent++
	t.line("import")
	for _, p := range params {
		for _, l := range b.declaration(f, p) {
			t.line("%s", l)
		}
	}
	t.indent--
	if result(f) != "" {
		t.line("end function")
	} else {
		t.line("end subroutine")
	}
}

// specific generates the interface body of a function's specific procedure in mpi_f08, for INTEGERs of the given size.
func (t *fortran) specific(f *abi.Function, prefix string, bytes int) {
	name := started(prefix+f.Name, f, bytes) + suffix(f)
	label := ""
	if hasChoice(f) {
		label = strings.ToLower(name) + "_" // BIND(C) procedures get descriptors in the standard's form
	}
	t.procedure(f08, f, name, label)
}

// started returns the name of a function's procedure, which is different for INTEGERs of 8 bytes if `starts` contains
// f.
func started(name string, f *abi.Function, bytes int) string {
	if starts[f.Name] && bytes == 8 {
		return name + "_i8"
	}
	return name
}

func f08Module() []byte {
	t := &fortran{}
	t.line("! %s", notice)
	t.callbacks()
	t.line("")
	t.line("! The predefined handles as derived types.")
	t.line("module gompi_f08_constants")
	t.indent++
	t.line("use gompi_constants")
	t.line("implicit none")
	t.line("public")
	t.line("")
	t.line("! Buffers are descriptors: a section is described by a datatype, nothing is copied.")
	t.line("logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.")
	t.handleConstants(f08)
	t.indent--
	t.line("end module")
	t.line("")
	t.line("! The functions, by their names with MPI_ and PMPI_ (MPI-5.0 19.1.2). A large-count form has the " +
		"generic name of the small one.")
	t.line("! Where INTEGERs have 8 bytes, both would take the same arguments: the small one takes large counts, " +
		"too.")
	t.line("module mpi_f08")
	t.indent++
	t.line("use, intrinsic :: iso_c_binding, only: C_PTR")
	t.line("use gompi_f08_constants")
	t.line("use gompi_callbacks")
	t.line("implicit none")
	t.line("public")
	t.line("private :: C_PTR")
	for _, prefix := range []string{"", "P"} {
		for _, f := range abi.Functions() {
			if !f08.exists(f) || f.Large && !ambiguous(f, 4) {
				continue
			}
			t.line("")
			t.line("interface %s%s", prefix, f.Name)
			t.indent++
			t.differs(starts[f.Name], func(bytes int) { t.specific(f, prefix, bytes) })
			if f.OtherForm != nil && !ambiguous(f, 4) {
				if ambiguous(f, 8) {
					t.only8(func() {
						t.indent--
						t.line("end interface")
						t.line("interface %s%s", prefix, f.OtherForm.Name)
						t.indent++
					})
				}
				t.specific(f.OtherForm, prefix, 4)
			}
			t.indent--
			t.line("end interface")
		}
		t.extras(f08, prefix)
	}
	t.line("")
	t.line("! Predefined callbacks.")
	t.line("interface")
	t.indent++
	for _, c := range copyFunctions {
		if c.callback != "" {
			t.callback(callbackByName(c.callback), c.name)
		}
	}
	t.indent--
	t.line("end interface")
	t.indent--
	t.line("end module")
	return t.Bytes()
}

func mpiModule() []byte {
	t := &fortran{}
	t.line("! %s", notice)
	t.line("! MPI with INTEGER handles and checked arguments; buffers may be anything and are passed by address " +
		"(MPI-5.0 19.1.3).")
	t.line("module mpi")
	t.indent++
	t.line("use, intrinsic :: iso_c_binding, only: C_PTR")
	t.line("use gompi_constants")
	t.line("implicit none")
	t.line("public")
	t.line("private :: C_PTR")
	t.line("")
	t.line("! Buffers are addresses: the compiler copies a section that is not contiguous, and only for the " +
		"time of the call.")
	t.line("logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.")
	t.handleConstants(f90)
	t.line("")
	t.line("! Predefined callbacks.")
	for _, c := range copyFunctions {
		t.line("external :: %s", c.name)
	}
	for _, prefix := range []string{"", "P"} {
		for _, f := range abi.Functions() {
			if !f90.exists(f) {
				continue
			}
			pointer := hasPointer(f)
			t.line("")
			if pointer || starts[f.Name] { // procedures whose generic name differs from the specific name
				t.line("interface %s%s", prefix, f.Name)
			} else {
				t.line("interface")
			}
			t.indent++
			t.differs(starts[f.Name], func(bytes int) {
				t.procedure(f90, f, started(prefix+f.Name, f, bytes), "")
			})
			if pointer {
				var b fortran
				b.indent = t.indent
				b.procedure(f90, f, prefix+f.Name+"_cptr", "")
				for _, p := range f90.params(f) {
					if f90.class(f, p) == "c_ptr" {
						old := strings.Join(f90.declaration(f, p), "\n")
						b = fortranOf(strings.Replace(b.String(), old,
							strings.Replace(old, integerKinds["aint"], "type(C_PTR)", 1),
							1), t.indent)
					}
				}
				t.Write(b.Bytes())
			}
			t.indent--
			t.line("end interface")
		}
		t.extras(f90, prefix)
	}
	t.indent--
	t.line("end module")
	return t.Bytes()
}

func fortranOf(text string, indent int) fortran {
	t := fortran{indent: indent}
	t.WriteString(text)
	return t
}

// hasPointer reports whether the mpi module has a second form of the function, with TYPE(C_PTR) (MPI-5.0 9.2, 12.2).
func hasPointer(f *abi.Function) bool {
	for _, p := range f90.params(f) {
		if f90.class(f, p) == "c_ptr" {
			return true
		}
	}
	return false
}

// extras generates the procedures that only Fortran has: MPI_Sizeof, MPI_F_sync_reg, and conversions of statuses. A
// procedure that mpi and mpi_f08 have must be identical in these modules, including the optional ierror, since gfortran
// compares the declarations if a file uses both.
func (t *fortran) extras(b binding, prefix string) {
	label := func(name string) string { return strings.ToLower(prefix+"MPI_"+name) + "_" }
	t.line("")
	t.line("interface %sMPI_Sizeof", prefix)
	t.line("  subroutine %sMPI_Sizeof_f08ts(x, size, ierror) bind(C, name=\"%s\")", prefix, label("sizeof_f08ts"))
	t.line("    type(*), dimension(..), intent(in) :: x")
	t.line("    integer, intent(out) :: size")
	t.line("    integer, optional, intent(out) :: ierror")
	t.line("  end subroutine")
	t.line("end interface")
	t.line("")
	t.line("interface %sMPI_F_sync_reg", prefix)
	if b == f08 {
		t.line("  subroutine %sMPI_F_sync_reg_f08ts(buf) bind(C, name=\"%s\")", prefix,
			label("f_sync_reg_f08ts"))
		t.line("    type(*), dimension(..), asynchronous, target :: buf")
	} else {
		t.line("  subroutine %sMPI_F_sync_reg(buf)", prefix)
		t.line("    !GCC$ attributes no_arg_check :: buf")
		t.line("    !DIR$ ignore_tkr (tkr) buf")
		t.line("    !DEC$ attributes no_arg_check :: buf")
		t.line("    type(*), dimension(*), asynchronous, target :: buf")
	}
	t.line("  end subroutine")
	t.line("end interface")
	for _, c := range []struct{ name, from, to string }{
		{"MPI_Status_f2f08", "integer, intent(in) :: f_status(MPI_STATUS_SIZE)",
			"type(MPI_Status), intent(out) :: f08_status"},
		{"MPI_Status_f082f", "type(MPI_Status), intent(in) :: f08_status",
			"integer, intent(out) :: f_status(MPI_STATUS_SIZE)"},
	} {
		_, a, _ := strings.Cut(c.from, ":: ")
		_, d, _ := strings.Cut(c.to, ":: ")
		t.line("")
		t.line("interface %s%s", prefix, c.name)
		t.line("  subroutine %s%s_f08(%s, %s, ierror)", prefix, c.name,
			strings.TrimSuffix(a, "(MPI_STATUS_SIZE)"), strings.TrimSuffix(d, "(MPI_STATUS_SIZE)"))
		t.line("    import")
		t.line("    %s", c.from)
		t.line("    %s", c.to)
		t.line("    integer, optional, intent(out) :: ierror")
		t.line("  end subroutine")
		t.line("end interface")
	}
}

// fortranCallbacks returns the callbacks for which mpi_f08 has abstract interfaces.
func fortranCallbacks() []*abi.Callback {
	var list []*abi.Callback
	for _, c := range abi.Callbacks() {
		if !strings.HasPrefix(c.Name, "MPI_T_") && c.Deprecated == "" {
			list = append(list, c)
		}
	}
	return list
}

func callbackByName(name string) *abi.Callback {
	for _, c := range abi.Callbacks() {
		if c.Name == name {
			return c
		}
	}
	panic("no callback " + name)
}

// callbacks generates the abstract interfaces of the procedures that a program passes to MPI.
func (t *fortran) callbacks() {
	t.line("! The interfaces of procedures that a program hands to MPI.")
	t.line("module gompi_callbacks")
	t.indent++
	t.line("use, intrinsic :: iso_c_binding, only: C_PTR")
	t.line("use gompi_types")
	t.line("implicit none")
	t.line("public")
	t.line("private :: C_PTR")
	t.line("")
	t.line("abstract interface")
	t.indent++
	for _, c := range fortranCallbacks() {
		t.callback(c, c.Name)
	}
	t.indent--
	t.line("end interface")
	t.indent--
	t.line("end module")
}

// callback generates the interface body of a callback. As in the standard, no argument has an INTENT, and the arguments
// of the program's procedure must have none.
func (t *fortran) callback(c *abi.Callback, name string) {
	var names, decls []string
	for _, p := range c.Params {
		if p.Kind.Name == "VARARGS" {
			continue
		}
		names = append(names, p.Name)
		class := p.Kind.Fortran
		if c.Large {
			class = p.Kind.FLarge
		}
		decl := integerKinds[class]
		switch class {
		case "handle":
			decl = "type(" + p.Kind.C + ")"
		case "status":
			decl = "type(MPI_Status)"
		case "c_ptr":
			decl = "type(C_PTR), value"
		}
		decls = append(decls, decl+" :: "+p.Name)
	}
	if c.Returns == "int" {
		names = append(names, "ierror")
		decls = append(decls, "integer :: ierror")
	}
	t.line("subroutine %s(%s)", name, strings.Join(names, ", "))
	t.indent++
	t.line("import")
	for _, d := range decls {
		t.line("%s", d)
	}
	t.indent--
	t.line("end subroutine")
}
