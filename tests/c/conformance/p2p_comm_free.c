/* Proves: a communicator may be freed while messages and collectives on it are active; they complete normally. Covers
 *   small and large messages, receives posted before and after the message, messages to another process and to itself.
 *   Communicators created afterwards do not receive messages of the freed communicator. MPI-5.0 7.4.3
 * np: 1 2 4
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 30000, ROUNDS = 12, REQUESTS = 7 };

static int out[MOST], in[3][MOST];

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, right = (me + 1) % n, left = (me + n - 1) % n, sum, one = 1;
	for (int round = 0; round < ROUNDS; round++)
		for (int late = 0; late < 2; late++) {
			static const int sizes[] = {1, 1000, 5000, MOST};
			int size = sizes[round % 4], wrong = 0, own = -1, token = round, back = -1;
			MPI_Comm comm, next;
			MPI_Request r[REQUESTS];
			for (int i = 0; i < size; i++)
				out[i] = me * 100000 + round + i;
			memset(in, 0xff, sizeof in);
			sum = -1;
			MPI_Comm_dup(MPI_COMM_WORLD, &comm);
			if (!late)
				MPI_Irecv(in[0], size, MPI_INT, MPI_ANY_SOURCE, 1, comm, &r[0]);
			MPI_Isend(out, size, MPI_INT, right, 1, comm, &r[1]);
			MPI_Issend(out, size, MPI_INT, right, 2, comm, &r[2]);
			MPI_Isend(&token, 1, MPI_INT, me, 3, comm, &r[3]);
			if (late) {
				MPI_Probe(left, 2, comm, MPI_STATUS_IGNORE);
				MPI_Irecv(in[0], size, MPI_INT, left, 1, comm, &r[0]);
			}
			MPI_Irecv(in[1], size, MPI_INT, left, 2, comm, &r[4]);
			MPI_Irecv(&own, 1, MPI_INT, me, 3, comm, &r[5]);
			MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &r[6]);
			MPI_Comm_free(&comm);
			CHECK(comm == MPI_COMM_NULL, "the handle is not null");
			/* A message with these ranks and tags on another communicator must not match. */
			MPI_Comm_dup(MPI_COMM_WORLD, &next);
			MPI_Sendrecv(&token, 1, MPI_INT, right, 1, &back, 1, MPI_INT, left, 1, next, MPI_STATUS_IGNORE);
			CHECK(back == round, "the next communicator brought %d, not %d", back, round);
			MPI_Comm_free(&next);
			if (round % 2)
				MPI_Waitall(REQUESTS, r, MPI_STATUSES_IGNORE);
			else
				for (int i = REQUESTS - 1; i >= 0; i--)
					MPI_Wait(&r[i], MPI_STATUS_IGNORE);
			for (int k = 0; k < 2; k++)
				for (int i = 0; i < size; i++)
					wrong += in[k][i] != left * 100000 + round + i;
			CHECK(wrong == 0 && own == round && sum == n, "%d ints: %d wrong, %d to itself, sum %d", size,
			      wrong, own, sum);
		}
	return check_end();
}
