package gotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/tests/go/harness"
)

// calledElsewhere lists the functions that TestFortranCalls omits, because the programs in fortran/test cover them. The
// bindings of these functions do more than pass the arguments to C: they have procedure arguments or attributes, or
// complete requests.
var calledElsewhere = strings.Fields(`
	MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test MPI_Testall MPI_Testany MPI_Testsome MPI_Request_get_status
	MPI_Request_get_status_all MPI_Request_get_status_any MPI_Request_get_status_some MPI_Startall
	MPI_Op_create MPI_Op_create_c MPI_Comm_create_errhandler MPI_Win_create_errhandler MPI_Comm_create_keyval
	MPI_Type_create_keyval MPI_Win_create_keyval MPI_Keyval_create MPI_Grequest_start
	MPI_Comm_get_attr MPI_Comm_set_attr MPI_Type_get_attr MPI_Type_set_attr MPI_Win_get_attr MPI_Win_set_attr MPI_Attr_get MPI_Attr_put
	MPI_Comm_idup MPI_Comm_idup_with_info MPI_Info_get MPI_Info_get_string MPI_Type_get_contents MPI_Type_get_contents_c
	MPI_File_create_errhandler MPI_Session_create_errhandler MPI_Register_datarep MPI_Register_datarep_c
	MPI_Comm_spawn MPI_Comm_spawn_multiple MPI_Session_get_nth_pset`)

// largeNames lists the large-count functions that mpi_f08 cannot overload with the small-count function. They keep the
// suffix _c in mpi_f08 (MPI-5.0 19.1.5).
var largeNames = strings.Fields(
	`MPI_Type_create_resized_c MPI_Type_get_extent_c MPI_Type_get_true_extent_c MPI_File_get_type_extent_c`)

// peers is the value that the stubs use for the size of a communicator, for the number of dimensions of MPI_Cart_sub,
// and for the length of arrays whose length is not in the table.
const peers = 3

// argument is one parameter of a tested call.
type argument struct {
	*abi.Param
	class  string   // kind of the Fortran type
	number int      // position among the parameters, from which the test values are computed
	n      int      // number of elements of an array, otherwise 0
	length bool     // true if the argument is the length of another argument
	dims   []string // dimensions, as in the table
}

// arguments returns all arguments of a function, including those that the binding omits.
func arguments(f *abi.Function, binding string) []argument {
	lengths := map[string]int{}
	for _, p := range f.Params {
		if len(p.Length) > 0 && lengths[p.Length[0]] == 0 {
			lengths[p.Length[0]] = 2 + len(lengths)
		}
	}
	var list []argument
	for i, p := range f.Params {
		a := argument{Param: p, class: p.Kind.Fortran, number: i + 1, dims: p.Length}
		if f.Large {
			a.class = p.Kind.FLarge
		}
		switch {
		case p.Kind.Name == "C_BUFFER2" && binding != "f08":
			a.class = "choice"
		case p.Kind.Name == "LOGICAL_VOID":
			a.class = "void"
		case a.class == "character":
		case len(p.Length) > 0:
			a.n = peers
			if k := lengths[p.Length[0]]; k > 0 {
				for _, q := range f.Params {
					if q.Name == p.Length[0] {
						a.n = k
					}
				}
			}
			if len(p.Length) == 2 {
				a.n *= 3
			}
		case p.Array == "hidden":
			a.n = peers
		}
		if k := lengths[p.Name]; k > 0 {
			a.length = true
			a.number = k
		}
		list = append(list, a)
	}
	return list
}

func (a argument) shown(binding string) bool {
	hidden := abi.F08
	if binding != "f08" {
		hidden = abi.F90
	}
	return a.Hidden&hidden == 0 && a.Kind.Name != "VARARGS" && a.Kind.Fortran != "none"
}

// in returns the value that the Fortran program passes for the argument. The method `out` returns the value that the C
// stub stores to it.
func (a argument) in() int64 {
	if a.length {
		return int64(a.number)
	}
	switch a.class {
	case "aint":
		return 1<<40 + int64(a.number)
	case "count":
		return 1<<41 + int64(a.number)
	case "offset":
		return 1<<42 + int64(a.number)
	case "handle":
		return 2000 + 16*int64(a.number)
	case "logical":
		return int64(a.number % 2)
	}
	return 1000 + 100*int64(a.number)
}

