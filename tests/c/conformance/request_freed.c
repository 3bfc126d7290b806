/* Proves: active sends and receives that are freed still complete. The messages arrive with all their data, in
 *   contiguous memory and in vectors, small and large, whether the receive or the message comes first. The handles of
 *   freed requests become null. Thousands of freed requests need no more memory than other requests. Active persistent
 *   requests may be freed, too. MPI-5.0 3.7.3, 3.9
 * np: 1 2
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 30000, ROUNDS = 30, FLOOD = 5000 };

static int out[MOST], in[2 * MOST];

static void meet(int other) {
	if (other != check_rank)
		MPI_Sendrecv(NULL, 0, MPI_INT, other, 99, NULL, 0, MPI_INT, other, 99, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
}

static void body(int other, int n, int how) {
	int late = how & 1, vector = how & 2, persistent = how & 4, sync = how & 8, step = vector ? 2 : 1, flag;
	MPI_Datatype t;
	MPI_Request r;
	for (int i = 0; i < n; i++)
		out[i] = how * 100000 + i;
	memset(in, 0xff, sizeof in);
	MPI_Type_vector(n, 1, step, MPI_INT, &t);
	MPI_Type_commit(&t);
	meet(other);
	for (int k = 0; k < 2; k++) {
		if (k != late) {
			if (persistent) {
				if (sync)
					MPI_Ssend_init(out, n, MPI_INT, other, 1, MPI_COMM_WORLD, &r);
				else
					MPI_Send_init(out, n, MPI_INT, other, 1, MPI_COMM_WORLD, &r);
				MPI_Start(&r);
			} else if (sync) {
				MPI_Issend(out, n, MPI_INT, other, 1, MPI_COMM_WORLD, &r);
			} else {
				MPI_Isend(out, n, MPI_INT, other, 1, MPI_COMM_WORLD, &r);
			}
		} else if (persistent) {
			MPI_Recv_init(in, 1, t, other, 1, MPI_COMM_WORLD, &r);
			MPI_Start(&r);
		} else {
			MPI_Irecv(in, 1, t, other, 1, MPI_COMM_WORLD, &r);
		}
		MPI_Request_free(&r);
		CHECK(r == MPI_REQUEST_NULL, "the handle is not null");
	}
	MPI_Type_free(&t);
	for (int i = 0; i < n; i++)
		while (((volatile int *)in)[i * step] == -1)
			MPI_Iprobe(other, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	int wrong = 0;
	for (int i = 0; i < n * step; i++)
		wrong += in[i] != (i % step ? -1 : out[i / step]);
	CHECK(wrong == 0, "%d ints, way %d: %d are wrong", n, how, wrong);
	meet(other); /* afterwards the other rank has its data, so out may change */
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static const int sizes[] = {1, 900, 5000, MOST};
	for (int other = 0; other < check_size; other++)
		for (int i = 0; i < 4; i++)
			for (int round = 0; round < ROUNDS; round++)
				body(check_rank ^ other, sizes[i], round % 16);
	int other = check_size > 1 ? check_rank ^ 1 : check_rank, flag;
	static int got[FLOOD], sent[FLOOD];
	MPI_Request r;
	for (int i = 0; i < FLOOD; i++) {
		got[i] = -1, sent[i] = i;
		MPI_Irecv(&got[i], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &r);
		MPI_Request_free(&r);
	}
	meet(other);
	for (int i = 0; i < FLOOD; i++) {
		MPI_Issend(&sent[i], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &r);
		MPI_Request_free(&r);
	}
	for (int i = 0; i < FLOOD; i++) {
		while (((volatile int *)got)[i] == -1)
			MPI_Iprobe(other, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		CHECK(got[i] == i, "receive %d got %d", i, got[i]);
	}
	return check_end();
}
