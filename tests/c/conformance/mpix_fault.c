/* Proves: a job continues when ranks are killed. Calls that depend on a failed rank raise MPIX_ERR_PROC_FAILED, calls
 *   on a revoked communicator raise MPIX_ERR_REVOKED, all others succeed, and no call hangs. After MPIX_Comm_shrink,
 *   messages, collectives, communicators and windows work (ULFM).
 * np: 4 7
 * args: barrier allreduce bcast dup receive large any_source waitall waitany test probe iallreduce revoke_receive
 * args: revoke_large revoke_barrier revoke_iallreduce revoke_probe revoke_any revoke_split queries
 * args: ack ack_revoked agree two
 * args: first_bcast isend in_status spawn
 * args: shrink_death agree_death nonblocking lock put accumulate fence other free
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"
#include "../kills.h"

#include <mpi-ext.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static MPI_Comm world; /* a duplicate of MPI_COMM_WORLD */
static int victim, value, dead;

#define CHECK_FAULT(call, class)                                                                                      \
	do {                                                                                                          \
		int fault_rc = (call);                                                                                \
		CHECK(check_class(fault_rc) == (class), "the call returned %s, not class %s", check_string(fault_rc), \
		      #class);                                                                                        \
	} while (0)

static void nap(int us) {
	struct timespec t = {us / 1000000, us % 1000000 * 1000L};
	nanosleep(&t, NULL);
}

/* Waits until all ranks have returned from MPI_Init and from the calls after it, which a failure would disturb. */
static void await_all(void) {
	int x = 0;
	if (check_rank != 0) {
		MPI_Send(&x, 1, MPI_INT, 0, 77, MPI_COMM_WORLD);
		MPI_Recv(&x, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	}
	for (int i = 1; i < check_size; i++)
		MPI_Recv(&x, 1, MPI_INT, i, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 1; i < check_size; i++)
		MPI_Send(&x, 1, MPI_INT, i, 77, MPI_COMM_WORLD);
}

/* Kills this rank. It first waits until the others have probably returned from the previous calls. */
static void die(void) {
	nap(100000);
	raise(SIGKILL);
	abort();
}

static void die_if_victim(void) {
	if (check_rank == victim)
		die();
	dead++;
}

/* Waits until this rank knows that n members have failed. */
static void await_failures(MPI_Comm comm, int n) {
	for (int size = 0; size < n; nap(1000)) {
		MPI_Group failed;
		CHECK_OK(MPIX_Comm_get_failed(comm, &failed));
		MPI_Group_size(failed, &size);
		if (failed != MPI_GROUP_EMPTY)
			MPI_Group_free(&failed);
	}
}

/* Checks that everything works on a communicator. */
static void check_works(MPI_Comm comm) {
	int rank, size, sum = -1, from = -1;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	CHECK_OK(MPI_Barrier(comm));
	CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
	CHECK(sum == size * (size - 1) / 2, "the sum of %d ranks is %d", size, sum);
	CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &from, 1, MPI_INT, (rank + size - 1) % size, 5,
			      comm, MPI_STATUS_IGNORE));
	CHECK(from == (rank + size - 1) % size, "received %d", from);
	MPI_Comm half;
	CHECK_OK(MPI_Comm_split(comm, rank % 2, 0, &half));
	CHECK_OK(MPI_Barrier(half));
	CHECK_OK(MPI_Comm_free(&half));
	MPI_Win win;
	int *memory;
	CHECK_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, comm, &memory, &win));
	*memory = -1;
	CHECK_OK(MPI_Win_fence(0, win));
	CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win));
	CHECK_OK(MPI_Win_fence(0, win));
	CHECK(*memory == (rank + size - 1) % size, "the window has %d", *memory);
	CHECK_OK(MPI_Win_free(&win));
	MPI_Request request;
	CHECK_OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, comm, &request));
	CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(sum == size - 1, "the maximum of %d ranks is %d", size, sum);
}

