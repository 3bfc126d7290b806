/* Proves: thousands of active requests, sends and receives, small and some large, complete in a different order than
 *   they were started. MPI-5.0 3.7
 * np: 2 4
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MANY = 4000, LARGE = 20000 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, *out = malloc(MANY * sizeof(int)), *in = malloc(MANY * sizeof(int));
	int *large_out = malloc(LARGE * sizeof(int)), *large_in[8];
	MPI_Request *sends = malloc((MANY + 8) * sizeof *sends), *recvs = malloc((MANY + 8) * sizeof *recvs);
	for (int i = 0; i < LARGE; i++)
		large_out[i] = me * 3 + i;
	for (int early = 0; early < 2; early++) {
		/* rank r sends message i to rank r + 1 + i mod (n - 1), modulo n */
		for (int i = 0; i < MANY; i++)
			out[i] = me * MANY + i, in[i] = -1;
		if (early)
			MPI_Barrier(MPI_COMM_WORLD);
		for (int pass = 0; pass < 2; pass++)
			for (int k = 0; k < MANY; k++) {
				if (pass == early) {
					MPI_Isend(&out[k], 1, MPI_INT, (me + 1 + k % (n - 1)) % n, k, MPI_COMM_WORLD,
						  &sends[k]);
				} else {
					int i = MANY - 1 - k; /* in reverse order */
					MPI_Irecv(&in[i], 1, MPI_INT, (me + 2 * n - 1 - i % (n - 1)) % n, i,
						  MPI_COMM_WORLD, &recvs[i]);
				}
			}
		for (int i = 0; i < 8; i++) {
			large_in[i] = malloc(LARGE * sizeof(int));
			MPI_Irecv(large_in[i], LARGE, MPI_INT, (me + n - 1) % n, MANY + i, MPI_COMM_WORLD,
				  &recvs[MANY + i]);
			MPI_Isend(large_out, LARGE, MPI_INT, (me + 1) % n, MANY + i, MPI_COMM_WORLD, &sends[MANY + i]);
		}
		for (int k = 0; k < MANY + 8; k++)
			MPI_Wait(&recvs[(int64_t)k * 1237 % (MANY + 8)], MPI_STATUS_IGNORE);
		MPI_Waitall(MANY + 8, sends, MPI_STATUSES_IGNORE);
		for (int i = 0; i < MANY; i++) {
			int from = (me + 2 * n - 1 - i % (n - 1)) % n;
			CHECK(in[i] == from * MANY + i, "message %d is %d, not %d", i, in[i], from * MANY + i);
		}
		for (int i = 0; i < 8; i++) {
			for (int k = 0; k < LARGE; k += 99)
				CHECK(large_in[i][k] == (me + n - 1) % n * 3 + k, "large message %d, element %d is %d",
				      i, k, large_in[i][k]);
			free(large_in[i]);
		}
	}
	free(out);
	free(in);
	free(large_out);
	free(sends);
	free(recvs);
	return check_end();
}
