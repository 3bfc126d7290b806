// Properties of predefined datatypes for the fast paths, by handle: tables that core fills when the process starts.
#ifndef GOMPI_SIMPLE_H
#define GOMPI_SIMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

// Bytes of a predefined type without gaps, by handle; 0 for others. Filled by gompi_type_describe.
enum { GOMPI_PREDEFINED = 0x300 };
extern uint8_t gompi_simple_size[GOMPI_PREDEFINED];

static inline int64_t gompi_simple(MPI_Datatype type) {
	uintptr_t i = (uintptr_t)type;
	return __builtin_expect(i < GOMPI_PREDEFINED, 1) ? gompi_simple_size[i] : 0;
}

// Bytes of a predefined type that MPI_Compare_and_swap takes: C and Fortran integers, logicals, multi-language types
// and byte (MPI-5.0 12.3.4); 0 for others.
extern uint8_t gompi_swap_size[GOMPI_PREDEFINED];

static inline int64_t gompi_swappable(MPI_Datatype type) {
	uintptr_t i = (uintptr_t)type;
	return __builtin_expect(i < GOMPI_PREDEFINED, 1) ? gompi_swap_size[i] : 0;
}

// Fills the tables for a predefined type: its bytes, whether it has no gaps, the class of its elements, and whether
// MPI_Compare_and_swap accepts it.
void gompi_type_describe(uintptr_t handle, int size, bool simple, int class, bool swappable);

#endif
