/* Proves: ranks can be killed at any time while the survivors replace failed ranks by new processes, also in MPI_Init
 *   of the new processes, in MPI_Comm_spawn, and before a new process sets an error handler. The failed attempt ends
 *   the new processes only. The survivors shrink the communicator and try again, until all ranks are replaced (ULFM).
 * np: 4
 * args: 1 2 3 4
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"
#include "../kills.h"

#include <mpi-ext.h>

enum { KILLS_US = 400000 /* no rank is killed later than this after the start */ };

static char *program, *child_args[3];
static uint64_t last_kill_us; /* time (now_us) */
static int attempts, replaced;

static uint64_t now_us(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Makes this rank end after some time, unless that is too late. */
static void kill_in_time(unsigned us) {
	if (now_us() + us <= last_kill_us)
		kill_after(us);
}

/* Ends a new process after a failed attempt. */
static void leave(void) { _exit(1); }

/* Stores the agreement on a flag: 1 if all members of comm pass 1 and none has failed. */
static int all_agree(MPI_Comm comm, int flag) { return MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag; }

/* Creates the communicator of survivors and new processes, from the communicator of the local group and the
 * intercommunicator. Returns 0 if a further process has failed. */
static int join_all(MPI_Comm inter, MPI_Comm local, int rank, MPI_Comm *full) {
	MPI_Comm merged = MPI_COMM_NULL;
	*full = MPI_COMM_NULL;
	int ok = MPI_Intercomm_merge(inter, local == MPI_COMM_WORLD, &merged) == MPI_SUCCESS;
	ok = all_agree(local, ok);
	ok = all_agree(inter, ok) && ok;
	if (ok) {
		MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
		ok = all_agree(merged, MPI_Comm_split(merged, 0, rank, full) == MPI_SUCCESS);
	}
	if (!ok)
		MPIX_Comm_revoke(inter);
	if (merged != MPI_COMM_NULL)
		MPI_Comm_free(&merged);
	MPI_Comm_free(&inter);
	if (!ok && *full != MPI_COMM_NULL)
		MPI_Comm_free(full);
	if (ok)
		MPI_Comm_set_errhandler(*full, MPI_ERRORS_RETURN);
	return ok;
}

/* Stores in *ranks the ranks of the failed members of comm, and in *survivors a communicator of the others. */
static int shrink(MPI_Comm comm, MPI_Comm *survivors, int *ranks) {
	MPI_Group all, alive, failed;
	int n, order[4] = {0, 1, 2, 3};
	CHECK_OK(MPIX_Comm_shrink(comm, survivors));
	MPI_Comm_set_errhandler(*survivors, MPI_ERRORS_RETURN);
	MPI_Comm_group(comm, &all);
	MPI_Comm_group(*survivors, &alive);
	MPI_Group_difference(all, alive, &failed);
	MPI_Group_size(failed, &n);
	MPI_Group_translate_ranks(failed, n, order, all, ranks);
	MPI_Group_free(&all);
	MPI_Group_free(&alive);
	MPI_Group_free(&failed);
	return n;
}

/* Replaces the failed members of comm. */
static void replace(MPI_Comm comm, MPI_Comm *full) {
	MPI_Comm inter, survivors;
	int rank, me, n, ranks[4];
	MPI_Comm_rank(comm, &rank);
	for (int ok = 0; !ok;) {
		n = shrink(comm, &survivors, ranks);
		attempts++;
		replaced += n;
		MPI_Comm_rank(survivors, &me);
		if (n == 0) {
			ok = all_agree(survivors, MPI_Comm_dup(survivors, full) == MPI_SUCCESS);
			if (ok)
				MPI_Comm_set_errhandler(*full, MPI_ERRORS_RETURN);
		} else {
			const int root = ranks[0] % (4 - n);
			int rc = MPI_Comm_spawn(program, child_args, n, MPI_INFO_NULL, root, survivors, &inter,
						MPI_ERRCODES_IGNORE);
			ok = all_agree(survivors, rc == MPI_SUCCESS);
			if (!ok && rc == MPI_SUCCESS) {
				MPIX_Comm_revoke(inter);
				MPI_Comm_free(&inter);
			}
			for (int i = 0; i < n && me == 0 && ok; i++)
				MPI_Send(&ranks[i], 1, MPI_INT, i, 1, inter);
			if (ok)
				ok = join_all(inter, survivors, rank, full);
		}
		MPI_Comm_free(&survivors);
	}
}

/* Runs a new process until it is a member of *full. */
static void begin_child(char **argv, MPI_Comm *full) {
	MPI_Comm parent;
	int rank;
	last_kill_us = strtoull(argv[2], NULL, 10);
	uint64_t seed = strtoull(argv[1], NULL, 10) + (uint64_t)getpid();
	if (check_random(&seed) % 3 != 0)
		kill_in_time((unsigned)(check_random(&seed) % 60000));
	MPI_Init(NULL, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_get_parent(&parent);
	MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
	if (MPI_Recv(&rank, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
	    !join_all(parent, MPI_COMM_WORLD, rank, full))
		leave();
}

int main(int argc, char **argv) {
	MPI_Comm comm, full;
	int rank, sum = 0, time_is_over = 0;
	char deadline[24];
	program = argv[0];
	if (argc > 2) {
		begin_child(argv, &comm);
	} else {
		check_begin(&argc, &argv);
		last_kill_us = now_us() + KILLS_US;
		CHECK_OK(MPI_Bcast(&last_kill_us, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
		CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
		CHECK_OK(MPI_Barrier(comm));
		MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		uint64_t seed = strtoull(check_arg, NULL, 10) + (uint64_t)getpid();
		if (check_rank != 0)
			kill_in_time((unsigned)(check_random(&seed) % 200000));
	}
	snprintf(deadline, sizeof deadline, "%llu", (unsigned long long)last_kill_us);
	child_args[0] = argv[1];
	child_args[1] = deadline;
	do {
		int ok;
		MPI_Comm_rank(comm, &rank);
		time_is_over = now_us() > last_kill_us + 100000;
		if (time_is_over)
			kill_cancel();
		ok = MPI_Allreduce(MPI_IN_PLACE, &time_is_over, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS;
		ok = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && ok;
		if (all_agree(comm, ok)) {
			CHECK(sum == 6, "sum %d", sum);
			continue;
		}
		time_is_over = 0;
		MPIX_Comm_revoke(comm);
		replace(comm, &full);
		MPI_Comm_free(&comm);
		comm = full;
	} while (!time_is_over);
	int errors = check_errors;
	CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, comm));
	MPI_Comm_free(&comm);
	if (rank == 0) {
		fprintf(stderr, "%d attempts, %d ranks replaced\n", attempts, replaced);
		check_print_result(errors);
	}
	MPI_Finalize();
	return errors != 0;
}
