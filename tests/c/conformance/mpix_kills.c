/* Proves: ranks that are killed at random times, while the others call functions of all kinds, neither block nor
 *   confuse the survivors. All survivors get the same results from all calls of MPIX_Comm_agree and MPIX_Comm_shrink
 *   (ULFM).
 * np: 4 8
 * args: 1 2 3 4
 * env: GOMPIRMA_FT=1
 * ref: none (needs ULFM)
 * timeout: 60
 */
#include "../check.h"
#include "../kills.h"

#include <mpi-ext.h>

enum {
	KILLS_US = 300000, /* all victims are killed within this time */
	END_US = 600000,   /* time after which a rank wants to end */
	LARGE = 1 << 20,
	KINDS = 12
};

static MPI_Comm comm; /* communicator of the ranks that have not been reported as failed */
static int rank, size;
static uint64_t history; /* a hash of the results of all agreements */
static char *from_memory, *to_memory;

static uint64_t now_us(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t mix(uint64_t a, uint64_t b) {
	a = (a ^ b) * 0x9e3779b97f4a7c15u;
	return a ^ a >> 29;
}

static void note(int value) { history = mix(history, (uint64_t)(unsigned)value + 1); }

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

static int ring(size_t bytes) {
	return MPI_Sendrecv(from_memory, (int)bytes, MPI_CHAR, (rank + 1) % size, 1, to_memory, (int)bytes, MPI_CHAR,
			    (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
}

static int any_source(void) {
	MPI_Request request;
	int rc = MPI_Irecv(to_memory, 10, MPI_CHAR, MPI_ANY_SOURCE, 2, comm, &request);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = MPI_Send(from_memory, 10, MPI_CHAR, (rank + 1) % size, 2, comm);
	if (rc != MPI_SUCCESS)
		CHECK_OK(MPIX_Comm_revoke(comm)); /* the left neighbor may wait for another message */
	int wait_rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (check_class(wait_rc) == MPIX_ERR_PROC_FAILED_PENDING) {
		CHECK_OK(MPIX_Comm_revoke(comm));
		wait_rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	CHECK(request == MPI_REQUEST_NULL, "the request is active: %s", check_string(wait_rc));
	return rc != MPI_SUCCESS ? rc : wait_rc;
}

static int window(void) {
	MPI_Win win;
	int *memory, rc = MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
	if (rc != MPI_SUCCESS)
		return rc;
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	*memory = 0;
	const int one = 1;
	if ((rc = MPI_Win_fence(0, win)) == MPI_SUCCESS &&
	    (rc = MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win)) == MPI_SUCCESS &&
	    (rc = MPI_Win_fence(0, win)) == MPI_SUCCESS && rank == 0)
		/* a rank for which the first fence has failed does not add, and its MPI_Win_free ends the second one */
		CHECK(*memory <= size, "%d of %d ranks have added", *memory, size);
	int free_rc = MPI_Win_free(&win);
	return rc != MPI_SUCCESS ? rc : free_rc;
}

/* Starts an agreement and a shrink, which overlap with a collective. */
static int nonblocking(void) {
	MPI_Request requests[3];
	MPI_Comm small = MPI_COMM_NULL;
	int flag = ~(1 << rank), sum = 0, n = 0;
	CHECK_OK(MPIX_Comm_iagree(comm, &flag, &requests[0]));
	CHECK_OK(MPIX_Comm_ishrink(comm, &small, &requests[1]));
	int rc = MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[2]);
	if (rc == MPI_SUCCESS)
		rc = MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
	if (rc != MPI_SUCCESS)
		CHECK_OK(MPIX_Comm_revoke(comm));
	int agree_rc = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	note(flag);
	note(check_class(agree_rc));
	CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
	MPI_Comm_size(small, &n);
	note(n);
	MPI_Comm_free(&small);
	return rc;
}

/* Calls functions of one kind. */
static int work(int kind) {
	int sum = -1, rc;
	MPI_Request request;
	MPI_Comm dup;
	switch (kind) {
	case 0:
		return MPI_Barrier(comm);
	case 1:
		rc = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
		CHECK(rc != MPI_SUCCESS || sum == size * (size - 1) / 2, "the sum of %d ranks is %d", size, sum);
		return rc;
	case 2:
		return MPI_Bcast(to_memory, LARGE, MPI_CHAR, size / 2, comm);
	case 3:
		return ring(100);
	case 4:
		return ring(LARGE);
	case 5:
		rc = MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
		if (rc == MPI_SUCCESS)
			rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(rc != MPI_SUCCESS || sum == size * (size - 1) / 2, "the sum of %d ranks is %d", size, sum);
		return rc;
	case 6:
		return any_source();
	case 7:
		return MPI_Alltoall(from_memory, 1000, MPI_CHAR, to_memory, 1000, MPI_CHAR, comm);
	case 8:
		if ((rc = MPI_Comm_dup(comm, &dup)) == MPI_SUCCESS)
			MPI_Comm_free(&dup);
		return rc;
	case 9:
		return window();
	case 10:
		return MPI_Gather(&rank, 1, MPI_INT, to_memory, 1, MPI_INT, size - 1, comm);
	default:
		return nonblocking();
	}
}

/* Replaces comm by a communicator of the ranks that live. */
static void shrink(void) {
	MPI_Comm small;
	CHECK_OK(MPIX_Comm_shrink(comm, &small));
	CHECK_OK(MPI_Comm_free(&comm));
	comm = small;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	note(size);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	from_memory = calloc(LARGE, 1);
	to_memory = calloc(LARGE, 1);
	uint64_t start = now_us(), seed = mix(start, (uint64_t)atoi(check_arg)), kind = seed;
	MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	uint64_t mine = mix(seed, (uint64_t)rank + 1);
	await_all();
	if (rank != (int)(seed % (unsigned)size) && mine % 3 != 0)
		kill_after((unsigned)(mix(mine, 1) % KILLS_US));
	kind = seed;
	for (int has_ended = 0; !has_ended;) {
		kind = mix(kind, 7);
		int rc = work((int)(kind >> 8) % KINDS);
		CHECK(rc == MPI_SUCCESS || check_class(rc) == MPIX_ERR_PROC_FAILED ||
			      check_class(rc) == MPIX_ERR_REVOKED,
		      "the call of kind %d returned %s", (int)(kind >> 8) % KINDS, check_string(rc));
		if (rc != MPI_SUCCESS)
			CHECK_OK(MPIX_Comm_revoke(comm));
		int flags = (rc == MPI_SUCCESS) | (now_us() - start > END_US) << 1;
		rc = MPIX_Comm_agree(comm, &flags);
		note(flags);
		note(check_class(rc));
		has_ended = (flags & 2) != 0;
		if (rc != MPI_SUCCESS || flags % 2 == 0)
			shrink();
	}
	kill_cancel();
	shrink();
	uint64_t lowest = 0, highest = 0;
	CHECK_OK(MPI_Allreduce(&history, &lowest, 1, MPI_UINT64_T, MPI_MIN, comm));
	CHECK_OK(MPI_Allreduce(&history, &highest, 1, MPI_UINT64_T, MPI_MAX, comm));
	CHECK(lowest == highest, "the results of agreements differ");
	int errors = check_errors;
	MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, comm);
	CHECK_OK(MPI_Comm_free(&comm));
	if (rank == 0 && errors == 0)
		printf("PASS\n");
	else if (rank == 0)
		printf("FAIL: %d errors, seed %llu\n", errors, (unsigned long long)seed);
	MPI_Finalize();
	return errors != 0;
}