/* Shrinks a communicator and checks the result, which must have `size` members. */
static void check_shrink(MPI_Comm comm, int size) {
	MPI_Comm small;
	int n;
	CHECK_OK(MPIX_Comm_shrink(comm, &small));
	MPI_Comm_size(small, &n);
	CHECK(n == size, "the communicator has %d members, not %d", n, size);
	check_works(small);
	CHECK_OK(MPI_Comm_free(&small));
}

static void in_collectives(void) {
	die_if_victim();
	int sum, rc = MPI_SUCCESS;
	MPI_Comm dup;
	char block[100000] = {0};
	for (int i = 0; i < 3 && rc == MPI_SUCCESS; i++) {
		if (strcmp(check_arg, "barrier") == 0)
			rc = MPI_Barrier(world);
		else if (strcmp(check_arg, "allreduce") == 0)
			rc = MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, world);
		else if (strcmp(check_arg, "dup") == 0 && (rc = MPI_Comm_dup(world, &dup)) == MPI_SUCCESS) {
			rc = MPI_Barrier(dup);
			CHECK_OK(MPI_Comm_free(&dup));
		} else if (strcmp(check_arg, "dup") == 0)
			break;
		else
			rc = MPI_Bcast(block, sizeof block, MPI_CHAR, victim, world);
	}
	CHECK_FAULT(rc, MPIX_ERR_PROC_FAILED);
	await_failures(world, 1);
	CHECK_FAULT(MPI_Barrier(world), MPIX_ERR_PROC_FAILED);
}

static void in_receives(void) {
	MPI_Request requests[3];
	MPI_Status status, statuses[3];
	static char block[1 << 20];
	int index, flag = 0, rc, next = (check_rank + 1) % check_size;
	if (next == victim)
		next = (next + 1) % check_size;
	die_if_victim();
	if (strcmp(check_arg, "receive") == 0) {
		CHECK_FAULT(MPI_Recv(&value, 1, MPI_INT, victim, 0, world, &status), MPIX_ERR_PROC_FAILED);
		CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, victim, 0, world, &requests[0]));
		CHECK_FAULT(MPI_Wait(&requests[0], &status), MPIX_ERR_PROC_FAILED);
		CHECK(requests[0] == MPI_REQUEST_NULL, "the request is active");
	} else if (strcmp(check_arg, "large") == 0) {
		CHECK_FAULT(MPI_Send(block, sizeof block, MPI_CHAR, victim, 0, world), MPIX_ERR_PROC_FAILED);
		await_failures(world, 1);
		CHECK_FAULT(MPI_Send(&value, 1, MPI_INT, victim, 0, world), MPIX_ERR_PROC_FAILED);
	} else if (strcmp(check_arg, "waitall") == 0) {
		CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, victim, 0, world, &requests[0]));
		CHECK_OK(MPI_Isend(&check_rank, 1, MPI_INT, check_rank, 1, world, &requests[1]));
		CHECK_OK(MPI_Irecv(&index, 1, MPI_INT, check_rank, 1, world, &requests[2]));
		CHECK_FAULT(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
		CHECK(statuses[0].MPI_ERROR == MPIX_ERR_PROC_FAILED, "status %d", statuses[0].MPI_ERROR);
		CHECK(requests[0] == MPI_REQUEST_NULL, "the request is active");
		CHECK(statuses[2].MPI_ERROR == MPI_SUCCESS && index == check_rank, "status %d", statuses[2].MPI_ERROR);
	} else if (strcmp(check_arg, "waitany") == 0) {
		CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, next, 77, world, &requests[0]));
		CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, victim, 0, world, &requests[1]));
		CHECK_FAULT(MPI_Waitany(2, requests, &index, &status), MPIX_ERR_PROC_FAILED);
		CHECK(index == 1 && requests[1] == MPI_REQUEST_NULL, "index %d", index);
		CHECK_OK(MPI_Cancel(&requests[0]));
		CHECK_OK(MPI_Wait(&requests[0], &status));
	} else {
		CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, victim, 0, world, &requests[0]));
		while ((rc = MPI_Test(&requests[0], &flag, &status)) == MPI_SUCCESS && !flag)
			;
		CHECK_FAULT(rc, MPIX_ERR_PROC_FAILED);
		CHECK(requests[0] == MPI_REQUEST_NULL, "the request is active");
		while ((rc = MPI_Iprobe(victim, 0, world, &flag, &status)) == MPI_SUCCESS && !flag)
			;
		CHECK_FAULT(rc, MPIX_ERR_PROC_FAILED);
		CHECK_FAULT(MPI_Probe(victim, 0, world, &status), MPIX_ERR_PROC_FAILED);
	}
}

