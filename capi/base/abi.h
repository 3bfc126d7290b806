// The header of the standard's ABI as the library's own C sees it: its functions are what the library shows, all else
// is hidden. First in every file, since other headers take the ABI's as they find it.
//
// A function is what the program calls, without a jump, where it has the types of the standard: GOMPI_ENTRY after its
// definition makes it PMPI_X and, as a weak symbol that a profiling library may define, MPI_X. z_entry_*.c have the
// functions for which something is to be done before.
#ifndef GOMPI_ABI_H
#define GOMPI_ABI_H

#define GOMPIRMA_NO_INLINE // the library has the functions themselves
#pragma GCC visibility push(default)
#include "mpi_rma.h"
#include "mpix_gompirma.h"
#pragma GCC visibility pop

//
// The short ones take as long as it takes to fetch them, so each begins where a line of the cache does.
#define GOMPI_CALL __attribute__((aligned(64)))
#define GOMPI_ENTRY(name, definition)                                           \
	extern __typeof__(P##name) P##name __attribute__((alias(#definition))); \
	extern __typeof__(name) name __attribute__((weak, alias(#definition)));

#endif
