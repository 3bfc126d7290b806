// Creates and frees operations. Operations belong to no communicator, so errors are raised on MPI_COMM_SELF.
#include "datatype/user_op.h"

#include "base/error_status.h"
#include "base/in_go.h"
#include "datatype/op.h"
#include "datatype/z_calls.h"

struct gompi_object_pool gompi_user_ops = GOMPI_OBJECT_POOL(GOMPI_KIND_OP, struct gompi_user_op);

static int op_error(const char *call, const struct gompi_error_status *v) {
	return gompi_return_error(v->class, call, v->text, GOMPI_ON_NONE, 0);
}

static int invalid_op_error(const char *call, MPI_Op op) {
	struct gompi_error_status v;
	if (op == MPI_OP_NULL)
		gompi_set_error(&v, MPI_ERR_OP, "the operation is MPI_OP_NULL");
	else if ((uintptr_t)op >> GOMPI_KIND_BITS == GOMPI_KIND_OP)
		gompi_set_error(&v, MPI_ERR_OP, "operation %#zx has been freed, or was never created", (size_t)op);
	else
		gompi_set_error(&v, MPI_ERR_OP, "%#zx is not an operation", (size_t)op);
	return op_error(call, &v);
}

static bool is_predefined(MPI_Op op) {
	uintptr_t i = (uintptr_t)op - GOMPI_OP_FIRST;
	return i < GOMPI_OP_HANDLES && gompi_op_row[i] != 0;
}

static int make_op(const char *call, uintptr_t function, bool large, int commute, MPI_Op *op) {
	struct gompi_error_status v;
	if (op == NULL)
		return gompi_null_argument_error(call, "op", GOMPI_ON_NONE, 0);
	if (function == 0) {
		gompi_set_error(&v, MPI_ERR_ARG, "user_fn is NULL");
		return op_error(call, &v);
	}
	gompi_biased_lock(&gompi_user_ops.lock);
	struct gompi_user_op *u = gompi_pool_alloc(&gompi_user_ops);
	uintptr_t handle = 0;
	if (u != NULL) {
		u->function = function;
		u->is_large = large;
		u->is_commutative = commute != 0;
		handle = gompi_handles_add(&gompi_user_ops.handles, u);
		if (handle == 0)
			gompi_pool_free(&gompi_user_ops, u);
	}
	gompi_biased_unlock(&gompi_user_ops.lock);
	if (handle == 0) {
		gompi_set_error(&v, MPI_ERR_NO_MEM,
				"cannot create an operation: out of memory, or too many operations exist (%d)",
				gompi_pool_used_count(&gompi_user_ops));
		return op_error(call, &v);
	}
	*op = (MPI_Op)handle;
	return MPI_SUCCESS;
}

int gompi_op_create(MPI_User_function *user_fn, int commute, MPI_Op *op) {
	return make_op("MPI_Op_create", (uintptr_t)user_fn, false, commute, op);
}
GOMPI_ENTRY(MPI_Op_create, gompi_op_create);

int gompi_op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op) {
	return make_op("MPI_Op_create_c", (uintptr_t)user_fn, true, commute, op);
}
GOMPI_ENTRY(MPI_Op_create_c, gompi_op_create_c);

int gompi_op_free(MPI_Op *op) {
	static const char call[] = "MPI_Op_free";
	struct gompi_error_status v;
	if (op == NULL)
		return gompi_null_argument_error(call, "op", GOMPI_ON_NONE, 0);
	if (is_predefined(*op)) {
		gompi_set_error(&v, MPI_ERR_OP, "%s is predefined and cannot be freed",
				gompi_op_name[(uintptr_t)*op - GOMPI_OP_FIRST]);
		return op_error(call, &v);
	}
	gompi_biased_lock(&gompi_user_ops.lock);
	struct gompi_user_op *u = gompi_table_get(&gompi_user_ops.handles.table, (uintptr_t)*op);
	if (u != NULL) {
		gompi_handles_remove(&gompi_user_ops.handles, (uintptr_t)*op);
		gompi_pool_free(&gompi_user_ops, u);
	}
	gompi_biased_unlock(&gompi_user_ops.lock);
	if (u == NULL)
		return invalid_op_error(call, *op);
	*op = MPI_OP_NULL;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Op_free, gompi_op_free);

int gompi_op_commutative(MPI_Op op, int *commute) {
	const struct gompi_user_op *u = NULL;
	if (!is_predefined(op) && (u = gompi_user_op_get(op)) == NULL)
		return invalid_op_error("MPI_Op_commutative", op);
	if (commute == NULL)
		return gompi_null_argument_error("MPI_Op_commutative", "commute", GOMPI_ON_NONE, 0);
	*commute = u != NULL ? u->is_commutative : op != MPI_REPLACE && op != MPI_NO_OP;
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Op_commutative, gompi_op_commutative);

void gompi_op_call_user(uintptr_t function, bool large, uintptr_t in, uintptr_t inout, int64_t count,
			uintptr_t datatype) {
	MPI_Datatype type = (MPI_Datatype)datatype;
	bool was_in_go = gompi_leave_go();
	if (large) {
		MPI_Count n = count;
		((MPI_User_function_c *)function)((void *)in, (void *)inout, &n, &type);
	} else {
		int n = (int)count;
		((MPI_User_function *)function)((void *)in, (void *)inout, &n, &type);
	}
	gompi_return_to_go(was_in_go);
}
