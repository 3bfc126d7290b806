// User-defined operations (MPI-5.0 6.9.5).
#ifndef GOMPI_USER_OP_H
#define GOMPI_USER_OP_H

#include "base/abi.h"
#include "base/object_pool.h"

struct gompi_user_op {
	struct gompi_user_op *next; // next in the free list
	uintptr_t function;         // an MPI_User_function or, if is_large, an MPI_User_function_c
	bool is_large, is_commutative;
};

#pragma GCC visibility push(hidden)

extern struct gompi_object_pool gompi_user_ops;

// Returns the user-defined operation with this handle, or NULL. The pointer stays valid until the operation is freed;
// callers that need it longer copy its contents.
static inline const struct gompi_user_op *gompi_user_op_get(MPI_Op op) {
	return gompi_table_get(&gompi_user_ops.handles.table, (uintptr_t)op);
}

// Calls the user-defined function whose address is `function`: an MPI_User_function_c if `large` is true, else an
// MPI_User_function.
void gompi_op_call_user(uintptr_t function, bool large, uintptr_t in, uintptr_t inout, int64_t count,
			uintptr_t datatype);

#pragma GCC visibility pop
#endif
