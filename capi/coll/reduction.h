// The reduction of a collective. A kernel or a user-defined function computes the reduction. Operands are arrays of
// elements in the layout in which members transfer them, which may differ from that of the application's memory.
#ifndef GOMPI_REDUCTION_H
#define GOMPI_REDUCTION_H

#include "datatype/datatype.h"
#include "datatype/memory.h"
#include "datatype/op.h"
#include "datatype/user_op.h"

struct gompi_reduction {
	uint64_t size;       // bytes of an element
	gompi_kernel kernel; // kernel of a predefined operation; NULL for user-defined operations
	uintptr_t function;  // an MPI_User_function or, if large, an MPI_User_function_c
	bool large;
	uintptr_t type; // datatype argument of `function`
	// if not NULL, elements are transferred packed and are unpacked into this type for `function`
	const struct gompi_type *unpacked_type;
};

#pragma GCC visibility push(hidden)
// Combines n packed elements like gompi_combine, with a user-defined function that needs them unpacked. Returns
// MPI_ERR_NO_MEM or 0.
int gompi_combine_packed(const struct gompi_reduction *r, const void *in, void *inout, uint64_t n);
#pragma GCC visibility pop

// Computes inout[i] = in[i] op inout[i] for all whole elements in this many bytes. in is an operand of a lower rank
// than inout. Returns 0 or an error class.
static inline int gompi_combine(const struct gompi_reduction *r, const void *in, void *inout, uint64_t bytes) {
	if (bytes == 0)
		return 0;
	uint64_t n = bytes == r->size ? 1 : bytes / r->size;
	if (r->kernel != NULL)
		r->kernel(in, inout, n);
	else if (r->unpacked_type != NULL)
		return gompi_combine_packed(r, in, inout, n);
	else
		gompi_op_call_user(r->function, r->large, (uintptr_t)in, (uintptr_t)inout, (int64_t)n, r->type);
	return 0;
}

// Reduces the operands of ranks [0, n) into acc, in rank order. Starts with the last operand and combines each further
// operand as the left one. The function `operand` returns the address of the operand of rank i, which acc may be only
// for the last rank. Returns 0 or an error class.
static inline __attribute__((always_inline)) int gompi_reduce_operands(const struct gompi_reduction *r, int n,
								       char *acc, uint64_t bytes,
								       const char *(*operand)(const void *arg, int i),
								       const void *arg) {
	int rc = 0;
	gompi_copy_between(acc, operand(arg, n - 1), bytes);
	for (int i = n - 2; i >= 0 && rc == 0; i--)
		rc = gompi_combine(r, operand(arg, i), acc, bytes);
	return rc;
}

#endif
