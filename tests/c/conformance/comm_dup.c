/* Proves: a duplicate has the same group and its own context. Messages and collectives of one communicator never
 *   match those of another, whatever their tags. Hundreds of duplicates can be created, and freed in any order.
 *   MPI-5.0 7.4.2
 * np: 1 2 5
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MANY = 40, TURNS = 300 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, right = (me + 1) % n, left = (me + n - 1) % n, result, got[MANY],
	    sent[MANY];
	MPI_Comm comms[MANY];
	MPI_Request requests[2 * MANY];
	for (int i = 0; i < MANY; i++)
		MPI_Comm_dup(i % 3 ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < MANY; i++) {
		int size, rank;
		MPI_Comm_size(comms[i], &size);
		MPI_Comm_rank(comms[i], &rank);
		MPI_Comm_compare(MPI_COMM_WORLD, comms[i], &result);
		CHECK(size == n && rank == me && result == MPI_CONGRUENT, "duplicate %d: rank %d of %d, comparison %d",
		      i, rank, size, result);
	}
	/* equal source and tag on all communicators; the receives are in the reverse order of the sends */
	for (int i = 0; i < MANY; i++) {
		sent[i] = me * 1000 + i;
		MPI_Isend(&sent[i], 1, MPI_INT, right, 5, comms[i], &requests[i]);
	}
	for (int i = MANY - 1; i >= 0; i--) {
		got[i] = -1;
		MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &requests[MANY + i]);
	}
	MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		CHECK(got[i] == left * 1000 + i, "communicator %d received %d, not %d", i, got[i], left * 1000 + i);
	/* collectives between pending receives with wildcards */
	for (int i = 0; i < 5; i++) {
		int sum = 0, one = 1;
		MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[0], &requests[0]);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[0]);
		MPI_Barrier(comms[0]);
		CHECK(sum == n, "sum %d, not %d", sum, n);
		MPI_Send(&i, 1, MPI_INT, right, i, comms[0]);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		CHECK(got[0] == i, "a collective met a receive: %d", got[0]);
	}
	for (int i = 0; i < MANY; i++) {
		MPI_Comm_free(&comms[i * 11 % MANY]);
		CHECK(comms[i * 11 % MANY] == MPI_COMM_NULL, "a freed handle is not null");
	}
	for (int i = 0; i < TURNS; i++) {
		MPI_Comm comm;
		int sum = 0;
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		if (i % 20 == 0)
			MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
		CHECK(i % 20 || sum == i * n, "turn %d: sum %d", i, sum);
		MPI_Comm_free(&comm);
	}
	return check_end();
}