static void in_any_source(void) {
	MPI_Request request;
	MPI_Status status;
	int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size;
	left = left == victim ? (left + check_size - 1) % check_size : left;
	right = right == victim ? (right + 1) % check_size : right;
	MPI_Comm rest;
	CHECK_OK(MPI_Comm_split(world, check_rank == victim, 0, &rest));
	die_if_victim();
	CHECK_FAULT(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, world, &status), MPIX_ERR_PROC_FAILED);
	CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, world, &request));
	CHECK_FAULT(MPI_Wait(&request, &status), MPIX_ERR_PROC_FAILED_PENDING);
	CHECK(request != MPI_REQUEST_NULL, "the request is not active");
	CHECK_OK(MPIX_Comm_failure_ack(world));
	CHECK_OK(MPI_Barrier(rest));
	CHECK_OK(MPI_Comm_free(&rest));
	CHECK_OK(MPI_Send(&check_rank, 1, MPI_INT, right, 3, world));
	CHECK_OK(MPI_Wait(&request, &status));
	CHECK(value == left && status.MPI_SOURCE == left, "received %d from %d", value, status.MPI_SOURCE);
	CHECK_OK(MPI_Send(&check_rank, 1, MPI_INT, right, 4, world));
	CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, world, &status));
	MPI_Group group;
	int n;
	CHECK_OK(MPIX_Comm_failure_get_acked(world, &group));
	MPI_Group_size(group, &n);
	CHECK(n == 1, "%d members are acknowledged", n);
	MPI_Group_free(&group);
}

static void in_iallreduce(void) {
	MPI_Request request;
	int sum;
	die_if_victim();
	CHECK_OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, world, &request));
	CHECK_FAULT(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
	CHECK(request == MPI_REQUEST_NULL, "the request is active");
}

