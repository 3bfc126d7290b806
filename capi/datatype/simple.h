// What the fast paths know of predefined datatypes, by handle: tables that core fills in when the process starts.
#ifndef GOMPI_SIMPLE_H
#define GOMPI_SIMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

// Bytes of a predefined type that has no holes, by handle; 0 for others. Filled in by gompi_type_describe.
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

// Tells the fast paths of a predefined type: bytes, whether it has no holes, class of its elements, whether
// MPI_Compare_and_swap takes it.
void gompi_type_describe(uintptr_t handle, int size, bool simple, int class, bool swappable);

#endif
