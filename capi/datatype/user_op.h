// Operations of the application (MPI-5.0 6.9.5).
#ifndef GOMPI_USER_OP_H
#define GOMPI_USER_OP_H

#include "base/abi.h"
#include "base/objects.h"

struct gompi_user_op {
	struct gompi_user_op *next; // of those to be used again
	uintptr_t function;         // an MPI_User_function or, if large, an MPI_User_function_c
	bool large, commutative;
};

#pragma GCC visibility push(hidden)

extern struct gompi_objects gompi_user_ops;

// The operation with this handle, NULL: it is none of the application's. It stays valid until it is freed; who needs it
// longer copies what is in it.
static inline const struct gompi_user_op *gompi_user_op_get(MPI_Op op) {
	return gompi_table_get(&gompi_user_ops.handles.table, (uintptr_t)op);
}

#pragma GCC visibility pop
#endif
