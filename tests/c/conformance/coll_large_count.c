/* Proves: the large-count forms of collectives with arrays accept MPI_Count counts and MPI_Aint displacements. The
 *   large-count forms with a single count accept an MPI_Count. The user-defined function of MPI_Op_create_c receives an
 *   MPI_Count. MPI-5.0 6, 6.9.5, 19.2
 * np: 1 2 5
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { C = 40, MOST = 64 };

static int in[MOST * C], out[MOST * C];
static MPI_Count counts[MOST];
static MPI_Aint starts[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

static int value(int from, int to, int i) { return from * 10000 + to * 100 + i; }

static void count_elements(void *invec, void *inoutvec, MPI_Count *len, MPI_Datatype *type) {
	int *x = invec, *y = inoutvec;
	CHECK(*len > 0 && *len <= C && *type == MPI_INT, "the function gets %lld elements", (long long)*len);
	for (MPI_Count i = 0; i < *len && i < C; i++)
		y[i] += x[i];
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, root = n / 2;
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Datatype I = MPI_INT;
	MPI_Request r;
	for (int i = 0; i < n; i++)
		counts[i] = C - i, starts[i] = (n - 1 - i) * C, bytes[i] = starts[i] * (MPI_Aint)sizeof(int),
		types[i] = I;
#define CLEAR()                         \
	for (int i = 0; i < n * C; i++) \
	in[i] = value(me, n - 1 - i / C, i % C), out[i] = -1
#define EXPECT(what, k, x) CHECK(out[k] == (x), what ": [%d] is %d, not %d", (int)(k), out[k], x)
	CLEAR();
	CHECK_OK(MPI_Gatherv_c(in, counts[me], I, out, counts, starts, I, root, W));
	for (int p = 0; p < n && me == root; p++)
		for (int i = 0; i < C - p; i++)
			EXPECT("gatherv", starts[p] + i, value(p, n - 1, i));
	CLEAR();
	CHECK_OK(MPI_Scatterv_c(in, counts, starts, I, out, counts[me], I, root, W));
	for (int i = 0; i < C; i++)
		EXPECT("scatterv", i, i < C - me ? value(root, me, i) : -1);
	CLEAR();
	CHECK_OK(MPI_Allgatherv_c(in, counts[me], I, out, counts, starts, I, W));
	for (int p = 0; p < n; p++)
		for (int i = 0; i < C; i++)
			EXPECT("allgatherv", starts[p] + i, i < C - p ? value(p, n - 1, i) : -1);
	CLEAR();
	CHECK_OK(MPI_Iallgatherv_c(in, counts[me], I, out, counts, starts, I, W, &r));
	CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	for (int p = 0; p < n; p++)
		for (int i = 0; i < C; i++)
			EXPECT("iallgatherv", starts[p] + i, i < C - p ? value(p, n - 1, i) : -1);
	MPI_Count same[MOST];
	for (int i = 0; i < n; i++)
		same[i] = C - 1;
	CLEAR();
	CHECK_OK(MPI_Alltoallv_c(in, same, starts, I, out, same, starts, I, W));
	for (int p = 0; p < n; p++)
		for (int i = 0; i < C; i++)
			EXPECT("alltoallv", starts[p] + i, i < C - 1 ? value(p, me, i) : -1);
	CLEAR();
	CHECK_OK(MPI_Alltoallw_c(in, same, bytes, types, out, same, bytes, types, W));
	for (int p = 0; p < n; p++)
		for (int i = 0; i < C; i++)
			EXPECT("alltoallw", starts[p] + i, i < C - 1 ? value(p, me, i) : -1);
	CLEAR();
	CHECK_OK(MPI_Reduce_scatter_c(in, out, counts, I, MPI_MAX, W));
	int first = 0;
	for (int p = 0; p < me; p++)
		first += C - p;
	for (int i = 0; i < C; i++) {
		int k = first + i;
		EXPECT("reduce_scatter", i, i < C - me ? value(n - 1, n - 1 - k / C, k % C) : -1);
	}
	CLEAR();
	MPI_Count c = C;
	CHECK_OK(MPI_Allreduce_c(in, out, c, I, MPI_SUM, W));
	for (int i = 0; i < C; i++) {
		int sum = 0;
		for (int p = 0; p < n; p++)
			sum += value(p, n - 1, i);
		EXPECT("allreduce", i, sum);
	}
	MPI_Op large;
	CHECK_OK(MPI_Op_create_c(count_elements, 1, &large));
	CLEAR();
	CHECK_OK(MPI_Allreduce_c(in, out, c, I, large, W));
	for (int i = 0; i < C; i++) {
		int sum = 0;
		for (int p = 0; p < n; p++)
			sum += value(p, n - 1, i);
		EXPECT("allreduce with a large function", i, sum);
	}
	CHECK_OK(MPI_Op_free(&large));
	CLEAR();
	CHECK_OK(MPI_Alltoall_c(in, c, I, out, c, I, W));
	for (int p = 0; p < n; p++)
		for (int i = 0; i < C; i++)
			EXPECT("alltoall", p * C + i, value(p, n - 1 - me, i));
	return check_end();
}
