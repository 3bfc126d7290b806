/* Proves: collectives work on communicators whose ranks lie on the nodes in any order: reversed, alternating, or a
 *   subset. Reductions of any length keep the order of ranks if the operation does not commute. MPI_Bcast,
 *   MPI_Allgather, MPI_Alltoall and MPI_Gather deliver the right data. Two identical calls give bitwise equal results.
 *   MPI-5.0 6.9.1
 * np: 1 2 5 8
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 30000 };

static int n, me;
static unsigned in[2 * MOST], out[2 * MOST];
static double real[MOST], sum[MOST], again[MOST];

/* Composes maps x -> ax + b. The composition applies the left map last. */
static void compose(void *left, void *right, int *len, MPI_Datatype *type) {
	unsigned *f = left, *g = right;
	(void)type;
	for (int i = 0; i < *len; i++, f += 2, g += 2) {
		g[1] = f[0] * g[1] + f[1];
		g[0] = f[0] * g[0];
	}
}

static unsigned a_of(int rank, int i) { return (unsigned)(rank * 2 + i) | 1; }
static unsigned b_of(int rank, int i) { return (unsigned)(rank * 7 + i * 3 + 1); }

static int is_reduction(int ranks, int count) {
	for (int i = 0; i < count; i += 1 + count / 50) {
		unsigned a = 1, b = 0;
		for (int r = 0; r < ranks; r++) { /* a, b are the composition of the preceding maps */
			b += a * b_of(r, i);
			a *= a_of(r, i);
		}
		if (out[2 * i] != a || out[2 * i + 1] != b)
			return 0;
	}
	return 1;
}

static void reductions(MPI_Comm comm, const char *name, int count, MPI_Op op, MPI_Datatype pair) {
	for (int root = -1; root < n; root++) {
		for (int i = 0; i < count; i++) {
			in[2 * i] = a_of(me, i);
			in[2 * i + 1] = b_of(me, i);
			out[2 * i] = out[2 * i + 1] = 0;
		}
		if (root < 0)
			MPI_Allreduce(in, out, count, pair, op, comm);
		else
			MPI_Reduce(in, out, count, pair, op, root, comm);
		if (root < 0 || root == me)
			CHECK(is_reduction(n, count), "%s, %d elements, root %d: order of ranks", name, count, root);
	}
	MPI_Scan(in, out, count, pair, op, comm);
	CHECK(is_reduction(me + 1, count), "%s, %d elements: a scan", name, count);
	if (count > MOST / 2)
		return;
	for (int i = 0; i < count; i++)
		real[i] = 1.0 / (1 + me + i * 3);
	MPI_Allreduce(real, sum, count, MPI_DOUBLE, MPI_SUM, comm);
	MPI_Allreduce(real, again, count, MPI_DOUBLE, MPI_SUM, comm);
	CHECK(memcmp(sum, again, sizeof *sum * (size_t)count) == 0, "%s: %d sums differ the second time", name, count);
}

static void data(MPI_Comm comm, const char *name, int count) {
	int each = count / n, bad = 0;
	for (int root = 0; root < n; root++) {
		for (int i = 0; i < count; i++)
			in[i] = me == root ? (unsigned)(root * 1000003 + i) : 0;
		MPI_Bcast(in, count, MPI_UNSIGNED, root, comm);
		for (int i = 0; i < count; i++)
			bad += in[i] != (unsigned)(root * 1000003 + i);
		CHECK(!bad, "%s, %d elements: a broadcast of rank %d", name, count, root);
	}
	for (int i = 0; i < each; i++)
		in[i] = (unsigned)(me * 1000003 + i);
	MPI_Allgather(in, each, MPI_UNSIGNED, out, each, MPI_UNSIGNED, comm);
	for (int i = 0; i < each * n; i++)
		bad += out[i] != (unsigned)(i / each * 1000003 + i % each);
	CHECK(!bad, "%s: an allgather of %d elements", name, each);
	for (int i = 0; i < each * n; i++)
		in[i] = (unsigned)(me * 1000003 + i);
	MPI_Alltoall(in, each, MPI_UNSIGNED, out, each, MPI_UNSIGNED, comm);
	for (int i = 0; i < each * n; i++)
		bad += out[i] != (unsigned)(i / each * 1000003 + me * each + i % each);
	CHECK(!bad, "%s: an alltoall of %d elements", name, each);
	MPI_Gather(in, each, MPI_UNSIGNED, out, each, MPI_UNSIGNED, n - 1, comm);
	for (int i = 0; me == n - 1 && i < each * n; i++)
		bad += out[i] != (unsigned)(i / each * 1000003 + i % each);
	CHECK(!bad, "%s: a gather of %d elements", name, each);
}

int main(int argc, char **argv) {
	static const char *const names[] = {"as they are", "reversed", "in turns", "the odd ones"};
	static const int counts[] = {1, 5, 40, 300, 3000, MOST};
	MPI_Op op;
	MPI_Datatype pair;
	int world, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(compose, 0, &op);
	for (int k = 0; k < 4; k++) {
		MPI_Comm comm;
		int key = k == 1 ? -world : k == 2 ? world % 3 : world;
		MPI_Comm_split(MPI_COMM_WORLD, k == 3 ? world % 2 : 0, key, &comm);
		MPI_Comm_rank(comm, &me);
		MPI_Comm_size(comm, &n);
		for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
			reductions(comm, names[k], counts[i], op, pair);
			data(comm, names[k], counts[i]);
			MPI_Barrier(comm);
		}
		MPI_Comm_free(&comm);
	}
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
	return check_end();
}
