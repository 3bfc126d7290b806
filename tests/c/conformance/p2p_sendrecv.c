/* Proves: MPI_Sendrecv works around a ring, with different types and lengths in both directions, with oneself, and
 *   with MPI_PROC_NULL on one side or both. It works with messages so large that two blocking sends would deadlock.
 *   It matches plain sends and receives. MPI-5.0 3.10, 3.11
 * np: 1 2 5
 * ref: mpich
 * nodes: 2
 * timeout: 30
 */
#include "../check.h"

enum { MOST = 200000 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, right = (me + 1) % n, left = (me + n - 1) % n, count;
	int *out = malloc(MOST * sizeof(int)), *in = malloc(MOST * sizeof(int));
	MPI_Status status;
	static const int lengths[] = {0, 1, 100, 20000, MOST};
	for (int i = 0; i < MOST; i++)
		out[i] = me * 7 + i;
	for (int round = 0; round < 10; round++) {
		int mine = lengths[(me + round) % 5], theirs = lengths[(left + round) % 5];
		MPI_Sendrecv(out, mine, MPI_INT, right, me + round, in, MOST * 4, MPI_BYTE, left, left + round,
			     MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &count);
		CHECK(count == theirs * 4 && status.MPI_SOURCE == left && status.MPI_TAG == left + round,
		      "round %d: %d bytes from %d, tag %d, not %d, %d, %d", round, count, status.MPI_SOURCE,
		      status.MPI_TAG, theirs * 4, left, left + round);
		for (int i = 0; i < theirs; i += 1 + theirs / 1000)
			CHECK(in[i] == left * 7 + i, "round %d: element %d is %d, not %d", round, i, in[i],
			      left * 7 + i);
	}
	int a = 5, b = -1;
	MPI_Sendrecv(&a, 1, MPI_INT, me, 1, &b, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &status);
	CHECK(b == 5 && status.MPI_SOURCE == me, "with myself: %d", b);
	b = -1;
	MPI_Sendrecv(&a, 1, MPI_INT, MPI_PROC_NULL, 1, &b, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	CHECK(b == -1 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0,
	      "with nobody: %d from %d, tag %d, count %d", b, status.MPI_SOURCE, status.MPI_TAG, count);
	/* Shift along a line: unlike in a ring, the first and the last rank have only one neighbour. */
	int up = me + 1 < n ? me + 1 : MPI_PROC_NULL, down = me > 0 ? me - 1 : MPI_PROC_NULL;
	a = 100 + me, b = -1;
	MPI_Sendrecv(&a, 1, MPI_INT, up, 2, &b, 1, MPI_INT, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(b == (me > 0 ? 100 + me - 1 : -1), "in a line: %d", b);
	if (n > 1 && me < 2) { /* one rank uses sendrecv, the other send and receive */
		b = -1;
		if (me == 0) {
			MPI_Sendrecv(&a, 1, MPI_INT, 1, 3, &b, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&b, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&a, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
		}
		CHECK(b == 100 + (me ^ 1), "sendrecv and send: %d", b);
	}
	free(out);
	free(in);
	return check_end();
}
