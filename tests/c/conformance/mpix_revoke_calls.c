/* Proves: a collective call on a communicator that is being revoked succeeds or raises MPIX_ERR_REVOKED, and the next
 *   calls of the same rank raise MPIX_ERR_REVOKED. No process fails, so no call raises MPIX_ERR_PROC_FAILED.
 * np: 4
 * nodes: 2
 * args: bcast allreduce allgather barrier
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <time.h>

enum { ITERATIONS = 150, LONGEST_DELAY_US = 200 };

static MPI_Comm comm; /* the communicator that is revoked */
static long delay_ns;

static void *revoke_late(void *none) {
	nanosleep(&(struct timespec){.tv_nsec = delay_ns}, NULL);
	CHECK_OK(MPIX_Comm_revoke(comm));
	return none;
}

static int call(int i) {
	int data[8] = {i}, all[4][8];
	const int root = i % check_size;
	if (strcmp(check_arg, "bcast") == 0)
		return MPI_Bcast(data, 8, MPI_INT, root, comm);
	if (strcmp(check_arg, "allreduce") == 0)
		return MPI_Allreduce(data, all, 8, MPI_INT, MPI_SUM, comm);
	if (strcmp(check_arg, "allgather") == 0)
		return MPI_Allgather(data, 8, MPI_INT, all, 8, MPI_INT, comm);
	return MPI_Barrier(comm);
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	srand(1);
	for (int i = 0; i < ITERATIONS; i++) {
		pthread_t thread;
		int rc = MPI_SUCCESS, calls = 0;
		const int is_revoker = rand() % check_size == check_rank;
		delay_ns = rand() % LONGEST_DELAY_US * 1000L;
		CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
		MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
		CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
		if (is_revoker)
			pthread_create(&thread, NULL, revoke_late, NULL);
		while (rc == MPI_SUCCESS)
			rc = call(calls++);
		CHECK(check_class(rc) == MPIX_ERR_REVOKED, "call %d: %s", calls, check_string(rc));
		rc = call(calls++);
		CHECK(check_class(rc) == MPIX_ERR_REVOKED, "call %d, after an error: %s", calls, check_string(rc));
		if (is_revoker)
			pthread_join(thread, NULL);
		CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
		CHECK_OK(MPI_Comm_free(&comm));
	}
	return check_end();
}
