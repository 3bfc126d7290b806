// Calls the functions of user-defined operations.
#ifndef GOMPI_OP_USER_H
#define GOMPI_OP_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

#pragma GCC visibility push(hidden)

// Calls the user-defined function at address function: an MPI_User_function or, if large, an MPI_User_function_c.
// gompi:callback
void gompi_op_call_user(uintptr_t function, bool large, uintptr_t in, uintptr_t inout, int64_t count,
			uintptr_t datatype);

#pragma GCC visibility pop
#endif
