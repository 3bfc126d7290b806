/* Proves: MPI_Gather and MPI_Gatherv to every root, and MPI_Scatter and MPI_Scatterv from every root, deliver the
 *   right data. Covers small and large blocks, zero and differing counts, gaps and permuted blocks at the root, and
 *   MPI_IN_PLACE. Arguments that are significant only at the root are ignored at the other ranks. MPI-5.0 6.5, 6.6
 * np: 1 2 5
 * args: gather gatherv scatter scatterv
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 30000 };

static int n, me, *buffer, *part, counts[64], starts[64];

static int value(int rank, int i, int round) { return rank * 1000000 + round * 100000 + i; }

/* Lays out the root's buffer: the blocks in reverse order with gaps. Block r begins at starts[r]. */
static int layout(int round) {
	int at = 3;
	for (int r = n - 1; r >= 0; r--) {
		counts[r] = (r + round) % 3 == 0 ? 0 : (r + 1) * (round % 4 == 3 ? 1000 : 7);
		starts[r] = at;
		at += counts[r] + r + 1;
	}
	return at;
}

static void gather(int root, int count, int round, int in_place) {
	for (int i = 0; i < n * count; i++)
		buffer[i] = -1;
	for (int i = 0; i < count; i++) {
		part[i] = value(me, i, round);
		if (me == root && in_place)
			buffer[root * count + i] = part[i];
	}
	if (me == root)
		MPI_Gather(in_place ? MPI_IN_PLACE : part, count, MPI_INT, buffer, count, MPI_INT, root,
			   MPI_COMM_WORLD);
	else
		MPI_Gather(part, count, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
	for (int i = 0; i < n * count; i++) {
		int want = me == root ? value(i / count, i % count, round) : -1;
		CHECK(buffer[i] == want, "gather of %d to %d: [%d] is %d, not %d", count, root, i, buffer[i], want);
	}
}

static void scatter(int root, int count, int round, int in_place) {
	for (int i = 0; i < n * count && me == root; i++)
		buffer[i] = value(i / count, i % count, round);
	for (int i = 0; i <= count; i++)
		part[i] = -1;
	if (me == root)
		MPI_Scatter(buffer, count, MPI_INT, in_place ? MPI_IN_PLACE : part, count, MPI_INT, root,
			    MPI_COMM_WORLD);
	else
		MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, part, count, MPI_INT, root, MPI_COMM_WORLD);
	for (int i = 0; i <= count; i++) {
		int want = i == count || (me == root && in_place) ? -1 : value(me, i, round);
		CHECK(part[i] == want, "scatter of %d from %d: [%d] is %d, not %d", count, root, i, part[i], want);
	}
}

static void gatherv(int root, int round, int in_place) {
	int all = layout(round);
	for (int i = 0; i < all; i++)
		buffer[i] = -1;
	for (int i = 0; i < counts[me]; i++) {
		part[i] = value(me, i, round);
		if (me == root && in_place)
			buffer[starts[me] + i] = part[i];
	}
	if (me == root)
		MPI_Gatherv(in_place ? MPI_IN_PLACE : part, counts[me], MPI_INT, buffer, counts, starts, MPI_INT, root,
			    MPI_COMM_WORLD);
	else
		MPI_Gatherv(part, counts[me], MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
	for (int i = 0; i < all; i++) {
		int want = -1;
		for (int r = 0; r < n && me == root; r++)
			if (i >= starts[r] && i < starts[r] + counts[r])
				want = value(r, i - starts[r], round);
		CHECK(buffer[i] == want, "gatherv to %d, round %d: [%d] is %d, not %d", root, round, i, buffer[i],
		      want);
	}
}

static void scatterv(int root, int round, int in_place) {
	layout(round);
	for (int r = 0; r < n && me == root; r++)
		for (int i = 0; i < counts[r]; i++)
			buffer[starts[r] + i] = value(r, i, round);
	for (int i = 0; i <= counts[me]; i++)
		part[i] = -1;
	if (me == root)
		MPI_Scatterv(buffer, counts, starts, MPI_INT, in_place ? MPI_IN_PLACE : part, counts[me], MPI_INT, root,
			     MPI_COMM_WORLD);
	else
		MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, part, counts[me], MPI_INT, root, MPI_COMM_WORLD);
	for (int i = 0; i <= counts[me]; i++) {
		int want = i == counts[me] || (me == root && in_place) ? -1 : value(me, i, round);
		CHECK(part[i] == want, "scatterv from %d, round %d: [%d] is %d, not %d", root, round, i, part[i], want);
	}
}

int main(int argc, char **argv) {
	static const int sizes[] = {1, 0, 10, 1000, MOST};
	check_begin(&argc, &argv);
	n = check_size, me = check_rank;
	buffer = malloc(n * (MOST + 8) * sizeof(int)), part = malloc((MOST + 8) * sizeof(int));
	for (int round = 0; round < 8; round++)
		for (int root = 0; root < n; root++) {
			if (strcmp(check_arg, "gather") == 0)
				gather(root, sizes[round % 5], round, round % 2);
			else if (strcmp(check_arg, "scatter") == 0)
				scatter(root, sizes[round % 5], round, round % 2);
			else if (strcmp(check_arg, "gatherv") == 0)
				gatherv(root, round, round % 2);
			else
				scatterv(root, round, round % 2);
		}
	free(buffer);
	free(part);
	return check_end();
}
