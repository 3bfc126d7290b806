/* Proves: MPIX_Comm_agree, MPIX_Comm_shrink and the acknowledgement of failures work on an intercommunicator (ULFM).
 *   MPIX_Comm_agree returns the bitwise AND over the remote group, with the same error in both groups.
 * np: 4 7
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"

#include <mpi-ext.h>
#include <signal.h>

static MPI_Comm inter;
static int error;                         /* the error code of the last agreement */
static int side, rank, size, remote_size; /* side: 0 for the lower half of MPI_COMM_WORLD, 1 for the upper one */

static void inquire(void) {
	MPI_Comm_rank(inter, &rank);
	MPI_Comm_size(inter, &size);
	MPI_Comm_remote_size(inter, &remote_size);
}

/* Agrees on flags in which each rank clears a bit of its own; the second group uses other bits. Returns the error
 * class. */
static int agree(int nonblocking) {
	int flag = ~(1 << (rank + 8 * side)), expected = ~0;
	MPI_Request request;
	for (int i = 0; i < remote_size; i++)
		expected &= ~(1 << (i + 8 * (1 - side)));
	int rc;
	if (nonblocking) {
		CHECK_OK(MPIX_Comm_iagree(inter, &flag, &request));
		rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		rc = MPIX_Comm_agree(inter, &flag);
	}
	CHECK(check_class(rc) != MPI_SUCCESS || flag == expected, "the flag is %x instead of %x", flag, expected);
	error = rc;
	return check_class(rc);
}

/* Checks that messages and collectives work on inter. */
static void use(void) {
	int mine = 100 * side + rank, *all = calloc((size_t)remote_size, sizeof *all), got = -1;
	CHECK_OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, inter));
	for (int i = 0; i < remote_size; i++)
		CHECK(all[i] == 100 * (1 - side) + i, "item %d is %d", i, all[i]);
	free(all);
	if (rank < remote_size) {
		CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, rank, 1, &got, 1, MPI_INT, rank, 1, inter, MPI_STATUS_IGNORE));
		CHECK(got == 100 * (1 - side) + rank, "the message of rank %d is %d", rank, got);
	}
}

int main(int argc, char **argv) {
	MPI_Comm half, smaller;
	MPI_Request request;
	MPI_Group failed;
	check_begin(&argc, &argv);
	CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	side = check_rank >= check_size / 2;
	CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &half));
	CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : check_size / 2, 5, &inter));
	CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	inquire();
	use();
	for (int i = 0; i < 3; i++)
		CHECK(agree(i == 1) == MPI_SUCCESS, "the agreement has failed: %s", check_string(error));
	CHECK_OK(MPIX_Comm_shrink(inter, &smaller));
	int n, m;
	MPI_Comm_size(smaller, &n);
	MPI_Comm_remote_size(smaller, &m);
	CHECK(n == size && m == remote_size, "%d and %d ranks", n, m);
	CHECK_OK(MPI_Comm_free(&smaller));

	/* the last rank fails; it is in the second group */
	if (check_rank == check_size - 1)
		raise(SIGKILL);
	CHECK(agree(0) == MPIX_ERR_PROC_FAILED, "the agreement returned %s", check_string(error));
	CHECK_OK(MPIX_Comm_failure_ack(inter));
	CHECK_OK(MPIX_Comm_failure_get_acked(inter, &failed));
	MPI_Group_size(failed, &n);
	CHECK(n == 1, "%d failed ranks", n);
	MPI_Group_free(&failed);
	int flag = 1;
	CHECK_OK(MPIX_Comm_agree(inter, &flag));
	CHECK(flag == 1, "the flag is %d", flag);

	CHECK_OK(MPIX_Comm_revoke(inter));
	CHECK_OK(MPIX_Comm_ishrink(inter, &smaller, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	const int before = size + remote_size;
	CHECK_OK(MPI_Comm_free(&inter));
	inter = smaller;
	inquire();
	CHECK(size + remote_size == before - 1, "%d and %d ranks", size, remote_size);
	use();
	CHECK(agree(0) == MPI_SUCCESS, "the agreement has failed: %s", check_string(error));

	/* the whole second group fails */
	if (side == 1)
		raise(SIGKILL);
	int rc = MPIX_Comm_shrink(inter, &smaller);
	CHECK(check_class(rc) == MPIX_ERR_PROC_FAILED && smaller == MPI_COMM_NULL, "shrink returned %s",
	      check_string(rc));
	CHECK_OK(MPI_Comm_free(&inter));
	int errors = check_errors;
	CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, half));
	CHECK_OK(MPI_Comm_free(&half));
	if (check_rank == 0)
		printf(errors == 0 ? "PASS\n" : "FAIL\n");
	MPI_Finalize();
	return errors != 0;
}