static void in_revoked(void) {
	MPI_Request request;
	MPI_Status status;
	static char block[1 << 20];
	int next = (check_rank + 1) % check_size, flag = 0, sum;
	MPI_Comm dup;
	victim = -1;
	if (strcmp(check_arg, "revoke_any") == 0 && check_rank != 1)
		CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, world, &request));
	if (strcmp(check_arg, "revoke_iallreduce") == 0 && check_rank != 1)
		CHECK_OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, world, &request));
	CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* no rank starts an operation after the revocation */
	if (check_rank == 1) {
		nap(20000);
		CHECK_OK(MPIX_Comm_revoke(world));
	} else if (strcmp(check_arg, "revoke_receive") == 0) {
		CHECK_FAULT(MPI_Recv(&value, 1, MPI_INT, next, 9, world, &status), MPIX_ERR_REVOKED);
	} else if (strcmp(check_arg, "revoke_any") == 0) {
		CHECK_FAULT(MPI_Wait(&request, &status), MPIX_ERR_REVOKED);
		CHECK(request == MPI_REQUEST_NULL, "the request is active");
	} else if (strcmp(check_arg, "revoke_large") == 0) {
		CHECK_FAULT(MPI_Send(block, sizeof block, MPI_CHAR, next, 9, world), MPIX_ERR_REVOKED);
	} else if (strcmp(check_arg, "revoke_barrier") == 0) {
		CHECK_FAULT(MPI_Barrier(world), MPIX_ERR_REVOKED);
	} else if (strcmp(check_arg, "revoke_split") == 0) {
		CHECK_FAULT(MPI_Comm_split(world, 0, 0, &dup), MPIX_ERR_REVOKED);
	} else if (strcmp(check_arg, "revoke_probe") == 0) {
		CHECK_FAULT(MPI_Probe(next, 9, world, &status), MPIX_ERR_REVOKED);
	} else {
		CHECK_FAULT(MPI_Wait(&request, &status), MPIX_ERR_REVOKED);
	}
	while (!flag)
		CHECK_OK(MPIX_Comm_is_revoked(world, &flag));
	CHECK_FAULT(MPI_Send(&value, 1, MPI_INT, next, 0, world), MPIX_ERR_REVOKED);
	CHECK_FAULT(MPI_Recv(&value, 1, MPI_INT, next, 0, world, &status), MPIX_ERR_REVOKED);
	CHECK_FAULT(MPI_Barrier(world), MPIX_ERR_REVOKED);
	CHECK_FAULT(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, world), MPIX_ERR_REVOKED);
	CHECK_FAULT(MPI_Ibarrier(world, &request), MPIX_ERR_REVOKED);
	CHECK_FAULT(MPI_Comm_dup(world, &dup), MPIX_ERR_REVOKED);
	int size;
	CHECK_OK(MPI_Comm_size(world, &size));
	flag = ~(1 << check_rank);
	CHECK_OK(MPIX_Comm_agree(world, &flag));
	CHECK(flag == (int)(~0U << check_size), "the flags are %x", flag);
}

static void in_queries(void) {
	int flag = 1, n;
	MPI_Group group;
	CHECK_OK(MPIX_Comm_is_revoked(world, &flag));
	CHECK(flag == 0, "the communicator is revoked");
	CHECK_OK(MPIX_Comm_get_failed(world, &group));
	CHECK(group == MPI_GROUP_EMPTY, "members have failed");
	CHECK_OK(MPIX_Comm_ack_failed(world, 1, &n));
	CHECK(n == 0, "%d failures are acknowledged", n);
	CHECK_FAULT(MPIX_Comm_is_revoked(MPI_COMM_NULL, &flag), MPI_ERR_COMM);
	CHECK_FAULT(MPIX_Comm_agree(MPI_COMM_NULL, &flag), MPI_ERR_COMM);
	CHECK_FAULT(MPIX_Comm_is_revoked(world, NULL), MPI_ERR_ARG);
	CHECK_FAULT(MPIX_Comm_agree(world, NULL), MPI_ERR_ARG);
	CHECK_FAULT(MPIX_Comm_shrink(world, NULL), MPI_ERR_ARG);
	char text[MPI_MAX_ERROR_STRING];
	CHECK_OK(MPI_Error_string(MPIX_ERR_REVOKED, text, &n));
	CHECK(strncmp(text, "MPIX_ERR_REVOKED: ", 18) == 0, "the text is %s", text);
	CHECK(check_class(MPIX_ERR_PROC_FAILED) == MPIX_ERR_PROC_FAILED, "the class is wrong");
	victim = -1;
}

static void in_ack(void) {
	int n, flag = 5;
	die_if_victim();
	await_failures(world, 1);
	if (strcmp(check_arg, "ack_revoked") == 0)
		CHECK_OK(MPIX_Comm_revoke(world));
	CHECK_FAULT(MPIX_Comm_agree(world, &flag), MPIX_ERR_PROC_FAILED);
	CHECK(flag == 5, "the flags are %d", flag);
	if (check_rank == 0)
		CHECK_OK(MPIX_Comm_failure_ack(world));
	flag = 3;
	int rc = MPIX_Comm_agree(world, &flag);
	CHECK(check_class(rc) == MPIX_ERR_PROC_FAILED || check_size == 2, "not all have acknowledged: %s",
	      check_string(rc));
	CHECK_OK(MPIX_Comm_ack_failed(world, 10, &n));
	CHECK(n == 1, "%d failures are acknowledged", n);
	flag = 6;
	CHECK_OK(MPIX_Comm_agree(world, &flag));
	CHECK(flag == 6, "the flags are %d", flag);
}

