/* Proves: every collective refuses wrong roots, counts, types, operations and communicators with the standard's error
 *   class. All ranks return the error without waiting for each other. Correct calls work afterwards. MPI-5.0 6, 9.3
 * np: 1 2
 * args: root count type op comm
 * ref: mpich
 * ref-wrong: count type op (MPICH does not check the count of reductions, names other classes, and computes with wrong
 * types)
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm W = MPI_COMM_WORLD, N = MPI_COMM_NULL;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	int n = check_size, in[64] = {1}, out[64] = {0}, counts[64], starts[64] = {0};
	MPI_Datatype I = MPI_INT, X = MPI_DATATYPE_NULL;
	for (int i = 0; i < 64; i++)
		counts[i] = 1;
	if (strcmp(check_arg, "root") == 0) {
		int roots[] = {n, -1, -50, 1 << 30};
		for (int i = 0; i < 4; i++) {
			CHECK_CLASS(MPI_Bcast(in, 1, I, roots[i], W), MPI_ERR_ROOT);
			CHECK_CLASS(MPI_Reduce(in, out, 1, I, MPI_SUM, roots[i], W), MPI_ERR_ROOT);
			CHECK_CLASS(MPI_Gather(in, 1, I, out, 1, I, roots[i], W), MPI_ERR_ROOT);
			CHECK_CLASS(MPI_Gatherv(in, 1, I, out, counts, starts, I, roots[i], W), MPI_ERR_ROOT);
			CHECK_CLASS(MPI_Scatter(in, 1, I, out, 1, I, roots[i], W), MPI_ERR_ROOT);
			CHECK_CLASS(MPI_Scatterv(in, counts, starts, I, out, 1, I, roots[i], W), MPI_ERR_ROOT);
		}
	}
	if (strcmp(check_arg, "count") == 0) {
		CHECK_CLASS(MPI_Bcast(in, -1, I, 0, W), MPI_ERR_COUNT);
		CHECK_CLASS(MPI_Reduce(in, out, -1, I, MPI_SUM, 0, W), MPI_ERR_COUNT);
		CHECK_CLASS(MPI_Allreduce(in, out, -1, I, MPI_SUM, W), MPI_ERR_COUNT);
		CHECK_CLASS(MPI_Scan(in, out, -1, I, MPI_SUM, W), MPI_ERR_COUNT);
		CHECK_CLASS(MPI_Allgather(in, -1, I, out, 1, I, W), MPI_ERR_COUNT);
		CHECK_CLASS(MPI_Allgather(in, 1, I, out, -1, I, W), MPI_ERR_COUNT);
		CHECK_CLASS(MPI_Alltoall(in, -1, I, out, 1, I, W), MPI_ERR_COUNT);
	}
	if (strcmp(check_arg, "type") == 0) {
		CHECK_CLASS(MPI_Bcast(in, 1, X, 0, W), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Reduce(in, out, 1, X, MPI_SUM, 0, W), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, X, MPI_SUM, W), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Allgather(in, 1, X, out, 1, I, W), MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Alltoall(in, 1, I, out, 1, X, W), MPI_ERR_TYPE);
	}
	if (strcmp(check_arg, "op") == 0) {
		CHECK_CLASS(MPI_Reduce(in, out, 1, I, MPI_OP_NULL, 0, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, I, MPI_OP_NULL, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Scan(in, out, 1, I, MPI_OP_NULL, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_FLOAT, MPI_BAND, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_LXOR, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_BYTE, MPI_SUM, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, I, MPI_MAXLOC, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_2INT, MPI_MAX, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_FLOAT, MPI_BOR, 0, W), MPI_ERR_OP);
		CHECK_CLASS(MPI_Scan(in, out, 1, MPI_WCHAR, MPI_SUM, W), MPI_ERR_OP);
	}
	if (strcmp(check_arg, "comm") == 0) {
		CHECK_CLASS(MPI_Barrier(N), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Bcast(in, 1, I, 0, N), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Allreduce(in, out, 1, I, MPI_SUM, N), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Gather(in, 1, I, out, 1, I, 0, N), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Alltoall(in, 1, I, out, 1, I, N), MPI_ERR_COMM);
	}
	CHECK(out[0] == 0, "a refused call wrote %d", out[0]);
	CHECK_OK(MPI_Allreduce(in, out, 1, I, MPI_SUM, W));
	CHECK(out[0] == n, "the sum is %d, not %d", out[0], n);
	return check_end();
}
