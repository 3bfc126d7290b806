// MPI_Reduce_local (MPI-5.0 6.9.7). If an argument may be invalid, Go executes the call and reports the error.
#include "base/go_callbacks.h"
#include "datatype/buffer.h"
#include "datatype/op.h"
#include "datatype/user_op.h"
#include "datatype/z_calls.h"

static inline bool is_valid_address(const void *at) { return (uintptr_t)at - 4096 < 1ULL << 62; }

// Returns true if a buffer argument is valid for count elements of a datatype.
static bool is_buffer(const void *at, MPI_Count count, MPI_Datatype type) {
	struct gompi_buffer b;
	struct gompi_error_status v;
	return (gompi_simple_bytes(type) != 0 && is_valid_address(at)) ||
	       (type != MPI_DATATYPE_NULL && at != MPI_IN_PLACE &&
		gompi_buffer_check(&b, at, count, type, false, &v) == MPI_SUCCESS);
}

// Calls the user-defined function, unless count is 0, and returns true. Returns false without a call if an argument is
// invalid or the count does not fit into an int.
static bool call_user_function(const struct gompi_user_op *u, const void *in, void *inout, MPI_Count count,
			       MPI_Datatype type) {
	if ((uint64_t)count > INT32_MAX || in == inout || !is_buffer(in, count, type) || !is_buffer(inout, count, type))
		return false;
	uintptr_t function = u->function; // read first, because the function may free the operation
	if (count == 0)
		return true;
	if (u->is_large) {
		((MPI_User_function_c *)function)((void *)(uintptr_t)in, inout, &count, &type);
	} else {
		int n = (int)count;
		((MPI_User_function *)function)((void *)(uintptr_t)in, inout, &n, &type);
	}
	return true;
}

int gompi_reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
	gompi_kernel kernel = gompi_op_kernel(op, datatype);
	if (__builtin_expect(kernel != NULL, 1)) {
		if ((uint64_t)count <= INT32_MAX && is_valid_address(inbuf) && is_valid_address(inoutbuf) &&
		    inbuf != inoutbuf && op != MPI_REPLACE && op != MPI_NO_OP) {
			kernel(inbuf, inoutbuf, (size_t)count);
			return MPI_SUCCESS;
		}
	} else {
		const struct gompi_user_op *u = gompi_user_op_get(op);
		if (u != NULL && call_user_function(u, inbuf, inoutbuf, count, datatype))
			return MPI_SUCCESS;
	}
	return gompi_go_callbacks.reduce_local_checked((uintptr_t)inbuf, (uintptr_t)inoutbuf, count,
						       (uintptr_t)datatype, (uintptr_t)op);
}
GOMPI_ENTRY(MPI_Reduce_local_c, gompi_reduce_local_c);
