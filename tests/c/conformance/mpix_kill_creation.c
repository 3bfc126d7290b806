/* Proves: if a rank is killed while the members of a communicator create an object from it, no member waits forever,
 *   and the call of each member succeeds or raises MPIX_ERR_PROC_FAILED (ULFM). MPI_File_open raises its errors only on
 *   MPI_FILE_NULL. If a call of MPI_Comm_create_group has failed, a call with the same tag for the other ranks
 *   succeeds.
 * np: 4 8
 * args: dup idup split group some allocate create dynamic file inter cart
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../files.h"
#include "../creations.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { LONGEST_DELAY_US = 1000 };

static MPI_Comm comm; /* of the ranks that have not been killed */
static int rank, size, handler_calls;
static const char *path;

static void count_call(MPI_Comm *c, int *rc, ...) {
	(void)c, (void)rc;
	handler_calls++;
}

static void *die_late(void *delay_us) {
	nanosleep(&(struct timespec){.tv_nsec = *(const long *)delay_us * 1000}, NULL);
	raise(SIGKILL);
	return NULL;
}

static struct created made;
static MPI_Comm half; /* of the ranks of one group of an intercommunicator, else MPI_COMM_NULL */

/* Creates a communicator of the ranks whose bits in `members` are set. */
static int create_group(unsigned members) {
	int list[32], n = 0;
	MPI_Group all, some;
	for (int i = 0; i < size; i++)
		if (members >> i & 1)
			list[n++] = i;
	if ((members >> rank & 1) == 0)
		return MPI_SUCCESS;
	MPI_Comm_group(comm, &all);
	MPI_Group_incl(all, n, list, &some);
	const int rc = MPI_Comm_create_group(comm, some, 1, &made.comm);
	MPI_Group_free(&all);
	MPI_Group_free(&some);
	return rc;
}

static int create(unsigned members) {
	int rc = create_object(check_arg, comm, rank, path, &made);
	if (rc != -1)
		return rc;
	if (strcmp(check_arg, "group") == 0)
		return create_group(~0U);
	if (strcmp(check_arg, "some") == 0)
		return create_group(members);
	if (strcmp(check_arg, "cart") == 0)
		return MPI_Cart_create(comm, 1, &size, &(int){0}, 1, &made.comm);
	rc = MPI_Comm_split(comm, rank % 2, 0, &half);
	/* A rank whose MPI_Comm_split has failed cannot revoke `half`. So the ranks use it only if all have it. */
	int exists = rc == MPI_SUCCESS;
	const int agreed = check_class(MPIX_Comm_agree(comm, &exists));
	CHECK(agreed == MPI_SUCCESS || agreed == MPIX_ERR_PROC_FAILED, "the agreement failed with class %d", agreed);
	if (!exists)
		return rc != MPI_SUCCESS ? rc : MPIX_ERR_PROC_FAILED;
	MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
	rc = MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 1, &made.comm);
	/* The other ranks may wait for this one. */
	if (rc != MPI_SUCCESS) {
		CHECK_OK(MPIX_Comm_revoke(half));
		CHECK_OK(MPIX_Comm_revoke(comm));
	}
	return rc;
}

/* Creates a communicator of the members of `rest` from `comm`, after a call with the same tag has failed. */
static void create_again(MPI_Comm rest) {
	MPI_Group group;
	MPI_Comm again;
	CHECK_OK(MPI_Comm_group(rest, &group));
	CHECK_OK(MPI_Comm_create_group(comm, group, 1, &again));
	CHECK_OK(MPI_Barrier(again));
	CHECK_OK(MPI_Comm_free(&again));
	CHECK_OK(MPI_Group_free(&group));
}

/* Creates an object while a rank is killed, and makes `comm` the communicator of the other ranks. */
static void kill_in_creation(unsigned seed) {
	MPI_Errhandler handler;
	MPI_Comm rest;
	pthread_t thread;
	srand(seed);
	const int victim = rand() % size;
	long delay_us = rand() % LONGEST_DELAY_US;
	const unsigned members = (unsigned)rand() | 1U << victim;
	made.comm = half = MPI_COMM_NULL, made.win = MPI_WIN_NULL, made.file = MPI_FILE_NULL;
	CHECK_OK(MPI_Comm_create_errhandler(count_call, &handler));
	CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
	MPI_Barrier(comm); /* fails if the rank is killed before all ranks have left this call */
	handler_calls = 0;
	if (rank == victim)
		pthread_create(&thread, NULL, die_late, &delay_us);
	const int rc = create(members), class = check_class(rc);
	const int is_inter = strcmp(check_arg, "inter") == 0, is_file = strcmp(check_arg, "file") == 0;
	if (rank == victim)
		pthread_join(thread, NULL);
	CHECK(rc == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED || (is_inter && class == MPIX_ERR_REVOKED),
	      "%s with %d ranks, of which rank %d is killed: %s", check_arg, size, victim, check_string(rc));
	CHECK(!is_file || handler_calls == 0, "the error handler of the communicator was called %d times",
	      handler_calls);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	CHECK_OK(MPI_Errhandler_free(&handler));
	CHECK_OK(MPIX_Comm_shrink(comm, &rest));
	if (strcmp(check_arg, "group") == 0 || strcmp(check_arg, "some") == 0)
		create_again(rest);
	CHECK_OK(MPI_Comm_free(&comm));
	comm = rest;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (made.comm != MPI_COMM_NULL)
		MPI_Comm_free(&made.comm);
	if (half != MPI_COMM_NULL)
		MPI_Comm_free(&half);
	if (made.win != MPI_WIN_NULL) {
		MPI_Win_set_errhandler(made.win, MPI_ERRORS_RETURN);
		MPI_Win_free(&made.win);
	}
	if (made.file != MPI_FILE_NULL)
		MPI_File_close(&made.file);
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	path = file_name("kill_creation");
	int seed = (int)getpid();
	CHECK_OK(MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD));
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	rank = check_rank, size = check_size;
	CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
	for (unsigned i = 0; size > 2; i++)
		kill_in_creation((unsigned)seed + i);
	int errors = check_errors;
	CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, comm));
	CHECK_OK(MPI_Comm_free(&comm));
	if (rank == 0 && strcmp(check_arg, "file") == 0)
		unlink(path);
	if (rank == 0)
		printf(errors == 0 ? "PASS\n" : "FAIL: %d errors, seed %d\n", errors, seed);
	MPI_Finalize();
	return errors != 0;
}
