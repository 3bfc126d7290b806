/* Proves: the type constructors refuse wrong arguments. Calls refuse handles of other objects, and of freed or
 *   uncommitted types. MPI_Pack and MPI_Unpack refuse a buffer that is too small. MPI_Reduce_local refuses an operation
 *   that is not defined for the type. MPI-5.0 5.1 5.2 6.9
 * np: 1
 * ref: none (the classes of MPICH differ where the standard leaves them open)
 * timeout: 30
 */
#include "../check.h"

static void user(void *in, void *inout, int *len, MPI_Datatype *type) {
	MPI_Aint lb, extent;
	MPI_Type_get_extent(*type, &lb, &extent); /* a callback may call MPI */
	for (int i = 0; i < *len; i++)
		((int *)inout)[i * extent / 4] += 10 * ((int *)in)[i * extent / 4];
}

static void user_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type) {
	(void)type;
	for (MPI_Count i = 0; i < *len; i++)
		((int *)inout)[i] -= ((int *)in)[i];
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Datatype t = MPI_DATATYPE_NULL, u, old;
	int size, position, n[2] = {1, -1}, buf[40] = {0};
	MPI_Aint at[2] = {0, 8};
	MPI_Datatype pair[2] = {MPI_INT, MPI_DATATYPE_NULL};

	CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_contiguous(1, (MPI_Datatype)(intptr_t)MPI_SUM, &t), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_contiguous(1, (MPI_Datatype)0x7654321, &t), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_vector(2, -1, 1, MPI_INT, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_indexed(2, n, n, MPI_INT, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_indexed(2, NULL, n, MPI_INT, &t), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_struct(2, n, at, pair, &t), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_subarray(0, n, n, n, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_DIMS);
	CHECK_CLASS(MPI_Type_create_f90_integer(100, &t), MPI_ERR_ARG);
	CHECK(t == MPI_DATATYPE_NULL, "a refused call has stored something");
	CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
	t = MPI_INT;
	CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE);
	CHECK_OK(MPI_Type_commit(&t));

	CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
	position = 0;
	CHECK_CLASS(MPI_Pack(buf, 1, t, buf + 20, 40, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Send(buf, 1, t, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_OK(MPI_Type_commit(&t));
	CHECK_OK(MPI_Type_commit(&t));
	CHECK_CLASS(MPI_Pack(buf, 1, t, buf + 20, 7, &position, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
	CHECK_CLASS(MPI_Pack(buf, -1, t, buf + 20, 7, &position, MPI_COMM_SELF), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Pack(buf, 1, t, buf + 20, 8, &position, MPI_COMM_NULL), MPI_ERR_COMM);
	position = 9;
	CHECK_CLASS(MPI_Pack(buf, 1, t, buf + 20, 8, &position, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK(position == 9, "the position has become %d", position);
	position = 0;
	CHECK_CLASS(MPI_Unpack(buf, 7, &position, buf + 20, 1, t, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
	CHECK_OK(MPI_Type_contiguous(2, t, &u));
	old = t;
	CHECK_OK(MPI_Type_free(&t));
	CHECK_CLASS(MPI_Type_size(old, &size), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Pack(buf, 1, old, buf + 20, 40, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_free(&old), MPI_ERR_TYPE);
	CHECK_OK(MPI_Type_commit(&u)); /* u does not depend on the freed type `old`, from which it was made */
	for (int i = 0; i < 40; i++)
		buf[i] = i;
	CHECK_OK(MPI_Pack(buf, 1, u, buf + 20, 40, &position, MPI_COMM_SELF));
	CHECK(buf[20] == 0 && buf[21] == 2 && buf[22] == 3 && buf[23] == 5, "packed %d %d %d %d", buf[20], buf[21],
	      buf[22], buf[23]);
	CHECK_OK(MPI_Type_free(&u));

	int a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
	MPI_Op op, op_c, none = MPI_OP_NULL;
	CHECK_OK(MPI_Reduce_local(a, b, 4, MPI_INT, MPI_MAX));
	CHECK(b[0] == 5 && b[3] == 8, "MPI_MAX");
	CHECK_CLASS(MPI_Reduce_local(a, b, 4, MPI_WCHAR, MPI_SUM), MPI_ERR_OP);
	CHECK_CLASS(MPI_Reduce_local(a, b, 4, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
	CHECK_CLASS(MPI_Reduce_local(a, b, 4, MPI_INT, none), MPI_ERR_OP);
	CHECK_CLASS(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
	CHECK_OK(MPI_Op_create(user, 1, &op));
	CHECK_OK(MPI_Op_create_c(user_c, 0, &op_c));
	CHECK_OK(MPI_Reduce_local(a, b, 4, MPI_INT, op));
	CHECK(b[0] == 15 && b[3] == 48, "the user's function gives %d, %d", b[0], b[3]);
	CHECK_OK(MPI_Reduce_local(a, b, 4, MPI_INT, op_c));
	CHECK(b[0] == 14 && b[3] == 44, "the user's large-count function gives %d, %d", b[0], b[3]);
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, 8, &u);
	MPI_Type_commit(&u);
	CHECK_OK(MPI_Reduce_local(a, b, 1, u, op)); /* the user's function must handle a derived type */
	CHECK(b[0] == 24, "the user's function gives %d", b[0]);
	CHECK_CLASS(MPI_Reduce_local(a, b, 1, u, MPI_SUM), MPI_ERR_OP);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
	int flag = -1;
	CHECK_OK(MPI_Op_commutative(op_c, &flag));
	CHECK(flag == 0, "commutative is %d", flag);
	CHECK_OK(MPI_Op_commutative(MPI_SUM, &flag));
	CHECK(flag == 1, "commutative is %d", flag);
	MPI_Op stale = op;
	CHECK_OK(MPI_Op_free(&op));
	CHECK(op == MPI_OP_NULL, "MPI_Op_free leaves %p", (void *)op);
	CHECK_CLASS(MPI_Op_free(&stale), MPI_ERR_OP);
	CHECK_OK(MPI_Op_free(&op_c));
	op = MPI_SUM;
	CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
	return check_end();
}
