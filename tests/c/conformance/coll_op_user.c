/* Proves: reductions keep the order of ranks for a user-defined operation that is associative but not commutative.
 *   Covers a type with gaps and a type whose bounds differ from its data, few and many elements, and MPI_IN_PLACE.
 *   Covers every reduction, blocking and nonblocking. The user-defined function receives the datatype of the call.
 *   Bytes in gaps do not change. MPI-5.0 6.9.5
 * np: 1 2 3 5
 * args: dense gaps
 * ref: mpich
 * ref-wrong: gaps (MPICH's MPI_Reduce_scatter_block writes beyond its memory)
 * timeout: 60
 */
#include "../check.h"

/* The map x -> a*x+b modulo 2^32. The composition of two maps is associative, but not commutative. */
typedef struct {
	unsigned a, gap, b, tail;
} map;

enum { MOST = 4000 };

static int n, me, calls;
static MPI_Datatype type;
static map in[MOST * 8], out[MOST * 8];

static void compose(void *invec, void *inoutvec, int *len, MPI_Datatype *t) {
	CHECK(*t == type, "the function got another type");
	calls++;
	map *x = invec, *y = inoutvec;
	for (int i = 0; i < *len; i++) {
		y[i].b = x[i].a * y[i].b + x[i].b;
		y[i].a = x[i].a * y[i].a;
	}
}

static map element(int r, int i) {
	map m = {2 * (unsigned)(r * 7 + i) + 3, 11, (unsigned)(r * 1000 + i), 13};
	return m;
}

static map fold(int lo, int hi, int i) {
	map acc = element(lo, i);
	for (int r = lo + 1; r < hi; r++) {
		map m = element(r, i);
		acc.b = acc.a * m.b + acc.b;
		acc.a *= m.a;
	}
	return acc;
}

static void set(int count, int in_place) {
	for (int i = 0; i < count; i++) {
		in[i] = element(me, i);
		out[i] = (map){0, 77, 0, 88};
		if (in_place)
			out[i].a = in[i].a, out[i].b = in[i].b;
	}
}

static void check(const char *what, int count, int k, int lo, int hi, int from) {
	for (int i = 0; i < k; i++) {
		map x = fold(lo, hi, from + i);
		CHECK(out[i].a == x.a && out[i].b == x.b, "%s of %d: [%d] is %u,%u, not %u,%u", what, count, i,
		      out[i].a, out[i].b, x.a, x.b);
		CHECK(strcmp(check_arg, "gaps") != 0 || (out[i].gap == 77 && out[i].tail == 88),
		      "%s of %d: a gap was written", what, count);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	n = check_size, me = check_rank;
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Op op;
	MPI_Op_create(compose, 0, &op);
	if (strcmp(check_arg, "gaps") == 0) {
		MPI_Datatype two;
		int ones[] = {1, 1};
		MPI_Aint at[] = {offsetof(map, b), offsetof(map, a)};
		MPI_Datatype u[] = {MPI_UNSIGNED, MPI_UNSIGNED};
		MPI_Type_create_struct(2, ones, at, u, &two);
		MPI_Type_create_resized(two, 0, sizeof(map), &type);
		MPI_Type_free(&two);
	} else {
		MPI_Type_contiguous(4, MPI_UNSIGNED, &type);
	}
	MPI_Type_commit(&type);
	int sizes[] = {1, 3, 500, MOST};
	for (int s = 0; s < 4; s++) {
		int C = sizes[s];
		for (int p = 0; p < 2; p++) {
			MPI_Request r;
			for (int root = 0; root < n; root++) {
				set(C, p);
				CHECK_OK(MPI_Reduce(p && me == root ? MPI_IN_PLACE : in, out, C, type, op, root, W));
				if (me == root)
					check("reduce", C, C, 0, n, 0);
				set(C, p);
				CHECK_OK(MPI_Ireduce(p && me == root ? MPI_IN_PLACE : in, out, C, type, op, root, W,
						     &r));
				CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
				if (me == root)
					check("ireduce", C, C, 0, n, 0);
			}
			set(C, p);
			CHECK_OK(MPI_Allreduce(p ? MPI_IN_PLACE : in, out, C, type, op, W));
			check("allreduce", C, C, 0, n, 0);
			set(C, p);
			CHECK_OK(MPI_Iallreduce(p ? MPI_IN_PLACE : in, out, C, type, op, W, &r));
			CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
			check("iallreduce", C, C, 0, n, 0);
			set(C, p);
			CHECK_OK(MPI_Scan(p ? MPI_IN_PLACE : in, out, C, type, op, W));
			check("scan", C, C, 0, me + 1, 0);
			set(C, p);
			CHECK_OK(MPI_Exscan(p ? MPI_IN_PLACE : in, out, C, type, op, W));
			if (me > 0)
				check("exscan", C, C, 0, me, 0);
			set(C, p);
			CHECK_OK(MPI_Iscan(p ? MPI_IN_PLACE : in, out, C, type, op, W, &r));
			CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
			check("iscan", C, C, 0, me + 1, 0);
			set(C / n * n, p);
			CHECK_OK(MPI_Reduce_scatter_block(p ? MPI_IN_PLACE : in, out, C / n, type, op, W));
			check("reduce_scatter_block", C, C / n, 0, n, me * (C / n));
		}
	}
	CHECK(calls > 0 || n == 1, "the function was never called");
	MPI_Op_free(&op);
	MPI_Type_free(&type);
	return check_end();
}
