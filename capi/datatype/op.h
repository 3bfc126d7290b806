// The predefined reductions on the data path: one loop for each operation and predefined datatype that MPI-5.0 6.9.2
// and 6.9.4 allow together. core/op has the reference implementation in Go.
#ifndef GOMPI_OP_H
#define GOMPI_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// A kernel computes target[i] = target[i] op origin[i] for n elements of its type. Neither address needs to be aligned.
// Either both arrays are the same memory, or they do not overlap. Padding inside pair types is neither read nor
// written. Integers wrap around. Floating-point MIN and MAX keep the target if the comparison is false, as with NaN.
// MINLOC and MAXLOC select the smaller index if the values are equal. MPI_REPLACE copies, MPI_NO_OP does nothing.
typedef void (*gompi_kernel)(const void *origin, void *target, size_t n);

// Dimensions of the table of kernels. gompi_op_row and gompi_op_column map handles to rows and columns. Row 0 and
// column 0 have no kernels: they stand for all other handles.
enum {
	GOMPI_OP_FIRST = 0x20,
	GOMPI_OP_HANDLES = 0x20,
	GOMPI_OP_ROWS = 15,
	GOMPI_OP_TYPE_FIRST = 0x200,
	GOMPI_OP_TYPE_HANDLES = 0x100,
	GOMPI_OP_COLUMNS = 80
};

extern const uint8_t gompi_op_row[GOMPI_OP_HANDLES];
extern const char *const gompi_op_name[GOMPI_OP_HANDLES]; // NULL for unused handles
extern const uint8_t gompi_op_column[GOMPI_OP_TYPE_HANDLES];
// table with GOMPI_OP_ROWS rows: the fastest version for this processor
extern const gompi_kernel (*gompi_op_kernels)[GOMPI_OP_COLUMNS];
#if defined(__x86_64__)
extern const gompi_kernel gompi_op_avx2[GOMPI_OP_ROWS][GOMPI_OP_COLUMNS];
extern const gompi_kernel gompi_op_avx512[GOMPI_OP_ROWS][GOMPI_OP_COLUMNS];
#endif

// Returns the kernel of a predefined operation on a predefined datatype. Returns NULL if either handle is not
// predefined or the standard does not allow the operation on the datatype.
static inline gompi_kernel gompi_op_kernel(MPI_Op op, MPI_Datatype predefined) {
	uintptr_t o = (uintptr_t)op - GOMPI_OP_FIRST, t = (uintptr_t)predefined - GOMPI_OP_TYPE_FIRST;
	if (o >= GOMPI_OP_HANDLES || t >= GOMPI_OP_TYPE_HANDLES)
		return NULL;
	return gompi_op_kernels[gompi_op_row[o]][gompi_op_column[t]];
}

// Runs the kernel of the operation `op` and the type `type` (both are handles) on n elements. Returns -1, without any
// effect, if the operation is not defined for the type.
int gompi_op_apply(uintptr_t op, uintptr_t type, const void *in, void *inout, size_t n);

#pragma GCC visibility pop
#endif
