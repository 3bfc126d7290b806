/* Proves: nonblocking collectives give the right data in any completion order, with many active at once, and for
 *   lengths from one byte to several segments. Persistent collectives give the right data at every start. MPI-5.0 6.12,
 *   6.13
 * np: 1 2 3 5
 * ref: none (MPICH 4.0 passes with 2 processes and loses the communicator of persistent calls with 3)
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 120
 */
#include "../check.h"

enum { MOST = 16, LENGTHS = 11, LONGEST = 40000 };
static const int lengths[LENGTHS] = {0, 1, 7, 8, 9, 300, 512, 513, 1100, 5000, LONGEST};

static int *ints(int n) {
	int *p = malloc(((size_t)n + 1) * sizeof *p);
	CHECK(p != NULL, "no memory for %d integers", n);
	memset(p, 0xff, ((size_t)n + 1) * sizeof *p);
	return p;
}

static int element(int rank, int i) { return rank * 1000 + i * 3; }

/* The buffers of one round. Most are named after their use: told is broadcast, upto is a scan, below an exscan, cross
 * an alltoall, parts a scatter, place is reduced with MPI_IN_PLACE. */
static struct {
	int *own, *sum, *most, *upto, *below, *told, *all, *every, *cross, *crossed, *parts, *part, *mine, *place, *to,
		*from;
	int *scounts, *sstarts, *rcounts, *rstarts, *starts, *counts;
} b;

static int sent(int from, int to, int count) { return (from + to) % 3 == 0 ? 0 : count / (1 + (from + 2 * to) % 3); }

static void fill(int count, int root) {
	int n = check_size, me = check_rank, s = 0, r = 0;
	b.own = ints(count), b.sum = ints(count), b.most = ints(count), b.upto = ints(count), b.below = ints(count);
	b.told = ints(count), b.all = ints(count * n), b.every = ints(count * n), b.cross = ints(count * n);
	b.crossed = ints(count * n), b.parts = ints(count * n), b.part = ints(count), b.mine = ints(count);
	b.place = ints(count), b.to = ints(count * n + n), b.from = ints(count * n + n);
	b.scounts = ints(n), b.sstarts = ints(n), b.rcounts = ints(n), b.rstarts = ints(n), b.starts = ints(n);
	b.counts = ints(n);
	for (int i = 0; i < count; i++) {
		b.own[i] = b.place[i] = element(me, i);
		if (me == root)
			b.told[i] = element(77, i);
	}
	for (int i = 0; i < count * n; i++)
		b.cross[i] = b.parts[i] = element(me, i);
	for (int p = 0; p < n; p++) {
		b.scounts[p] = sent(me, p, count), b.sstarts[p] = s, s += b.scounts[p] + 1;
		b.rcounts[p] = sent(p, me, count), b.rstarts[p] = r, r += b.rcounts[p] + 1;
		b.counts[p] = count, b.starts[p] = (n - 1 - p) * count;
	}
	for (int i = 0; i < s; i++)
		b.to[i] = element(me, i);
}

static void drop(void) {
	int **p = (int **)&b;
	for (size_t i = 0; i < sizeof b / sizeof *p; i++)
		free(p[i]);
}