/* Kills the first and the last rank at about the same time. */
static void in_two(void) {
	if (check_rank == 0 || check_rank == check_size - 1)
		die();
	dead = 2;
	CHECK_FAULT(MPI_Barrier(world), MPIX_ERR_PROC_FAILED);
}

/* Kills a rank while the others shrink or agree. */
static void in_agreements(void) {
	srand((unsigned)(getpid() + time(NULL)));
	int first = 0, flag = 1;
	if (check_rank == victim) {
		alarm(0);
		kill_after((unsigned)(rand() % 3000));
	}
	dead++;
	for (;; first++) {
		int n, rc;
		if (strcmp(check_arg, "agree_death") == 0) {
			flag = first;
			rc = MPIX_Comm_agree(world, &flag);
			CHECK(flag == first, "the flags are %d, not %d", flag, first);
			if (rc != MPI_SUCCESS)
				return;
			continue;
		}
		MPI_Comm small;
		CHECK_OK(MPIX_Comm_shrink(world, &small));
		MPI_Comm_size(small, &n);
		MPI_Comm_free(&small);
		if (n < check_size)
			return;
	}
}

static void in_nonblocking(void) {
	MPI_Request requests[2];
	MPI_Comm small;
	int flags = 7;
	die_if_victim();
	await_failures(world, 1);
	CHECK_OK(MPIX_Comm_failure_ack(world));
	CHECK_OK(MPIX_Comm_iagree(world, &flags, &requests[0]));
	CHECK_OK(MPIX_Comm_ishrink(world, &small, &requests[1]));
	CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	CHECK(flags == 7, "the flags are %d", flags);
	CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
	check_works(small);
	CHECK_OK(MPI_Comm_free(&small));
}

static void in_windows(void) {
	MPI_Win win;
	int *memory, n = 100000, rc = MPI_SUCCESS, next = (check_rank + 1) % check_size;
	next = next == victim ? (next + 1) % check_size : next;
	CHECK_OK(MPI_Win_allocate(n * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &win));
	CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	memset(memory, 0, (size_t)n * sizeof(int));
	CHECK_OK(MPI_Barrier(world));
	if (strcmp(check_arg, "lock") == 0) {
		if (check_rank == victim)
			CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		MPI_Barrier(world);
		die_if_victim();
		rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		if (rc == MPI_SUCCESS)
			CHECK_OK(MPI_Win_unlock(0, win));
		else
			CHECK_FAULT(rc, MPIX_ERR_PROC_FAILED);
		if (rc != MPI_SUCCESS) { /* the lock is released, and the waiters have been notified */
			CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
			CHECK_OK(MPI_Win_unlock(0, win));
		}
		CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
		CHECK_OK(MPI_Put(&check_rank, 1, MPI_INT, next, 0, 1, MPI_INT, win));
		CHECK_OK(MPI_Win_unlock(next, win));
	} else if (strcmp(check_arg, "fence") == 0) {
		die_if_victim();
		for (int i = 0; i < 3 && rc == MPI_SUCCESS; i++)
			rc = MPI_Win_fence(0, win);
		CHECK_FAULT(rc, MPIX_ERR_PROC_FAILED);
	} else {
		CHECK_OK(MPI_Win_lock_all(0, win));
		int is_put = strcmp(check_arg, "put") == 0, one = 1;
		for (int i = 0; i < 2000; i++) {
			if (check_rank == victim && i == 1000)
				die();
			if (is_put)
				rc = MPI_Put(memory, i % 1000, MPI_INT, next, 1000, i % 1000, MPI_INT, win);
			else
				rc = MPI_Accumulate(&one, 1, MPI_INT, next, i % 10, 1, MPI_INT, MPI_SUM, win);
			CHECK_OK(rc);
			if (is_put && i % 10 == 0)
				CHECK_OK(MPI_Win_flush(next, win));
		}
		dead++;
		CHECK_OK(MPI_Win_flush(next, win));
		await_failures(world, 1);
		rc = MPI_Put(memory, 1, MPI_INT, victim, 0, 1, MPI_INT, win);
		if (rc == MPI_SUCCESS)
			rc = MPI_Win_flush(victim, win);
		CHECK(rc == MPI_SUCCESS || check_class(rc) == MPIX_ERR_PROC_FAILED, "put: %s", check_string(rc));
		MPI_Win_unlock_all(win);
	}
	rc = MPI_Win_free(&win);
	CHECK(rc == MPI_SUCCESS || check_class(rc) == MPIX_ERR_PROC_FAILED, "MPI_Win_free: %s", check_string(rc));
}

