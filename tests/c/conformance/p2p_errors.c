/* Proves: every call refuses wrong ranks, tags, counts, types and communicators with the standard's error class.
 *   Outputs do not change, and correct calls work afterwards. Sends refuse MPI_ANY_SOURCE and MPI_ANY_TAG. MPI-5.0 3.2,
 *   9.3
 * np: 1 2
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	int n = check_size, me = check_rank, v = 1, x = -1, flag;
	int ranks[] = {n, n + 7, -50, 1 << 30, MPI_ANY_SOURCE};
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Datatype I = MPI_INT, loose;
	for (int i = 0; i < 5; i++) {
		CHECK_CLASS(MPI_Send(&v, 1, I, ranks[i], 0, W), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Ssend(&v, 1, I, ranks[i], 0, W), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Bsend(&v, 1, I, ranks[i], 0, W), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Isend(&v, 1, I, ranks[i], 0, W, &r), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Sendrecv(&v, 1, I, ranks[i], 0, &x, 1, I, me, 0, W, MPI_STATUS_IGNORE), MPI_ERR_RANK);
		if (i == 4)
			break;
		CHECK_CLASS(MPI_Recv(&x, 1, I, ranks[i], 0, W, MPI_STATUS_IGNORE), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Irecv(&x, 1, I, ranks[i], 0, W, &r), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Probe(ranks[i], 0, W, MPI_STATUS_IGNORE), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Iprobe(ranks[i], 0, W, &flag, MPI_STATUS_IGNORE), MPI_ERR_RANK);
	}
	CHECK_CLASS(MPI_Send(&v, 1, I, me, -77, W), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Send(&v, 1, I, me, MPI_ANY_TAG, W), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Isend(&v, 1, I, me, -77, W, &r), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Recv(&x, 1, I, me, -77, W, MPI_STATUS_IGNORE), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Irecv(&x, 1, I, me, -77, W, &r), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Probe(me, -77, W, MPI_STATUS_IGNORE), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Send(&v, -1, I, me, 0, W), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Isend(&v, -1, I, me, 0, W, &r), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Recv(&x, -1, I, me, 0, W, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Irecv(&x, -1, I, me, 0, W, &r), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Sendrecv(&v, -1, I, me, 0, &x, 1, I, me, 0, W, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Sendrecv(&v, 1, I, me, 0, &x, -1, I, me, 0, W, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Send(&v, 1, MPI_DATATYPE_NULL, me, 0, W), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Irecv(&x, 1, MPI_DATATYPE_NULL, me, 0, W, &r), MPI_ERR_TYPE);
	MPI_Type_contiguous(1, I, &loose);
	CHECK_CLASS(MPI_Send(&v, 1, loose, me, 0, W), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Recv(&x, 1, loose, me, 0, W, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	MPI_Type_free(&loose);
	CHECK_CLASS(MPI_Send(&v, 1, I, me, 0, MPI_COMM_NULL), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Recv(&x, 1, I, me, 0, MPI_COMM_NULL, MPI_STATUS_IGNORE), MPI_ERR_COMM);
	CHECK(x == -1 && r == MPI_REQUEST_NULL, "a refused call wrote %d or made a request", x);
	CHECK_CLASS(MPI_Type_contiguous(-1, I, &loose), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Type_vector(-2, 1, 1, I, &loose), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &loose), MPI_ERR_TYPE);
	int *upper, found = 0;
	CHECK_OK(MPI_Comm_get_attr(W, MPI_TAG_UB, &upper, &found));
	CHECK(found && *upper >= 32767, "the largest tag is %d", found ? *upper : -1);
	if (found) {
		CHECK_OK(MPI_Sendrecv(&v, 1, I, me, *upper, &x, 1, I, me, *upper, W, MPI_STATUS_IGNORE));
		CHECK(x == 1, "the largest tag: %d", x);
		if (*upper < 2147483647)
			CHECK_CLASS(MPI_Send(&v, 1, I, me, *upper + 1, W), MPI_ERR_TAG);
	}
	return check_end();
}
