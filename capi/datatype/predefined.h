// Properties of predefined datatypes for the fast paths, by handle: tables that Go fills when the process starts.
#ifndef GOMPI_PREDEFINED_H
#define GOMPI_PREDEFINED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

// Bytes of a predefined type without gaps, by handle; 0 for all other types. Filled by gompi_type_fill_tables.
enum { GOMPI_PREDEFINED_HANDLES = 0x300 };
extern uint8_t gompi_simple_size[GOMPI_PREDEFINED_HANDLES];

static inline int64_t gompi_simple_bytes(MPI_Datatype type) {
	uintptr_t i = (uintptr_t)type;
	return __builtin_expect(i < GOMPI_PREDEFINED_HANDLES, 1) ? gompi_simple_size[i] : 0;
}

// Bytes of a predefined type that MPI_Compare_and_swap accepts: C and Fortran integers, logicals, multi-language types
// and byte (MPI-5.0 12.3.4); 0 for all other types.
extern uint8_t gompi_cas_type_size[GOMPI_PREDEFINED_HANDLES];

static inline int64_t gompi_cas_type_bytes(MPI_Datatype type) {
	uintptr_t i = (uintptr_t)type;
	return __builtin_expect(i < GOMPI_PREDEFINED_HANDLES, 1) ? gompi_cas_type_size[i] : 0;
}

// Returns false if the handle is not that of a pair type. Otherwise stores the handles of the types of its value and of
// its index.
bool gompi_pair_parts(uintptr_t pair, uintptr_t *value, uintptr_t *index);

// Fills the tables for a predefined type: size in bytes, whether the type has no gaps (simple), its element class, and
// whether MPI_Compare_and_swap accepts the type (swappable).
void gompi_type_fill_tables(uintptr_t handle, int size, bool simple, int class, bool swappable);

#endif
