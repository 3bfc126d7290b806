/* Proves: a failure and a revocation wake the ranks that sleep in a blocking call, on the node of the failed rank and
 *   on other nodes. All ranks but rank 0 fail one after the other. At least once the call must return its error sooner
 *   than by the check that each sleeping thread makes after 0.2 s.
 * np: 4
 * args: barrier recv fence lock wait revoke
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"

#include <mpi-ext.h>
#include <signal.h>
#include <time.h>

static const double sleep_seconds = 0.05; /* time for which the ranks are blocked before the failure */

static MPI_Comm comm;
static MPI_Win win;
static int victim; /* rank in comm of the rank that fails */

static int is_variant(const char *name) { return strcmp(check_arg, name) == 0; }

/* Calls a function that needs the victim. */
static int block(void) {
	int x = 0;
	if (is_variant("recv"))
		return MPI_Recv(&x, 1, MPI_INT, victim, 1, comm, MPI_STATUS_IGNORE);
	if (is_variant("fence"))
		return MPI_Win_fence(0, win);
	if (is_variant("lock")) {
		int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		if (rc != MPI_SUCCESS)
			return rc;
		MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		return MPI_Win_unlock(0, win);
	}
	if (is_variant("wait")) {
		MPI_Group all, one;
		MPI_Comm_group(comm, &all);
		MPI_Group_incl(all, 1, &victim, &one);
		MPI_Win_post(one, 0, win);
		MPI_Group_free(&all);
		MPI_Group_free(&one);
		return MPI_Win_wait(win);
	}
	return MPI_Barrier(comm);
}

int main(int argc, char **argv) {
	double shortest = 1;
	int rank, x = 0, *base;
	check_begin(&argc, &argv);
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	for (victim = check_size - 1; victim > 0; victim--) {
		MPI_Comm survivors;
		MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
		MPI_Comm_rank(comm, &rank);
		CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
		MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
		if (rank == victim && is_variant("lock")) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
			MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_flush(0, win);
		}
		CHECK_OK(MPI_Barrier(comm));
		const double begin = MPI_Wtime();
		if (rank == victim) {
			nanosleep(&(struct timespec){0, (long)(sleep_seconds * 1e9)}, NULL);
			if (!is_variant("revoke"))
				raise(SIGKILL);
			CHECK_OK(MPIX_Comm_revoke(comm));
		} else {
			int class = check_class(block());
			/* a rank may get the lock of the failed rank */
			CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ||
				      (class == MPI_SUCCESS && is_variant("lock")),
			      "class %d", class);
			double seconds = MPI_Wtime() - begin - sleep_seconds;
			shortest = seconds < shortest ? seconds : shortest;
		}
		CHECK_OK(MPIX_Comm_shrink(comm, &survivors));
		MPI_Win_free(&win);
		MPI_Comm_free(&comm);
		comm = survivors;
	}
	if (check_rank == 0)
		CHECK(shortest < 0.1, "the call returned %.0f ms after the failure", shortest * 1e3);
	MPI_Comm_free(&comm);
	/* the survivors add up their errors */
	int errors = check_errors;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm));
	CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, comm));
	MPI_Comm_free(&comm);
	if (check_rank == 0)
		check_print_result(errors);
	MPI_Finalize();
	return errors != 0;
}
