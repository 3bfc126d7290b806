/* Proves: every collective works in its nonblocking and persistent form while one call of each kind is active on one
 *   communicator. The ranks complete the requests together, or one by one in a different order at each rank. A
 *   persistent request can be started again with different data. MPI-5.0 6.12, 6.13
 * np: 1 2 5
 * args: nonblocking persistent
 * ref: mpich
 * ref-wrong: persistent (from the second start on, MPICH does not copy a rank's block to itself, and may crash)
 * timeout: 60
 */
#include "../check.h"

enum { OPS = 17, MOST = 64 };

static int n, me, C, persistent, requests;
static MPI_Request request[OPS];
static int *in[OPS], *out[OPS];
static int counts[MOST], starts[MOST], byte_starts[MOST];
static MPI_Datatype types[MOST];

#define START(small, init, ...)                                                    \
	(persistent ? MPI_##init(__VA_ARGS__, MPI_INFO_NULL, &request[requests++]) \
		    : MPI_##small(__VA_ARGS__, &request[requests++]))

static int value(int op, int from, int to, int i, int round) {
	return (op * 31 + from * 7 + to * 3 + i) % 1000 + round;
}

/* Fills the send buffers: element i of the block for rank r gets value(op, me, r, i, round). Sets the receive buffers
 * to -1. */
static void fill(int round) {
	for (int op = 0; op < OPS; op++)
		for (int i = 0; i < n * C; i++) {
			in[op][i] = value(op, me, i / C, i % C, round);
			out[op][i] = -1;
		}
	if (me == round % n) /* only the root has data to broadcast */
		for (int i = 0; i < C; i++)
			out[1][i] = value(1, me, 0, i, round);
}

static void start(int root) {
	MPI_Comm w = MPI_COMM_WORLD;
	MPI_Datatype I = MPI_INT;
	requests = 0;
	START(Ibarrier, Barrier_init, w);
	START(Ibcast, Bcast_init, out[1], C, I, root, w);
	START(Ireduce, Reduce_init, in[2], out[2], C, I, MPI_SUM, root, w);
	START(Iallreduce, Allreduce_init, in[3], out[3], C, I, MPI_MAX, w);
	START(Iscan, Scan_init, in[4], out[4], C, I, MPI_SUM, w);
	START(Iexscan, Exscan_init, in[5], out[5], C, I, MPI_SUM, w);
	START(Ireduce_scatter_block, Reduce_scatter_block_init, in[6], out[6], C, I, MPI_SUM, w);
	START(Ireduce_scatter, Reduce_scatter_init, in[7], out[7], counts, I, MPI_SUM, w);
	START(Igather, Gather_init, in[8], C, I, out[8], C, I, root, w);
	START(Igatherv, Gatherv_init, in[9], C, I, out[9], counts, starts, I, root, w);
	START(Iscatter, Scatter_init, in[10], C, I, out[10], C, I, root, w);
	START(Iscatterv, Scatterv_init, in[11], counts, starts, I, out[11], C, I, root, w);
	START(Iallgather, Allgather_init, in[12], C, I, out[12], C, I, w);
	START(Iallgatherv, Allgatherv_init, in[13], C, I, out[13], counts, starts, I, w);
	START(Ialltoall, Alltoall_init, in[14], C, I, out[14], C, I, w);
	START(Ialltoallv, Alltoallv_init, in[15], counts, starts, I, out[15], counts, starts, I, w);
	START(Ialltoallw, Alltoallw_init, in[16], counts, byte_starts, types, out[16], counts, byte_starts, types, w);
}

/* Returns the expected value of out[op][i] at this rank, or -1 if the element must not change. */
static int want(int op, int i, int root, int round) {
	int sum = 0, block = i / C, k = i % C;
	switch (op) {
	case 1:
		return block == 0 ? value(1, root, 0, k, round) : -1;
	case 2:
	case 3:
	case 4:
	case 5: {
		int hi = op == 4 ? me + 1 : op == 5 ? me : n;
		if (block > 0 || hi == 0 || (op == 2 && me != root))
			return -1;
		for (int r = 0; r < hi; r++) {
			int x = value(op, r, 0, k, round);
			sum = op == 3 ? (x > sum ? x : sum) : sum + x;
		}
		return sum;
	}
	case 6:
	case 7:
		if (block > 0)
			return -1;
		for (int r = 0; r < n; r++)
			sum += value(op, r, me, k, round);
		return sum;
	case 8:
	case 9:
		return me == root ? value(op, block, 0, k, round) : -1;
	case 10:
	case 11:
		return block == 0 ? value(op, root, me, k, round) : -1;
	case 12:
	case 13:
		return value(op, block, 0, k, round);
	case 14:
	case 15:
	case 16:
		return value(op, block, me, k, round);
	}
	return -1;
}

static void finish(int round) {
	if (round % 2 == 0) {
		CHECK_OK(MPI_Waitall(requests, request, MPI_STATUSES_IGNORE));
		return;
	}
	for (int i = 0; i < requests; i++) {
		int k = (i * 5 + me * 3) % requests, done = 0;
		if (i % 2)
			CHECK_OK(MPI_Wait(&request[k], MPI_STATUS_IGNORE));
		while (!done)
			CHECK_OK(MPI_Test(&request[k], &done, MPI_STATUS_IGNORE));
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	n = check_size, me = check_rank;
	persistent = strcmp(check_arg, "persistent") == 0;
	int sizes[] = {1, 50, 6000};
	for (int s = 0; s < 3; s++) {
		C = sizes[s];
		for (int op = 0; op < OPS; op++) {
			in[op] = malloc(sizeof(int) * n * C);
			out[op] = malloc(sizeof(int) * n * C);
		}
		for (int r = 0; r < n; r++) {
			counts[r] = C, starts[r] = r * C, byte_starts[r] = starts[r] * (int)sizeof(int),
			types[r] = MPI_INT;
		}
		for (int round = 0; round < 4; round++) {
			int root = persistent ? 0 : round % n;
			fill(persistent ? round * n : round);
			int seen = persistent ? round * n : round;
			if (!persistent || round == 0)
				start(root);
			CHECK(requests == OPS, "%d requests", requests);
			if (persistent) {
				if (round % 2)
					CHECK_OK(MPI_Startall(requests, request));
				else
					for (int i = 0; i < requests; i++)
						CHECK_OK(MPI_Start(&request[i]));
			}
			finish(round);
			for (int op = 1; op < OPS; op++)
				for (int i = 0; i < n * C; i++) {
					int x = want(op, i, root, seen);
					CHECK(out[op][i] == x, "operation %d of %d, round %d: [%d] is %d, not %d", op,
					      C, round, i, out[op][i], x);
				}
			for (int i = 0; i < requests; i++)
				CHECK((request[i] == MPI_REQUEST_NULL) == !persistent, "request %d after completion",
				      i);
		}
		for (int i = 0; persistent && i < requests; i++)
			CHECK_OK(MPI_Request_free(&request[i]));
		for (int op = 0; op < OPS; op++) {
			free(in[op]);
			free(out[op]);
		}
	}
	return check_end();
}