/* Checks that a communicator without the failed rank is not affected. */
static void in_other(void) {
	MPI_Comm rest;
	CHECK_OK(MPI_Comm_split(world, check_rank == victim, 0, &rest));
	die_if_victim();
	for (int i = 0; i < 100; i++)
		CHECK_OK(MPI_Barrier(rest));
	await_failures(world, 1);
	check_works(rest);
	CHECK_OK(MPI_Comm_free(&rest));
	MPI_Group all, failed, alive;
	CHECK_OK(MPI_Comm_group(world, &all));
	CHECK_OK(MPIX_Comm_get_failed(world, &failed));
	CHECK_OK(MPI_Group_difference(all, failed, &alive));
	CHECK_OK(MPI_Comm_create_group(world, alive, 3, &rest));
	check_works(rest);
	CHECK_OK(MPI_Comm_free(&rest));
	MPI_Group_free(&all);
	MPI_Group_free(&failed);
	MPI_Group_free(&alive);
}

/* Checks the first large collective on a communicator, which exchanges messages to allocate memory. A rank that has
 * seen the failure leaves the call, and no other rank may wait for its messages. */
static void in_first_bcast(void) {
	static char block[8192];
	if (check_rank == victim)
		raise(SIGKILL);
	dead++;
	int rc = MPI_Bcast(block, sizeof block, MPI_CHAR, 0, world);
	if (rc != MPI_SUCCESS)
		CHECK_FAULT(rc, MPIX_ERR_PROC_FAILED);
}

/* Checks that a nonblocking send to a rank that is known to have failed raises the error on completion. */
static void in_isend(void) {
	MPI_Request request;
	die_if_victim();
	await_failures(world, 1);
	CHECK_FAULT(MPI_Send(&value, 1, MPI_INT, victim, 0, world), MPIX_ERR_PROC_FAILED);
	CHECK_OK(MPI_Isend(&value, 1, MPI_INT, victim, 0, world, &request));
	CHECK_FAULT(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
	CHECK_OK(MPI_Issend(&value, 1, MPI_INT, victim, 0, world, &request));
	CHECK_FAULT(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
	CHECK_OK(MPI_Send_init(&value, 1, MPI_INT, victim, 0, world, &request));
	CHECK_OK(MPI_Request_free(&request));
}

static char *program;

/* Checks that MPI_Comm_spawn starts no process while a member has failed, and that the survivors can start one. */
static void in_spawn(void) {
	MPI_Comm small, child;
	char *args[] = {(char *)check_arg, NULL};
	if (check_rank == victim)
		raise(SIGKILL);
	dead++;
	for (int i = 0; i < 2; i++) /* the second call knows of the failure */
		CHECK_FAULT(MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, world, &child, MPI_ERRCODES_IGNORE),
			    MPIX_ERR_PROC_FAILED);
	CHECK_OK(MPIX_Comm_shrink(world, &small));
	CHECK_OK(MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, small, &child, MPI_ERRCODES_IGNORE));
	CHECK_OK(MPI_Barrier(child));
	CHECK_OK(MPI_Comm_disconnect(&child));
	CHECK_OK(MPI_Comm_free(&small));
}

