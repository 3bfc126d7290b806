/* Proves: collectives in which only the sender and the receiver know the length of a block deliver the right data and
 *   change nothing else. Covers MPI_Gatherv, MPI_Scatterv, MPI_Alltoallv and MPI_Alltoallw with random lengths (no
 *   data, few bytes, pages). Covers types with and without gaps, and MPI_IN_PLACE. The calls follow each other without
 *   a barrier. MPI-5.0 6.5, 6.6, 6.8
 * np: 1 2 3 5 8
 * timeout: 60
 */
#include "../check.h"

enum { RANKS = 8, MOST = 6000, ROUNDS = 120, GUARD = -77 };

static int n, me;
static int *in, *out;
static int lengths[RANKS][RANKS]; /* lengths[i][j]: number of ints that rank i sends to rank j */
static MPI_Datatype gaps;         /* two ints with a gap between them and a gap after them */

static unsigned seed = 1;
static unsigned draw(unsigned below) {
	seed = seed * 1103515245 + 12345;
	return seed >> 12 & 0xfffff ? (seed >> 12 & 0xfffff) % below : 0;
}

/* Returns the k-th int that rank `from` sends to rank `to`. */
static int value(int round, int from, int to, int k) { return round * 1000003 + from * 10007 + to * 101 + k; }

/* Returns the offset in ints of the k-th int of a block, with or without gaps. */
static int place(int with_gaps, int k) { return with_gaps ? k / 2 * 4 + k % 2 * 2 : k; }

static void fill(int *a) {
	for (int i = 0; i < RANKS * MOST * 2; i++)
		a[i] = GUARD;
}

static void put(int *block, int with_gaps, int round, int from, int to, int length) {
	for (int k = 0; k < length; k++)
		block[place(with_gaps, k)] = value(round, from, to, k);
}

/* Checks that a block holds the `length` ints that rank `from` sent, and that the memory up to the next block is
 * unchanged. */
static void check_block(const int *block, int with_gaps, int round, int from, int to, int length) {
	int k = 0;
	for (int i = 0; i < MOST * 2; i++) {
		int want = GUARD;
		if (k < length && place(with_gaps, k) == i)
			want = value(round, from, to, k++);
		if (block[i] == want)
			continue;
		CHECK(0, "round %d, from %d to %d, int %d of %d: %d, not %d", round, from, to, i, length, block[i],
		      want);
		return;
	}
}

enum { GATHERV, SCATTERV, ALLTOALLV, ALLTOALLW, CALLS };

static void one(int round) {
	int call = (int)draw(CALLS), root = (int)draw((unsigned)n), in_place = draw(4) == 0;
	int kinds = (int)draw(4); /* bit mask: 1 if senders use the type with gaps, 2 if receivers do */
	static const unsigned most[] = {1, 3, 40, 600, MOST};
	unsigned scale = most[draw(5)];
	int uneven = draw(2) == 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			lengths[i][j] = (int)draw(uneven && draw(3) == 0 ? MOST : scale + 1) / 2 * 2;
	if (in_place && call >= ALLTOALLV)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < i; j++)
				lengths[i][j] = lengths[j][i];
	int sg = kinds & 1, rg = in_place ? sg : kinds >> 1;
	MPI_Datatype st = sg ? gaps : MPI_INT, rt = rg ? gaps : MPI_INT;
	int sc[RANKS], rc[RANKS], displs[RANKS], starts[RANKS];
	MPI_Datatype sts[RANKS], rts[RANKS];
	fill(in);
	fill(out);
	for (int i = 0; i < n; i++) {
		sc[i] = sg ? lengths[me][i] / 2 : lengths[me][i];
		rc[i] = rg ? lengths[i][me] / 2 : lengths[i][me];
		displs[i] = i * MOST * 2;
		sts[i] = sc[i] || i % 2 ? st : MPI_INT;
		rts[i] = rc[i] || i % 2 ? rt : MPI_INT;
		put(in + displs[i], sg, round, me, i, lengths[me][i]);
	}
	/* displacements count extents, which are 4 ints for the type with gaps */
	int sd[RANKS], rd[RANKS];
	for (int i = 0; i < n; i++) {
		sd[i] = sg ? displs[i] / 4 : displs[i];
		rd[i] = rg ? displs[i] / 4 : displs[i];
		starts[i] = displs[i] * (int)sizeof(int);
	}
	if (call == GATHERV) {
		int mine = in_place && me == root;
		if (mine)
			put(out + displs[me], rg, round, me, me, lengths[me][me]);
		MPI_Gatherv(mine ? MPI_IN_PLACE : in + displs[root], sc[root], st, out, rc, rd, rt, root,
			    MPI_COMM_WORLD);
		for (int i = 0; i < RANKS; i++)
			check_block(out + i * MOST * 2, rg, round, i, me, me == root && i < n ? lengths[i][me] : 0);
	} else if (call == SCATTERV) {
		int mine = in_place && me == root;
		MPI_Scatterv(in, sc, sd, st, mine ? MPI_IN_PLACE : out, rc[root], rt, root, MPI_COMM_WORLD);
		check_block(out, rg, round, root, me, mine ? 0 : lengths[root][me]);
	} else {
		if (in_place)
			for (int i = 0; i < n; i++)
				put(out + displs[i], rg, round, me, i, lengths[me][i]);
		const void *from = in_place ? MPI_IN_PLACE : in;
		if (call == ALLTOALLV)
			MPI_Alltoallv(from, sc, sd, st, out, rc, rd, rt, MPI_COMM_WORLD);
		else
			MPI_Alltoallw(from, sc, starts, sts, out, rc, starts, rts, MPI_COMM_WORLD);
		for (int i = 0; i < RANKS; i++)
			check_block(out + i * MOST * 2, rg, round, i, me, i < n ? lengths[i][me] : 0);
	}
	for (int i = 0; i < n; i++)
		check_block(in + displs[i], sg, round, me, i, lengths[me][i]);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	me = check_rank, n = check_size;
	in = malloc(RANKS * MOST * 2 * sizeof *in);
	out = malloc(RANKS * MOST * 2 * sizeof *out);
	MPI_Datatype two;
	MPI_Type_vector(2, 1, 2, MPI_INT, &two);
	MPI_Type_create_resized(two, 0, 4 * sizeof(int), &gaps);
	MPI_Type_commit(&gaps);
	for (int round = 0; round < ROUNDS; round++)
		one(round);
	MPI_Type_free(&gaps);
	MPI_Type_free(&two);
	free(in);
	free(out);
	return check_end();
}
