/* Kills the last rank. The other ranks continue: all communication among them works. Operations that need the failed
 * process end with MPI_ERR_PROC_ABORTED, and the error text names the process. The launcher does not notice the death,
 * because a shell is between the launcher and the rank. Each rank prints "right RANK" at the end, then creates the file
 * argv[1]. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, errors;
static MPI_Comm others;

static void expect(int rc, int class, const char *what) {
	char text[MPI_MAX_ERROR_STRING] = "";
	int got, length;
	MPI_Error_class(rc, &got);
	MPI_Error_string(rc, text, &length);
	if (got == class && (class == MPI_SUCCESS || strstr(text, "rank 3 ") != NULL))
		return;
	printf("rank %d: %s: class %d and not %d: %s\n", rank, what, got, class, text);
	fflush(stdout);
	errors++;
}
static void good(int rc, const char *what) { expect(rc, MPI_SUCCESS, what); }
static void lost(int rc, const char *what) { expect(rc, MPI_ERR_PROC_ABORTED, what); }

/* Makes one rank late, so that the other ranks sleep. */
static void late(int who) {
	if (rank == who)
		usleep(60000);
}

/* Observes an event of failed processes, which counts the failures of the last rank. */
static void count_failure(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *count) {
	(void)r, (void)safety;
	int process = -1;
	if (MPI_T_event_read(e, 0, &process) == MPI_SUCCESS && process == size - 1)
		__atomic_add_fetch((int *)count, 1, __ATOMIC_RELAXED);
	else
		errors++;
}
static void observe(const char *name, int *count) {
	MPI_T_event_registration r;
	int index, provided;
	MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
	good(MPI_T_event_get_index(name, &index), name);
	good(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r), name);
	good(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, count, count_failure), name);
}
/* Waits up to 5 s until a failure has been counted. It must be counted once. */
static void expect_failure(const char *name, int *count) {
	for (int i = 0; i < 500 && __atomic_load_n(count, __ATOMIC_RELAXED) == 0; i++)
		usleep(10000);
	if (*count != 1) {
		printf("rank %d: %d events %s\n", rank, *count, name);
		errors++;
	}
}

static void messages(int turn) {
	int x = rank, y = -1, left = (rank + size - 2) % (size - 1), right = (rank + 1) % (size - 1);
	MPI_Request r[2];
	MPI_Status s[2];
	late(turn);
	good(MPI_Sendrecv(&x, 1, MPI_INT, right, 1, &y, 1, MPI_INT, left, 1, others, s), "MPI_Sendrecv");
	if (y != left)
		errors++;
	late(turn);
	good(MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 2, others, &r[0]), "MPI_Irecv");
	good(MPI_Isend(&x, 1, MPI_INT, right, 2, others, &r[1]), "MPI_Isend");
	good(MPI_Waitall(2, r, s), "MPI_Waitall");
	static char big[2][1 << 20];
	late(turn);
	good(MPI_Sendrecv(big[0], 1 << 20, MPI_CHAR, right, 3, big[1], 1 << 20, MPI_CHAR, left, 3, others, s),
	     "MPI_Sendrecv of 1 MiB");
}

static void collectives(int turn) {
	int one = 1, sum = 0;
	MPI_Request r;
	MPI_Comm dup, half;
	late(turn);
	good(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, others), "MPI_Allreduce");
	late(turn);
	good(MPI_Barrier(others), "MPI_Barrier");
	late(turn);
	good(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, others, &r), "MPI_Iallreduce");
	good(MPI_Wait(&r, MPI_STATUS_IGNORE), "MPI_Wait");
	late(turn);
	good(MPI_Comm_dup(others, &dup), "MPI_Comm_dup");
	late(turn);
	good(MPI_Comm_split(dup, rank % 2, 0, &half), "MPI_Comm_split");
	good(MPI_Comm_free(&half), "MPI_Comm_free");
	good(MPI_Comm_free(&dup), "MPI_Comm_free");
}

