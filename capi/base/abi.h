// Declares the standard ABI for the library's own C code. The ABI's functions have default visibility; all other
// symbols are hidden. Every file includes this header before others, which depend on the ABI header in this form.
//
// GOMPI_ENTRY, placed after the definition of a function with the standard's argument types, exports it as PMPI_X and
// MPI_X. The program then calls it directly, without a jump. MPI_X is a weak symbol that a profiling library may
// define. z_entry_*.c contain the functions that need a step before the implementation. A semicolon follows it, so that
// tools such as ctags recognize the next function.
#ifndef GOMPI_ABI_H
#define GOMPI_ABI_H

#define GOMPIRMA_NO_INLINE // the library defines the functions themselves
#pragma GCC visibility push(default)
#include "mpi_rma.h"
#include "mpix_gompirma.h"
#pragma GCC visibility pop

// A short call takes about as long as fetching its instructions, so each one starts at a cache line boundary.
#define GOMPI_CALL __attribute__((aligned(64)))
#define GOMPI_ENTRY(name, definition)                                           \
	extern __typeof__(P##name) P##name __attribute__((alias(#definition))); \
	extern __typeof__(name) name __attribute__((weak, alias(#definition)))

#endif
