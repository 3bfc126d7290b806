// Package abi owns the facts of the MPI 5.0 standard ABI: one table of every function with its parameters by semantic
// kind, every constant and the prototypes of callbacks. It must not know how anything is implemented; core/abi/gen
// generates header, entry points, linker map and Go constants from it.
//
// The table is the text in table/: one file per chapter of the standard, and kinds, constants and callbacks. Its form
// is for reading and reviewing. It is parsed only on request: a program that uses the constants alone does not contain
// it.
//
// A function is one line and one line for each of its parameters:
//
//	MPI_Get_count +c @3.2.5: Purpose.
//	  status STATUS const
//	  count POLYXFER_NUM_ELEM out
//
// The words after the name of a function:
//
//   - +c: there is a large-count form.
//   - @: its section.
//   - returns=: its C type if it is not int.
//   - -f: not in Fortran.
//   - -f08: in the mpi module only.
//   - -ierror: no ierror in Fortran (otherwise it is implied).
//   - deprecated=: since when.
//   - by=: the function that replaced a removed one.
//
// After a parameter's name and kind may follow: its direction (out or inout; the default is in), const, async,
// optional, and
//
//   - len=: its array dimensions.
//   - large: in the large-count form only.
//   - func=: its callback.
//   - hide=: the bindings without it.
//   - cname=: its name in C if that is different.
//   - c=: the C declaration where it does not follow from the rest.
//
// Constants keep the standard's C names (abi.MPI_ERR_RANK), so that a search for the name finds every use in C, Go and
// text.
package abi

//go:generate go run gompirma/core/abi/gen