static void windows(int turn, MPI_Win win, int *at) {
	int x = 1, y, right = (rank + 1) % (size - 1);
	MPI_Win mine;
	int *memory;
	late(turn);
	good(MPI_Win_fence(0, win), "MPI_Win_fence");
	good(MPI_Put(&x, 1, MPI_INT, right, 0, 1, MPI_INT, win), "MPI_Put");
	late(turn);
	good(MPI_Win_fence(0, win), "MPI_Win_fence");
	good(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), "MPI_Win_lock");
	good(MPI_Fetch_and_op(&x, &y, MPI_INT, 0, 1, MPI_SUM, win), "MPI_Fetch_and_op");
	late(turn);
	good(MPI_Win_unlock(0, win), "MPI_Win_unlock");
	late(turn);
	good(MPI_Win_allocate(4096, 4, MPI_INFO_NULL, others, &memory, &mine), "MPI_Win_allocate");
	late(turn);
	good(MPI_Win_free(&mine), "MPI_Win_free");
	good(at[0] == 1 ? MPI_SUCCESS : MPI_ERR_OTHER, "what was put");
}

/* Locks a target whose lock the failed process held. If `has` is true, the failed process was on another node than the
 * target, so the target's node has released the lock and the call succeeds. If `has` is false, it was on the target's
 * node. It may then have died at any point of the lock protocol, so the call ends with an error. */
static void lock(int target, int has, MPI_Win win) {
	int y;
	int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
	if (rc == MPI_SUCCESS)
		rc = MPI_Get(&y, 1, MPI_INT, target, 0, 1, MPI_INT, win);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_flush(target, win);
	if (has)
		good(rc, "a lock that a process of another node has had");
	else
		lost(rc, "a lock that a process of the target's node has had");
	if (has)
		good(MPI_Win_unlock(target, win), "MPI_Win_unlock");
}

int main(int argc, char **argv) {
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, rank, &others);
	MPI_Comm_set_errhandler(others, MPI_ERRORS_RETURN);
	int *at[2], x = 7, y, index = -1, failures = 0, lost_connections = 0;
	observe("process_failed", &failures);
	observe("connection_lost", &lost_connections);
	MPI_Win few, all, held;
	MPI_Win_allocate(4096, 4, MPI_INFO_NULL, others, &at[0], &few);
	MPI_Win_create(malloc(4096), 4096, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &all);
	MPI_Win_set_errhandler(few, MPI_ERRORS_RETURN);
	MPI_Win_set_errhandler(all, MPI_ERRORS_RETURN);
	MPI_Win_create(malloc(4096), 4096, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &held);
	MPI_Win_set_errhandler(held, MPI_ERRORS_RETURN);
	for (int target = 0; target < 3 && rank == size - 1; target += 2) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, held);
		MPI_Put(&x, 1, MPI_INT, target, 0, 1, MPI_INT, held);
		MPI_Win_flush(target, held);
	}
	MPI_Win_lock_all(0, all);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == size - 1) {
		usleep(100000);
		kill(getpid(), SIGKILL);
	}
	/* The receiver sleeps when the process dies. */
	lost(MPI_Recv(&y, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
	/* This check comes first, so that no process of another node waits for a lock of rank 0 meanwhile. */
	if (rank == 1)
		lock(0, atoi(argv[2]) > 1, held);
	for (int turn = 0; turn < size - 1; turn++) {
		messages(turn);
		collectives(turn);
		windows(turn, few, at[0]);
		int next = (rank + 1) % (size - 1);
		good(MPI_Put(&x, 1, MPI_INT, next, 0, 1, MPI_INT, all), "MPI_Put among the living");
		good(MPI_Win_flush(next, all), "MPI_Win_flush among the living");
	}
	if (rank == 0)
		lock(2, atoi(argv[2]) > 2, held);
	MPI_Request r[2];
	MPI_Irecv(&y, 1, MPI_INT, (rank + 1) % (size - 1), 9, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(&y, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, &r[1]);
	lost(MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE), "MPI_Waitany");
	if (index != 1)
		errors++;
	lost(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
	lost(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
	MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
	lost(MPI_Wait(&r[0], MPI_STATUS_IGNORE), "MPI_Wait for a collective");
	lost(MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Probe");
	expect_failure("process_failed", &failures);
	/* the processes of other nodes that have communicated with the last rank have lost a connection */
	int all_lost = 0;
	good(MPI_Allreduce(&lost_connections, &all_lost, 1, MPI_INT, MPI_SUM, others), "MPI_Allreduce");
	if (lost_connections > 1 || (all_lost > 0) != (atoi(argv[2]) > 1)) {
		printf("rank %d: lost %d connections, all lost %d\n", rank, lost_connections, all_lost);
		errors++;
	}
	if (errors == 0)
		printf("right %d\n", rank);
	fflush(stdout);
	MPI_Barrier(others); /* the job ends with the first rank that ends */
	if (rank == 0)
		fclose(fopen(argv[1], "w"));
	_exit(argc < 3);
}
