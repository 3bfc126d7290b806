// Declares the standard ABI for the library's own C code. The ABI's functions have default visibility; all other
// symbols are hidden. Only this header includes the ABI's headers, because they must be read with default visibility
// and with GOMPIRMA_NO_INLINE defined. Files include this header before other headers that use MPI types.
//
// GOMPI_ENTRY(MPI_X, f) follows the definition of f, whose argument types are those of the standard. It exports f as
// PMPI_X and MPI_X, so that the program calls f without an intermediate jump. MPI_X is a weak symbol: a profiling
// library may define its own MPI_X. Functions that Go implements, and functions that only convert their arguments for
// another function (MPI_Bsend for MPI_Bsend_c), have entry points in z_entry_*.c instead. A semicolon follows
// GOMPI_ENTRY, so that tools such as ctags recognize the next function.
#ifndef GOMPI_ABI_H
#define GOMPI_ABI_H

#define GOMPIRMA_NO_INLINE // omits the inline versions of MPI functions: the library itself defines these functions
#pragma GCC visibility push(default)
#include "mpi_rma.h"
#include "mpix_gompirma.h"
#pragma GCC visibility pop

// Aligns each function to a cache line: fetching the instructions is a large part of the time of a short call, and an
// aligned function needs fewer lines.
#define GOMPI_CALL __attribute__((aligned(64)))
#define GOMPI_ENTRY(name, definition)                                           \
	extern __typeof__(P##name) P##name __attribute__((alias(#definition))); \
	extern __typeof__(name) name __attribute__((weak, alias(#definition)))

#endif
