// Operations of the application (MPI-5.0 6.9.5), for calls that need no Go; core/op makes them.
#ifndef GOMPI_USER_OP_H
#define GOMPI_USER_OP_H

#include "base/abi.h"
#include "base/known.h"

struct gompi_user_op {
	uintptr_t function; // an MPI_User_function or, if large, an MPI_User_function_c
	bool large;
	struct gompi_user_op *next; // of those without an operation
};

#pragma GCC visibility push(hidden)

extern struct gompi_known gompi_user_ops;

// The operation with this handle, NULL: it is none of the application's.
static inline const struct gompi_user_op *gompi_user_op_get(MPI_Op op) {
	return gompi_table_get(&gompi_user_ops.table, (uintptr_t)op);
}

// Makes one known. false: there is no memory, or too many are; calls with it go through Go.
bool gompi_user_op_open(uintptr_t handle, uintptr_t function, bool large);

#pragma GCC visibility pop
#endif
