/* Proves: MPI_Allgather, MPI_Allgatherv, MPI_Alltoall and MPI_Alltoallv deliver the right data. Covers small and
 *   large blocks, zero and differing counts, gaps and permuted blocks, MPI_IN_PLACE, and different types at sender
 *   and receiver. MPI-5.0 6.7, 6.8
 * np: 1 2 5
 * args: allgather allgatherv alltoall alltoallv
 * ref: mpich (with one rank it ignores the displacement of MPI_Allgatherv)
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 20000, ROUNDS = 10 };

static int n, me, *in, *out, counts[64], starts[64], in_counts[64], in_starts[64];
static MPI_Datatype pair;

static int value(int from, int to, int i, int round) { return from * 10000000 + to * 1000000 + round * 100000 + i; }

static int count_of(int from, int to, int round) {
	return (from * 3 + to + round) % 4 == 0 ? 0 : ((from + 2 * to) % 5 + 1) * (round % 5 == 4 ? 900 : 3);
}

static void allgather(int count, int round, int in_place) {
	count += count % 2; /* must be even, because the receive type is a pair of ints */
	for (int i = 0; i < n * count; i++)
		out[i] = -1;
	for (int i = 0; i < count; i++) {
		in[i] = value(me, 0, i, round);
		if (in_place)
			out[me * count + i] = in[i];
	}
	MPI_Allgather(in_place ? MPI_IN_PLACE : in, count, MPI_INT, out, count / 2, pair, MPI_COMM_WORLD);
	for (int i = 0; i < n * count; i++)
		CHECK(out[i] == value(i / count, 0, i % count, round), "allgather of %d: [%d] is %d, not %d", count, i,
		      out[i], value(i / count, 0, i % count, round));
}

static void allgatherv(int round, int in_place) {
	int at = 2, end;
	for (int r = n - 1; r >= 0; r--) {
		counts[r] = count_of(r, 0, round);
		starts[r] = at;
		at += counts[r] + (r + round) % 3;
	}
	end = at;
	for (int i = 0; i < end; i++)
		out[i] = -1;
	for (int i = 0; i < counts[me]; i++) {
		in[i] = value(me, 0, i, round);
		if (in_place)
			out[starts[me] + i] = in[i];
	}
	MPI_Allgatherv(in_place ? MPI_IN_PLACE : in, counts[me], MPI_INT, out, counts, starts, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < end; i++) {
		int want = -1;
		for (int r = 0; r < n; r++)
			if (i >= starts[r] && i < starts[r] + counts[r])
				want = value(r, 0, i - starts[r], round);
		CHECK(out[i] == want, "allgatherv, round %d: [%d] is %d, not %d", round, i, out[i], want);
	}
}

static void alltoall(int count, int round, int in_place) {
	count += count % 2;
	int *from = in_place ? out : in;
	for (int i = 0; i < n * count; i++) {
		out[i] = -1;
		from[i] = value(me, i / count, i % count, round);
	}
	MPI_Alltoall(in_place ? MPI_IN_PLACE : in, count, MPI_INT, out, count / 2, pair, MPI_COMM_WORLD);
	for (int i = 0; i < n * count; i++)
		CHECK(out[i] == value(i / count, me, i % count, round), "alltoall of %d: [%d] is %d, not %d", count, i,
		      out[i], value(i / count, me, i % count, round));
}

static void alltoallv(int round, int in_place) {
	int at = 1, in_at = 4;
	for (int r = 0; r < n; r++) {
		/* with MPI_IN_PLACE, two ranks must exchange equal counts */
		in_counts[r] = in_place ? count_of(me < r ? me : r, me < r ? r : me, round) : count_of(me, r, round);
		counts[r] = in_place ? in_counts[r] : count_of(r, me, round);
		starts[r] = at;
		at += counts[r] + 2;
	}
	for (int r = n - 1; r >= 0; r--) {
		in_starts[r] = in_at;
		in_at += in_counts[r] + r;
	}
	for (int i = 0; i < at; i++)
		out[i] = -1;
	for (int r = 0; r < n; r++)
		for (int i = 0; i < in_counts[r]; i++)
			if (in_place)
				out[starts[r] + i] = value(me, r, i, round);
			else
				in[in_starts[r] + i] = value(me, r, i, round);
	MPI_Alltoallv(in_place ? MPI_IN_PLACE : in, in_counts, in_starts, MPI_INT, out, counts, starts, MPI_INT,
		      MPI_COMM_WORLD);
	for (int i = 0; i < at; i++) {
		int want = -1;
		for (int r = 0; r < n; r++)
			if (i >= starts[r] && i < starts[r] + counts[r])
				want = value(r, me, i - starts[r], round);
		CHECK(out[i] == want, "alltoallv, round %d: [%d] is %d, not %d", round, i, out[i], want);
	}
}

int main(int argc, char **argv) {
	static const int sizes[] = {1, 0, 10, 1000, MOST};
	check_begin(&argc, &argv);
	n = check_size, me = check_rank;
	in = malloc(n * (MOST + 8) * sizeof(int)), out = malloc(n * (MOST + 8) * sizeof(int));
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	for (int round = 0; round < ROUNDS; round++) {
		int in_place = round / 5;
		if (strcmp(check_arg, "allgather") == 0)
			allgather(sizes[round % 5], round, in_place);
		else if (strcmp(check_arg, "allgatherv") == 0)
			allgatherv(round, in_place);
		else if (strcmp(check_arg, "alltoall") == 0)
			alltoall(sizes[round % 5], round, in_place);
		else
			alltoallv(round, in_place);
	}
	MPI_Type_free(&pair);
	free(in);
	free(out);
	return check_end();
}
