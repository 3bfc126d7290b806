/* Proves: long reductions give each member the standard's result, bitwise equal at all members. Covers reduce to any
 *   root, allreduce, scan, exscan, reduce_scatter and reduce_scatter_block. The operations are predefined, or
 *   user-defined and not commutative, on elements with gaps. All members, one member or no member use MPI_IN_PLACE.
 *   Lengths lie around the thresholds between algorithms. A buffer may be changed as soon as a call returns. MPI-5.0
 *   6.9, 6.11
 * np: 2 5
 * again: GOMPIRMA_NO_CMA=1
 * ref: none (MPICH 4.0 reads from MPI_IN_PLACE in MPI_Reduce of much data; Open MPI passes)
 * timeout: 120
 */
#include "../check.h"

#include <stddef.h>

enum { MOST = (1 << 18) + 7, KINDS = 6 };
enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, SCATTER_BLOCK, SCATTER };
static const char *const name[] = {"reduce", "allreduce", "scan", "exscan", "reduce_scatter_block", "reduce_scatter"};

static const int lengths[] = {4095, 8192, 8193, 12289, 16384, 32768, 32769, 65537, 131072, MOST};

/* The map x -> a x + b modulo 2^32. The composition of maps does not commute. The gap must not change. */
struct map {
	unsigned a;
	char gap[4];
	unsigned b;
};

static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
	struct map *x = in, *y = inout;
	(void)type;
	for (int i = 0; i < *n; i++) {
		y[i].b = x[i].a * y[i].b + x[i].b;
		y[i].a = x[i].a * y[i].a;
	}
}

static struct map *in, *out;
static int *ints_in, *ints_out;
static MPI_Datatype map_type;
static MPI_Op map_op;

static struct map map_of(int rank, int i) {
	return (struct map){(unsigned)(rank * 2 + 3 + i % 5 * 2), {1, 2, 3, 4}, (unsigned)(rank + 7 * i)};
}

/* Returns the composition of the elements i of the ranks 0 to upto - 1, in rank order. */
static struct map maps_of(int upto, int i) {
	struct map m = map_of(0, i), n;
	int one = 1;
	for (int rank = 1; rank < upto; rank++, m = n) {
		n = map_of(rank, i);
		compose(&m, &n, &one, &map_type);
	}
	return m;
}

static void call(int kind, void *from, void *to, int count, const int *counts, MPI_Datatype type, MPI_Op op, int root) {
	switch (kind) {
	case REDUCE:
		if (from == MPI_IN_PLACE && check_rank != root)
			from = to, to = NULL;
		MPI_Reduce(from, to, count, type, op, root, MPI_COMM_WORLD);
		break;
	case ALLREDUCE:
		MPI_Allreduce(from, to, count, type, op, MPI_COMM_WORLD);
		break;
	case SCAN:
		MPI_Scan(from, to, count, type, op, MPI_COMM_WORLD);
		break;
	case EXSCAN:
		MPI_Exscan(from, to, count, type, op, MPI_COMM_WORLD);
		break;
	case SCATTER_BLOCK:
		MPI_Reduce_scatter_block(from, to, count / check_size, type, op, MPI_COMM_WORLD);
		break;
	case SCATTER:
		MPI_Reduce_scatter(from, to, counts, type, op, MPI_COMM_WORLD);
		break;
	}
}

static void one(int kind, int count, int place, int root) {
	int in_place = place == 1 || (place == 2 && check_rank == check_size - 1) || (place == 3 && check_rank == 0);
	int n = check_size, counts[8], first = 0, got = count, upto = n;
	for (int i = 0; i < n; i++) /* different counts, which add up to the total */
		counts[i] = i < n - 1 ? count / n / 2 + (i == 1) * 3 : count - (n - 1) * (count / n / 2) - (n > 2) * 3;
	if (kind == SCATTER_BLOCK)
		got = count / n, first = check_rank * got;
	if (kind == SCATTER) {
		got = counts[check_rank];
		for (int i = 0; i < check_rank; i++)
			first += counts[i];
	}
	if (kind == SCAN || kind == EXSCAN)
		upto = check_rank + (kind == SCAN);
	int gets = kind == REDUCE ? check_rank == root : upto > 0;
	struct map *source = in_place ? out : in;
	for (int i = 0; i < count; i++) {
		out[i] = (struct map){.gap = {1, 2, 3, 4}};
		source[i] = map_of(check_rank, i);
		ints_out[i] = -1;
		(in_place ? ints_out : ints_in)[i] = (check_rank + 1) * (i % 1000 + 1);
	}
	call(kind, in_place ? MPI_IN_PLACE : in, out, count, counts, map_type, map_op, root);
	memset(in, 0xee, (size_t)count * sizeof *in);
	call(kind, in_place ? MPI_IN_PLACE : ints_in, ints_out, count, counts, MPI_INT, MPI_SUM, root);
	memset(ints_in, 0xee, (size_t)count * sizeof *ints_in);
	for (int i = 0; i < got && gets; i++) {
		struct map m = maps_of(upto, first + i);
		int sum = upto * (upto + 1) / 2 * ((first + i) % 1000 + 1);
		if (memcmp(&m, &out[i], sizeof m) != 0 || ints_out[i] != sum) {
			CHECK(0, "%s of %d, in place %d, root %d: element %d is %u x + %u, not %u x + %u; %d, not %d",
			      name[kind], count, place, root, i, out[i].a, out[i].b, m.a, m.b, ints_out[i], sum);
			return;
		}
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	in = malloc(MOST * sizeof *in);
	out = malloc(MOST * sizeof *out);
	ints_in = malloc(MOST * sizeof *ints_in);
	ints_out = malloc(MOST * sizeof *ints_out);
	MPI_Aint at[] = {0, offsetof(struct map, b)};
	MPI_Type_create_struct(2, (int[]){1, 1}, at, (MPI_Datatype[]){MPI_UNSIGNED, MPI_UNSIGNED}, &map_type);
	MPI_Type_commit(&map_type);
	MPI_Op_create(compose, 0, &map_op);
	for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++)
		for (int kind = 0; kind < KINDS; kind++)
			for (int place = 0; place < 4; place++)
				if (l % 2 == place % 2 || lengths[l] < 20000) {
					int root = (l + kind + place) % check_size;
					/* With `place` 2 and 3 only one rank may pass MPI_IN_PLACE, as MPI_Reduce
					 * permits for the root. The other collectives require MPI_IN_PLACE at all ranks
					 * or at none, so they use `place` 0 instead. */
					one(kind, lengths[l], kind == REDUCE || place < 2 ? place : 0, root);
				}
	MPI_Op_free(&map_op);
	MPI_Type_free(&map_type);
	free(in);
	free(out);
	free(ints_in);
	free(ints_out);
	return check_end();
}