/* Starts all collectives, or creates persistent requests for all of them. Returns their number. */
static int start_all(int count, int root, MPI_Comm c, MPI_Request r[], int persistent) {
	MPI_Datatype I = MPI_INT;
	int k = 0;
#define START(started, made, ...)                                                \
	do {                                                                     \
		if (persistent)                                                  \
			CHECK_OK(MPI_##made(__VA_ARGS__, MPI_INFO_NULL, &r[k])); \
		else                                                             \
			CHECK_OK(MPI_##started(__VA_ARGS__, &r[k]));             \
		k++;                                                             \
	} while (0)
	START(Ibarrier, Barrier_init, c);
	START(Iallreduce, Allreduce_init, b.own, b.sum, count, I, MPI_SUM, c);
	START(Ireduce, Reduce_init, b.own, b.most, count, I, MPI_MAX, root, c);
	START(Iscan, Scan_init, b.own, b.upto, count, I, MPI_SUM, c);
	START(Iexscan, Exscan_init, b.own, b.below, count, I, MPI_SUM, c);
	START(Ibcast, Bcast_init, b.told, count, I, root, c);
	START(Igather, Gather_init, b.own, count, I, b.all, count, I, root, c);
	START(Iallgatherv, Allgatherv_init, b.own, count, I, b.every, b.counts, b.starts, I, c);
	START(Ialltoall, Alltoall_init, b.cross, count, I, b.crossed, count, I, c);
	START(Iscatter, Scatter_init, b.parts, count, I, b.part, count, I, root, c);
	START(Ireduce_scatter_block, Reduce_scatter_block_init, b.parts, b.mine, count, I, MPI_SUM, c);
	START(Iallreduce, Allreduce_init, MPI_IN_PLACE, b.place, count, I, MPI_SUM, c);
	START(Ialltoallv, Alltoallv_init, b.to, b.scounts, b.sstarts, I, b.from, b.rcounts, b.rstarts, I, c);
	return k;
}

#define EXPECT(what, x, want) \
	CHECK((x) == (want), what " of %d elements, root %d: [%d] is %d, not %d", count, root, i, x, want)

static void look(int count, int root, int times) {
	int n = check_size, me = check_rank;
	for (int i = 0; i < count; i++) {
		int all = 0, upto = 0, below = 0, mine = 0, again = element(me, i), power = 1;
		for (int p = 0; p < n; p++) {
			all += element(p, i), mine += element(p, me * count + i);
			upto += p <= me ? element(p, i) : 0, below += p < me ? element(p, i) : 0;
			EXPECT("MPI_Iallgatherv", b.every[(n - 1 - p) * count + i], element(p, i));
			EXPECT("MPI_Ialltoall", b.crossed[p * count + i], element(p, me * count + i));
			if (me == root)
				EXPECT("MPI_Igather", b.all[p * count + i], element(p, i));
		}
		for (int k = 1; k < times; k++)
			power *= n;
		again = all * power; /* each start of the in-place reduction takes the previous result as its input */
		EXPECT("MPI_Iallreduce", b.sum[i], all);
		EXPECT("MPI_Iallreduce in place", b.place[i], again);
		EXPECT("MPI_Iscan", b.upto[i], upto);
		EXPECT("MPI_Ireduce_scatter_block", b.mine[i], mine);
		EXPECT("MPI_Ibcast", b.told[i], element(77, i));
		EXPECT("MPI_Iscatter", b.part[i], element(root, me * count + i));
		if (me > 0)
			EXPECT("MPI_Iexscan", b.below[i], below);
		if (me == root)
			EXPECT("MPI_Ireduce", b.most[i], element(n - 1, i));
	}
	for (int p = 0; p < n; p++) {
		int start = 0, i;
		for (i = 0; i < me; i++)
			start += sent(p, i, count) + 1;
		for (i = 0; i < b.rcounts[p]; i++)
			EXPECT("MPI_Ialltoallv", b.from[b.rstarts[p] + i], element(p, start + i));
		EXPECT("behind MPI_Ialltoallv's block", b.from[b.rstarts[p] + i], -1);
	}
}

/* Completes the requests in an order that `how` selects. */
static void complete(int k, MPI_Request r[], int how) {
	int done, i, flag;
	switch (how % 4) {
	case 0:
		CHECK_OK(MPI_Waitall(k, r, MPI_STATUSES_IGNORE));
		break;
	case 1:
		for (i = k - 1; i >= 0; i--)
			CHECK_OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
		break;
	case 2:
		for (i = 0; i < k; i++)
			CHECK_OK(MPI_Waitany(k, r, &flag, MPI_STATUS_IGNORE));
		break;
	default:
		for (i = 0; i < k; i++)
			for (done = 0; !done;)
				CHECK_OK(MPI_Test(&r[i], &done, MPI_STATUS_IGNORE));
	}
}

/* Has 200 collectives active at once. */
static void many(void) {
	enum { MANY = 200 };
	static MPI_Request r[MANY];
	static int in[MANY], out[MANY];
	for (int i = 0; i < MANY; i++) {
		in[i] = element(check_rank, i);
		if (i % 3 == 0)
			out[i] = check_rank == i % check_size ? element(5, i) : -1;
		CHECK_OK(i % 3 == 0 ? MPI_Ibcast(&out[i], 1, MPI_INT, i % check_size, MPI_COMM_WORLD, &r[i])
				    : MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r[i]));
	}
	CHECK_OK(MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE));
	for (int i = 0; i < MANY; i++) {
		int want = i % 3 == 0 ? element(5, i) : element(check_size - 1, i);
		CHECK(out[i] == want, "%d of %d: %d, not %d", i, MANY, out[i], want);
	}
}

int main(int argc, char **argv) {
	MPI_Request r[MOST];
	check_begin(&argc, &argv);
	for (int round = 0; round < 3 * LENGTHS; round++) {
		int count = lengths[round % LENGTHS], root = round % check_size, k, times = 1;
		fill(count, root);
		k = start_all(count, root, MPI_COMM_WORLD, r, 0);
		complete(k, r, round);
		look(count, root, 1);
		drop();
		fill(count, root);
		k = start_all(count, root, MPI_COMM_WORLD, r, 1);
		for (; times < 4 && count < LONGEST; times++) {
			CHECK_OK(MPI_Startall(k, r));
			complete(k, r, times < 3 ? times - 1 : 3);
			look(count, root, times);
		}
		for (int i = 0; i < k; i++)
			CHECK_OK(MPI_Request_free(&r[i]));
		drop();
	}
	many();
	return check_end();
}
