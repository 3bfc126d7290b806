// Package abi owns the facts of the MPI 5.0 standard ABI: one table of every function with its parameters by semantic kind, and every
// constant. It knows nothing of how anything is implemented; core/abi/gen writes header, entry points, linker map and Go constants from it.
//
// Constants keep the standard's C names (abi.MPI_ERR_RANK), so that a search for the name finds every use in C, Go and text.
package abi