static int handled;

static void note_code(MPI_Comm *comm, int *code, ...) {
	(void)comm;
	handled = check_class(*code);
}

/* Checks that the error handler receives the error code of the request if a call returns MPI_ERR_IN_STATUS. */
static void in_status(void) {
	MPI_Errhandler handler;
	MPI_Request request;
	MPI_Status status;
	die_if_victim();
	CHECK_OK(MPI_Comm_create_errhandler(note_code, &handler));
	CHECK_OK(MPI_Comm_set_errhandler(world, handler));
	CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, victim, 0, world, &request));
	CHECK_FAULT(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS);
	CHECK(handled == MPIX_ERR_PROC_FAILED, "the error handler received class %d", handled);
	CHECK(check_class(status.MPI_ERROR) == MPIX_ERR_PROC_FAILED, "the status has class %d", status.MPI_ERROR);
	CHECK_OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
	CHECK_OK(MPI_Errhandler_free(&handler));
}

static void in_free(void) {
	MPI_Comm dup;
	CHECK_OK(MPI_Comm_dup(world, &dup));
	die_if_victim();
	CHECK_FAULT(MPI_Barrier(dup), MPIX_ERR_PROC_FAILED);
	CHECK_OK(MPI_Comm_free(&dup));
}

int main(int argc, char **argv) {
	static const struct {
		const char *names;
		void (*run)(void);
	} variants[] = {{" barrier allreduce bcast dup ", in_collectives},
			{" receive large waitall waitany test probe ", in_receives},
			{" any_source ", in_any_source},
			{" iallreduce ", in_iallreduce},
			{" revoke_receive revoke_large revoke_barrier revoke_iallreduce ", in_revoked},
			{" revoke_probe revoke_any revoke_split ", in_revoked},
			{" queries ", in_queries},
			{" ack ack_revoked agree ", in_ack},
			{" two ", in_two},
			{" shrink_death agree_death ", in_agreements},
			{" nonblocking ", in_nonblocking},
			{" lock put accumulate fence ", in_windows},
			{" other ", in_other},
			{" first_bcast ", in_first_bcast},
			{" isend ", in_isend},
			{" in_status ", in_status},
			{" spawn ", in_spawn},
			{" free ", in_free}};
	char name[100];
	MPI_Comm parent;
	check_begin(&argc, &argv);
	program = argv[0];
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) { /* a process that in_spawn has started */
		MPI_Barrier(parent);
		MPI_Comm_disconnect(&parent);
		MPI_Finalize();
		return 0;
	}
	snprintf(name, sizeof name, " %s ", check_arg);
	CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
	int *is_tolerant, is_set = 0;
	CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &is_tolerant, &is_set));
	CHECK(is_set && *is_tolerant == 1, "MPIX_FT has another value than 1");
	victim = check_size / 2;
	await_all();
	int found = 0;
	for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
		if (strstr(variants[i].names, name) != NULL) {
			found = 1;
			variants[i].run();
		}
	CHECK(found, "the argument %s is unknown", check_arg);
	check_shrink(world, check_size - dead);
	CHECK_OK(MPI_Comm_free(&world));
	/* the survivors add up their errors */
	MPI_Comm all;
	int errors = check_errors;
	MPIX_Comm_shrink(MPI_COMM_WORLD, &all);
	MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, all);
	MPI_Comm_rank(all, &value);
	MPI_Comm_free(&all);
	if (value == 0 && errors == 0)
		printf("PASS\n");
	else if (value == 0)
		printf("FAIL: %d errors\n", errors);
	MPI_Finalize();
	return errors != 0;
}
