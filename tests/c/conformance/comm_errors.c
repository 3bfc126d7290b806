/* Proves: communicator calls on MPI_COMM_NULL or on a freed handle return MPI_ERR_COMM. Negative colors and unknown
 *   split types are refused. The output arguments do not change. MPI-5.0 7.4, 9.3
 * np: 1 2
 * args: null freed arguments
 * ref: mpich
 * ref-wrong: freed arguments (MPICH reuses the handle of a freed communicator, and takes negative colors)
 * timeout: 30
 */
#include "../check.h"

static void every(MPI_Comm bad) {
	int x = -9;
	MPI_Comm out = MPI_COMM_NULL;
	MPI_Group group = MPI_GROUP_NULL;
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Win win = MPI_WIN_NULL;
	CHECK_CLASS(MPI_Comm_rank(bad, &x), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_size(bad, &x), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_dup(bad, &out), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_split(bad, 0, 0, &out), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_group(bad, &group), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_compare(bad, MPI_COMM_WORLD, &x), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 0, 0, bad), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, 0, 0, bad, &r), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Probe(0, 0, bad, MPI_STATUS_IGNORE), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Barrier(bad), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Bcast(&x, 1, MPI_INT, 0, bad), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Win_create(&x, 4, 1, MPI_INFO_NULL, bad, &win), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_free(&bad), MPI_ERR_COMM);
	CHECK(x == -9 && out == MPI_COMM_NULL && group == MPI_GROUP_NULL && r == MPI_REQUEST_NULL &&
		      win == MPI_WIN_NULL,
	      "a refused call wrote its output");
}

int main(int argc, char **argv) {
	check_begin_return_errors(&argc, &argv);
	MPI_Comm comm, freed, out = MPI_COMM_NULL;
	if (strcmp(check_arg, "null") == 0)
		every(MPI_COMM_NULL);
	if (strcmp(check_arg, "freed") == 0) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		freed = comm;
		MPI_Comm_free(&comm);
		every(freed);
		MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* the freed handle must stay invalid if a new one exists */
		every(freed);
		MPI_Comm_free(&comm);
	}
	if (strcmp(check_arg, "arguments") == 0) {
		CHECK(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &out) != MPI_SUCCESS, "a negative color was taken");
		CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, 123456, 0, MPI_INFO_NULL, &out) != MPI_SUCCESS,
		      "split type 123456 was taken");
		CHECK(out == MPI_COMM_NULL, "a refused call wrote its output");
	}
	return check_end();
}
