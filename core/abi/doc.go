// Package abi owns the facts of the MPI 5.0 standard ABI: one table of all functions with the semantic kinds of their
// parameters, all constants, and the prototypes of callbacks. The package must not depend on the implementation of MPI.
// core/abi/gen generates the header, entry points, linker map and Go constants from the table.
//
// The table consists of the text files in table/: one file for each chapter of the standard, and one each for kinds,
// constants and callbacks. People read and review these files. The package parses them at the first use. A program that
// uses only the constants does not contain the files.
//
// A function has one line, followed by one line for each parameter:
//
//	MPI_Get_count +c @3.2.5: Purpose.
//	  status STATUS const
//	  count POLYXFER_NUM_ELEM out
//
// The words after the name of a function:
//
//   - +c: there is a large-count form.
//   - @: the section of the standard.
//   - returns=: the C type of the result if it is not int.
//   - -f: not in Fortran.
//   - -f08: in the mpi module only.
//   - -ierror: no ierror in Fortran (otherwise it is implied).
//   - deprecated=: the version of MPI that deprecated the function.
//   - by=: for a removed function, the function that replaced it.
//
// A parameter's line may contain, after the name and the kind, its direction (out or inout; the default is in), const,
// async, optional, and
//
//   - len=: its array dimensions.
//   - large: the parameter exists in the large-count form only.
//   - func=: its callback.
//   - hide=: the bindings that lack the parameter.
//   - cname=: its name in C if that is different.
//   - c=: the C declaration if it does not follow from the other properties.
//
// Constants keep the standard's C names (abi.MPI_ERR_RANK), so that a search for the name finds every use in C, Go and
// text.
package abi

//go:generate go run gompirma/core/abi/gen
