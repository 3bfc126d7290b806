// A reduction of elements in the layout in which they are transferred: by a kernel, a user-defined function, or Go.
#ifndef GOMPI_REDUCTION_H
#define GOMPI_REDUCTION_H

#include "base/go_callbacks.h"
#include "datatype/datatype.h"
#include "datatype/op.h"
#include "datatype/user_op.h"

struct gompi_reduction {
	uint64_t size;       // bytes of an element
	gompi_kernel kernel; // of a predefined operation, or

	uintptr_t function; // an MPI_User_function or, if large, an MPI_User_function_c; or
	bool large;
	uintptr_t type; // datatype argument of function
	// not NULL: elements travel packed and are unpacked to this type for function
	const struct gompi_type *unpacked_type;

	uintptr_t go_handle; // argument of gompi_go_callbacks.reduce_in_go
};

#pragma GCC visibility push(hidden)
// Reduces packed elements with a user-defined function that needs them unpacked. Returns MPI_ERR_NO_MEM or 0.
int gompi_combine_packed(const struct gompi_reduction *r, const void *in, void *inout, uint64_t n);
#pragma GCC visibility pop

// Computes inout[i] = in[i] op inout[i] for all whole elements in the given number of bytes; in comes from lower ranks.
// Returns 0 or an error class of gompi_go_callbacks.reduce_in_go.
static inline int gompi_combine(const struct gompi_reduction *r, const void *in, void *inout, uint64_t bytes) {
	if (bytes == 0)
		return 0;
	uint64_t n = bytes == r->size ? 1 : bytes / r->size;
	if (r->kernel != NULL)
		r->kernel(in, inout, n);
	else if (r->unpacked_type != NULL)
		return gompi_combine_packed(r, in, inout, n);
	else if (r->function != 0)
		gompi_op_call_user(r->function, r->large, (uintptr_t)in, (uintptr_t)inout, (int64_t)n, r->type);
	else
		return gompi_go_callbacks.reduce_in_go(r->go_handle, in, inout, bytes);
	return 0;
}

#endif
