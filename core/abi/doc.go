// Package abi owns the facts of the MPI 5.0 standard ABI: one table of every function with its parameters by semantic kind, every
// constant and the prototypes of callbacks. It knows nothing of how anything is implemented; core/abi/gen writes header, entry points, linker
// map and Go constants from it.
//
// The table is the text in table/: one file per chapter of the standard, and kinds, constants and callbacks. It is written for reading and
// reviewing, and is parsed only by those who ask for it: a program that uses the constants alone carries none of it.
//
// Constants keep the standard's C names (abi.MPI_ERR_RANK), so that a search for the name finds every use in C, Go and text.
package abi

//go:generate go run gompirma/core/abi/gen