func (a argument) out() int64 {
	switch a.class {
	case "aint", "count", "offset":
		return a.in() + 1<<43
	case "handle":
		return 3000 + 16*int64(a.number)
	case "logical":
		return int64(a.number % 2)
	}
	if a.length {
		return int64(a.number)
	}
	return 50000 + 100*int64(a.number)
}

// ---- The C functions that replace the library ----

func cFunction(f *abi.Function, id int) string {
	var b strings.Builder
	var params, names []string
	for _, p := range f.CParams() {
		params = append(params, p.C)
		if p.Kind.Name != "VARARGS" {
			names = append(names, p.CName)
		}
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	inner := slices.DeleteFunc(slices.Clone(params), func(s string) bool { return s == "..." || s == "void" })
	fmt.Fprintf(&b, "static %s f%d(%s)\n{\n", f.Returns, id,
		strings.Join(append([]string{"int profiling"}, inner...), ", "))
	// `mine` is false if a helper of the bindings made this call, and not the test program.
	fmt.Fprintf(&b, "    int mine = arrive(%d, profiling);\n", id)
	helper := fmt.Sprint(peers) // result of a call by a helper of the bindings
	if f.Name == "MPI_Topo_test" {
		helper = "MPI_DIST_GRAPH"
	}
	var check, write strings.Builder
	for _, a := range arguments(f, "f08") {
		if a.Hidden&abi.C != 0 || a.Kind.Name == "VARARGS" {
			continue
		}
		name := a.CName
		wrong := func(condition string) {
			fmt.Fprintf(&check, "        if (%s) wrong(%q);\n", condition, f.Name+" "+name)
		}
		type_ := a.Kind.C
		if f.Large {
			type_ = a.Kind.CLarge
		}
		switch {
		case a.Kind.Fortran == "none":
			wrong(name + " != 0")
			continue
		case a.Kind.Name == "C_BUFFER2": // this result is missing in some forms of the Fortran call
			fmt.Fprintf(&write, "    *(void **)%s = &mock_buf[%d];\n", name, 16*a.number)
			continue
		}
		switch a.class {
		case "choice", "void":
			wrong(fmt.Sprintf("(const void *)%s != &mock_buf[%d]", name, 16*a.number))
		case "c_ptr":
			fmt.Fprintf(&write, "    *(void **)%s = &mock_buf[%d];\n", name, 16*a.number)
		case "character":
			if a.Dir == abi.In {
				wrong(fmt.Sprintf("strcmp(%s, \"text %d\")", name, a.number))
			} else {
				fmt.Fprintf(&write, "    strcpy(%s, \"result %d\");\n", name, a.number)
			}
		case "status":
			n := max(a.n, 1)
			for k := range n {
				if a.Dir != abi.Out {
					wrong(fmt.Sprintf("%[1]s[%[2]d].MPI_SOURCE != %[3]d || %[1]s[%[2]d].MPI_TAG "+
						"!= %[4]d || %[1]s[%[2]d].MPI_ERROR != %[5]d", name, k, 10*a.number+k,
						20*a.number+k, 30*a.number+k))
				}
				if a.Dir != abi.In {
					fmt.Fprintf(&write, "    %[1]s[%[2]d].MPI_SOURCE = %[3]d, "+
						"%[1]s[%[2]d].MPI_TAG = %[4]d, %[1]s[%[2]d].MPI_ERROR = %[5]d;\n", name,
						k, 40*a.number+k, 50*a.number+k, 60*a.number+k)
				}
			}
		default: // numbers: INTEGERs, LOGICALs, handles
			cast := ""
			value := helper
			if a.class == "logical" {
				value = "0"
			}
			if a.class == "handle" {
				cast = "(" + type_ + ")(long)"
			}
			if !a.Pointer() {
				wrong(fmt.Sprintf("(long)%s != %dL", name, a.in()))
				continue
			}
			element := func(k int) string { return fmt.Sprintf("((%s *)%s)[%d]", type_, name, k) }
			for k := range max(a.n, 1) {
				step := int64(k)
				in, out := a.in()+step, a.out()+step
				if a.class == "logical" {
					in, out = (a.in()+step)%2, (a.out()+step)%2
				}
				if a.Dir != abi.Out {
					wrong(fmt.Sprintf("(long)%s != %dL", element(k), in))
				}
				if a.Dir != abi.In {
					fmt.Fprintf(&write, "    %s = %s(mine ? %d : %s);\n", element(k), cast, out,
						value)
				}
			}
		}
	}
	fmt.Fprintf(&b, "    if (mine) {\n%s    }\n    if (mine && mock_rc)\n        return mock_rc;\n%s",
		check.String(), write.String())
	switch f.Returns {
	case "double":
		b.WriteString("    return 42.5;\n}\n")
	case "MPI_Aint":
		b.WriteString("    return 4711;\n}\n")
	default:
		b.WriteString("    return MPI_SUCCESS;\n}\n")
	}
	for p, prefix := range []string{"", "P"} {
		fmt.Fprintf(&b, "%s %s%s(%s) { return f%d(%s); }\n", f.Returns, prefix, f.Name,
			strings.Join(params, ", "), id,
			strings.Join(append([]string{fmt.Sprint(p)}, names...), ", "))
	}
	return b.String()
}

func mockSource(functions []*abi.Function) string {
	var b strings.Builder
	b.WriteString(`#include <mpi.h>
#include <stdio.h>
#include <string.h>

int mock_buf[16 * 40];
int mock_rc, mock_want, mock_profiling, mock_calls, mock_errors;

void wrong(const char *what)
{
    if (mock_errors++ < 50)
        fprintf(stderr, "%s\n", what);
}
void wrong_(const char *what, size_t length)
{
    char text[200];
    snprintf(text, sizeof text, "%.*s", (int)length, what);
    wrong(text);
}

static int arrive(int id, int profiling)
{
    if (id != mock_want) { /* the bindings make inquiry calls of their own by their PMPI_ names */
        if (!profiling)
            wrong("another function is called");
        return 0;
    }
    mock_calls += profiling == mock_profiling;
    return 1;
}

`)
	for id, f := range functions {
		b.WriteString(cFunction(f, id+1))
	}
	return b.String()
}

// ---- The calls in Fortran ----

// declare returns the Fortran declaration of the argument's variable, the statements that set the variable before the
// call, and the conditions that must be true after the call.
func (a argument) declare(f *abi.Function, binding string) (declaration string, set, want []string) {
	v := fmt.Sprintf("a%d", a.number)
	if a.length {
		v = "n" + a.Name
	}
	dims := ""
	if a.n > 0 {
		dims = fmt.Sprintf("(%d)", a.n)
	}
	integer := map[string]string{"integer": "integer", "logical": "logical", "aint": "integer(MPI_ADDRESS_KIND)",
		"count":  "integer(MPI_COUNT_KIND)",
		"offset": "integer(MPI_OFFSET_KIND)"}
	switch a.class {
	case "choice", "void":
		return
	case "c_ptr":
		if binding == "f08" {
			return "type(C_PTR) :: " + v, []string{v + " = C_NULL_PTR"},
				[]string{fmt.Sprintf("c_associated(%s, c_loc(mock_buf(%d)))", v, 16*a.number+1)}
		}
		return "integer(MPI_ADDRESS_KIND) :: " + v, []string{v + " = 0"},
			[]string{fmt.Sprintf("%s == transfer(c_loc(mock_buf(%d)), 0_MPI_ADDRESS_KIND)", v, 16*a.number+
				1)}
	case "character":
		if a.Dir == abi.In {
			return "character(len=12) :: " + v, []string{fmt.Sprintf("%s = 'text %d'", v, a.number)}, nil
		}
		length := "600"
		if len(a.dims) > 0 && strings.HasPrefix(a.dims[0], "MPI_MAX_") {
			length = a.dims[0]
		}
		return "character(len=" + length + ") :: " + v, []string{v + " = repeat('x', len(" + v + "))"},
			[]string{fmt.Sprintf("%s == 'result %d'", v, a.number)}
	case "status":
		parts := []string{"MPI_SOURCE", "MPI_TAG", "MPI_ERROR"}
		part := func(p string, k int) string {
			switch {
			case binding == "f08" && a.n > 0:
				return fmt.Sprintf("%s(%d)%%%s", v, k+1, p)
			case binding == "f08":
				return v + "%" + p
			case a.n > 0:
				return fmt.Sprintf("%s(%s, %d)", v, p, k+1)
			}
			return v + "(" + p + ")"
		}
		declaration = "type(MPI_Status) :: " + v + dims
		if binding != "f08" {
			declaration = "integer :: " + v + "(MPI_STATUS_SIZE" +
				strings.TrimSuffix(strings.Replace(dims, "(", ", ", 1), ")") + ")"
		}
		for k := range max(a.n, 1) {
			for i, p := range parts {
				set = append(set, fmt.Sprintf("%s = %d", part(p, k), 10*(i+1)*a.number+k))
				if a.Dir != abi.In {
					want = append(want, fmt.Sprintf("%s == %d", part(p, k), 10*(i+4)*a.number+k))
				}
			}
		}
		return
	}
	typ, member := integer[a.class], ""
	if a.class == "handle" {
		typ = "integer"
		if binding == "f08" {
			typ, member = "type("+a.Kind.C+")", "%MPI_VAL"
		}
	}
	literal := func(n int64) string {
		if a.class == "logical" {
			return map[int64]string{0: ".false.", 1: ".true."}[n%2]
		}
		if n > 1<<31 {
			return fmt.Sprintf("%d_8", n)
		}
		return fmt.Sprint(n)
	}
	shape := dims
	if len(a.dims) == 2 {
		shape = fmt.Sprintf("(3, %d)", a.n/3)
	}
	for k := range max(a.n, 1) {
		e := v
		switch {
		case len(a.dims) == 2:
			e = fmt.Sprintf("%s(%d, %d)", v, k%3+1, k/3+1)
		case a.n > 0:
			e = fmt.Sprintf("%s(%d)", v, k+1)
		}
		start := a.in() + int64(k)
		if a.Dir == abi.Out {
			start = 7
			if a.class == "logical" {
				start = a.out() + int64(k) + 1
			}
		}
		set = append(set, e+member+" = "+literal(start))
		if a.Dir != abi.In {
			equal := " == "
			if a.class == "logical" {
				equal = " .eqv. "
			}
			want = append(want, "("+e+member+equal+literal(a.out()+int64(k))+")")
		}
	}
	return typ + " :: " + v + shape, set, want
}

// subroutine returns a Fortran subroutine that makes all test calls of one function.
func subroutine(f *abi.Function, id int, binding string) string {
	var b strings.Builder
	name := f.Name
	if f.Large && !slices.Contains(largeNames, name) && f.OtherForm != nil {
		name = f.OtherForm.Name
	}
	var actual, set, want []string
	declared := map[string]bool{}
	ierror := false
	fmt.Fprintf(&b, "subroutine s%d()\n", id)
	pointers := -1
	for _, a := range arguments(f, binding) {
		if !a.shown(binding) {
			continue
		}
		if a.Name == "ierror" {
			ierror = true
			continue
		}
		d, s, w := a.declare(f, binding)
		v := fmt.Sprintf("mock_buf(%d:%d)", 16*a.number+1, 16*a.number+16)
		if a.class == "void" {
			v = fmt.Sprintf("mock_buf(%d)", 16*a.number+1)
		}
		if d != "" {
			v = fmt.Sprintf("a%d", a.number)
			if a.length {
				v = "n" + a.Name
			}
			mustBe(!declared[v], f.Name+" "+v)
			declared[v] = true
			fmt.Fprintf(&b, "  %s\n", d)
		}
		if a.class == "c_ptr" && binding == "mpi" {
			pointers = len(actual)
		}
		actual = append(actual, v)
		set = append(set, s...)
		want = append(want, w...)
	}
	if pointers >= 0 {
		b.WriteString("  type(C_PTR) :: p\n")
	}
	b.WriteString("  integer :: ierr\n")
	text := func(message string) string { return fmt.Sprintf("'%s: %s (%s)'", f.Name, message, binding) }
	call := func(prefix string, rc int, error bool, args []string, checks []string) {
		fmt.Fprintf(&b, "  mock_want = %d; mock_rc = %d; mock_calls = 0; mock_profiling = %d; ierr = -1\n", id,
			rc, len(prefix))
		for _, s := range set {
			fmt.Fprintf(&b, "  %s\n", s)
		}
		if error {
			args = append(slices.Clone(args), "ierr")
		}
		fmt.Fprintf(&b, "  call %s%s(%s)\n", prefix, name, strings.Join(args, ", "))
		fmt.Fprintf(&b, "  if (mock_calls /= 1) call wrong(%s)\n", text("is not called once"))
		if error {
			fmt.Fprintf(&b, "  if (ierr /= %d) call wrong(%s)\n", rc, text("ierror"))
		}
		if rc == 0 {
			for _, w := range checks {
				fmt.Fprintf(&b, "  if (.not. (%s)) call wrong(%s)\n", w,
					text(strings.ReplaceAll(w, "'", "''")))
			}
		}
	}
	if f.Returns != "int" {
		value := map[string]string{"double": "42.5d0", "MPI_Aint": "4711"}[f.Returns]
		for _, prefix := range []string{"", "P"} {
			fmt.Fprintf(&b,
				"  mock_want = %d; mock_rc = 0; mock_calls = 0; mock_profiling = %d; ierr = 0\n", id,
				len(prefix))
			for _, s := range set {
				fmt.Fprintf(&b, "  %s\n", s)
			}
			fmt.Fprintf(&b, "  if (%s%s(%s) /= %s) call wrong(%s)\n  if (mock_calls /= 1) call wrong(%s)\n",
				prefix, name, strings.Join(actual, ", "), value,
				text("result"), text("is not called once"))
		}
		b.WriteString("end subroutine\n")
		return b.String()
	}
	call("", 0, ierror, actual, want)
	call("P", 0, ierror, actual, want)
	if ierror {
		call("", int(abi.MPI_ERR_OTHER), true, actual, nil)
		if binding == "f08" {
			call("", 0, false, actual, want)
		}
	}
	if pointers >= 0 {
		args := slices.Clone(actual)
		args[pointers] = "p"
		var other []string
		for _, w := range want {
			if !strings.Contains(w, "transfer(") {
				other = append(other, w)
				continue
			}
			_, address, _ := strings.Cut(w, "transfer(")
			other = append(other, "c_associated(p, "+strings.TrimSuffix(address, ", 0_MPI_ADDRESS_KIND)")+
				")")
		}
		call("", 0, true, args, other)
		call("P", 0, true, args, other)
	}
	b.WriteString("end subroutine\n")
	return b.String()
}

func mustBe(ok bool, what string) {
	if !ok {
		panic(what)
	}
}

// TestFortranCalls calls every function that has a Fortran binding from Fortran, in each binding, with a different
// value for every argument. C stubs replace the library. They check that each value arrives at its position in the
// standard's C prototype, and return other values, which the Fortran program checks. So the test finds an argument that
// a binding omits, swaps with another argument, or converts wrongly, also in functions that no other test calls. The
// programs are generated from the table in core/abi. But their Fortran declarations are not generated by the code that
// generates the bindings.
func TestFortranCalls(t *testing.T) {
	t.Parallel()
	needFortran(t)
	var functions []*abi.Function
	for _, f := range abi.Functions() {
		if (f.F08 || f.F90) && !slices.Contains(calledElsewhere, f.Name) {
			functions = append(functions, f)
		}
	}
	dir := t.TempDir()
	write := func(t *testing.T, name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	run := func(t *testing.T, name string, args ...string) string {
		cmd := exec.Command(filepath.Join(built(t), "bin", name), args...)
		cmd.Dir = dir
		return harness.Output(t, cmd)
	}
	run(t, "gompicc", "-g", "-O0", "-Wall", "-Wno-deprecated-declarations", "-c",
		write(t, "mock.c", mockSource(functions)), "-o", "mock.o")
	for binding, start := range map[string]struct{ use, include string }{
		"f08": {"use mpi_f08", ""}, "mpi": {"use mpi", ""}, "mpif": {"", "include 'mpif.h'"},
	} {
		t.Run(binding, func(t *testing.T) {
			t.Parallel()
			var b, calls strings.Builder
			n := 0
			for i, f := range functions {
				if binding == "f08" && f.F08 || binding != "f08" && f.F90 && !f.Large {
					b.WriteString(subroutine(f, i+1, binding))
					fmt.Fprintf(&calls, "  call s%d()\n", i+1)
					n++
				}
			}
			source := write(t, binding+".f90", `module mock
  use, intrinsic :: iso_c_binding
  implicit none
  integer(C_INT), bind(C), target :: mock_buf(16 * 40)
  integer(C_INT), bind(C) :: mock_rc, mock_want, mock_profiling, mock_calls, mock_errors
end module
program calls
  use mock
  `+start.use+"\n  implicit none\n  "+start.include+"\n  external :: wrong\n"+calls.String()+`  if (mock_errors > 0) stop 1
  print '(a)', 'all right'
contains
`+b.String()+"end program\n")
			run(t, "gompifort", "-J", t.TempDir(), "-O0", "-fno-range-check", "-ffree-line-length-none",
				"-fallow-argument-mismatch", "-w", source, "mock.o", "-o", binding)
			out := harness.Output(t, exec.Command(filepath.Join(dir, binding)))
			require.Contains(t, out, "all right")
			t.Logf("%d functions", n)
		})
	}
}
