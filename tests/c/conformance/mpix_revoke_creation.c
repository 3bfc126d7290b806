/* Proves: if a communicator is revoked while its members create an object from it, no member waits forever (ULFM). A
 *   member that returns an error does not disturb the other members. The text of the error names the revocation.
 * np: 4 6
 * nodes: 2
 * args: dup idup split group allocate create dynamic file inter merge dup_inter
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../files.h"
#include "../creations.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { ITERATIONS = 100, LONGEST_DELAY_US = 400 };

static MPI_Comm comm; /* the communicator that is revoked */
static MPI_Comm half; /* of the ranks of one group of an intercommunicator, else MPI_COMM_NULL */
static unsigned delay_us;

static void sleep_us(unsigned us) { nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL); }

static void *revoke_late(void *none) {
	sleep_us(delay_us);
	CHECK_OK(MPIX_Comm_revoke(comm));
	return none;
}

static struct created made;

static int create(const char *path) {
	MPI_Group all;
	int rc = create_object(check_arg, comm, check_rank, path, &made);
	if (rc != -1)
		return rc;
	if (strcmp(check_arg, "group") == 0) {
		MPI_Comm_group(comm, &all);
		rc = MPI_Comm_create_group(comm, all, 1, &made.comm);
		MPI_Group_free(&all);
		return rc;
	}
	if (strcmp(check_arg, "merge") == 0)
		return MPI_Intercomm_merge(comm, check_rank % 2, &made.comm);
	if (strcmp(check_arg, "dup_inter") == 0)
		return MPI_Comm_dup(comm, &made.comm);
	rc = MPI_Intercomm_create(half, 0, comm, 1 - check_rank % 2, 1, &made.comm);
	if (rc != MPI_SUCCESS)
		CHECK_OK(MPIX_Comm_revoke(half)); /* the other ranks of the group may wait for this one */
	return rc;
}

/* Checks that an object that all members have created works, and frees it. */
static void use(void) {
	const int one = 1;
	if (made.comm != MPI_COMM_NULL) {
		CHECK_OK(MPI_Barrier(made.comm));
		CHECK_OK(MPI_Comm_free(&made.comm));
	} else if (made.win != MPI_WIN_NULL) {
		CHECK_OK(MPI_Win_fence(0, made.win));
		if (strcmp(check_arg, "dynamic") != 0)
			CHECK_OK(MPI_Put(&one, 1, MPI_INT, 0, 4 * check_rank, 1, MPI_INT, made.win));
		CHECK_OK(MPI_Win_fence(0, made.win));
		CHECK_OK(MPI_Win_free(&made.win));
	} else {
		CHECK_OK(MPI_File_close(&made.file));
	}
}

/* Creates the communicators of an iteration. */
static void begin(void) {
	const int is_inter = strcmp(check_arg, "merge") == 0 || strcmp(check_arg, "dup_inter") == 0;
	half = MPI_COMM_NULL;
	if (is_inter || strcmp(check_arg, "inter") == 0)
		CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half));
	if (is_inter)
		CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 1, &comm));
	else
		CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
	int succeeded = 0;
	check_begin_threads(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int pid = (int)getpid();
	MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
	const char *path = file_name("revoke_creation");
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	srand((unsigned)pid);
	for (int i = 0; i < ITERATIONS; i++) {
		pthread_t thread;
		made.comm = MPI_COMM_NULL, made.win = MPI_WIN_NULL, made.file = MPI_FILE_NULL;
		delay_us = (unsigned)(rand() % LONGEST_DELAY_US);
		const int revoker = rand() % check_size, late = rand() % check_size;
		begin();
		if (check_rank == revoker)
			pthread_create(&thread, NULL, revoke_late, NULL);
		if (check_rank == late)
			sleep_us(delay_us / 2);
		int rc = create(path);
		CHECK(rc == MPI_SUCCESS || check_class(rc) == MPIX_ERR_REVOKED, "%s: %s", check_arg, check_string(rc));
		const char *text = check_string(rc);
		CHECK(strstr(text, "has failed") == NULL && strstr(text, "has ended") == NULL &&
			      strstr(text, "ended without") == NULL,
		      "no process has failed, but the text is: %s", text);
		if (check_rank == revoker)
			pthread_join(thread, NULL);
		int flag = rc == MPI_SUCCESS;
		CHECK_OK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
		if (flag)
			use();
		else if (rc == MPI_SUCCESS && made.comm != MPI_COMM_NULL)
			CHECK_OK(MPI_Comm_free(&made.comm));
		succeeded += flag;
		CHECK_OK(MPI_Comm_free(&comm));
		if (half != MPI_COMM_NULL)
			CHECK_OK(MPI_Comm_free(&half));
	}
	if (check_rank == 0 && strcmp(check_arg, "file") == 0)
		unlink(path);
	if (check_rank == 0)
		fprintf(stderr, "%d of %d creations have succeeded\n", succeeded, ITERATIONS);
	return check_end();
}
