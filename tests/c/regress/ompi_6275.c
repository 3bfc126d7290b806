/* Reported (open-mpi/ompi issue 6275): accumulates in shared memory gave wrong results for derived types. The cases are
 * an atomic read with a strided result type (strided), and an origin type whose data begins after the buffer's address
 * (shifted) or has an absolute address (bottom: MPI_BOTTOM). A further case is a derived type with a single element
 * (single).
 * Must hold: each derived type has the same effect as the predefined type of its elements. MPI-5.0 12.3.4
 * np: 2 4
 * args: strided shifted bottom single
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { COUNT = 4 };

static int is(const char *name) { return strcmp(check_arg, name) == 0; }

/* Reads atomically (MPI_NO_OP) into every other element of the result buffer. */
static void strided(struct window *w, int peer) {
	double result[2 * COUNT + 1];
	MPI_Datatype every_other;
	MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &every_other);
	MPI_Type_commit(&every_other);
	for (int i = 0; i < 2 * COUNT + 1; i++)
		result[i] = -1;
	CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, result, 1, every_other, peer, window_at(w, peer, 0), COUNT,
				    MPI_DOUBLE, MPI_NO_OP, w->win));
	MPI_Win_flush(peer, w->win);
	for (int i = 0; i < 2 * COUNT + 1; i++) {
		double expect = i % 2 == 0 && i < 2 * COUNT ? 100 * peer + i / 2 : -1;
		CHECK(result[i] == expect, "%s: element %d of the result is %g, not %g", w->name, i, result[i], expect);
	}
	MPI_Type_free(&every_other);
}

/* Uses an origin type whose data begins after the buffer's address, and a type that contains the absolute address of
 * the data, with the buffer MPI_BOTTOM. */
static void shifted(struct window *w, int peer, MPI_Op op) {
	double local[COUNT + 2];
	MPI_Aint at = sizeof(double);
	int length = COUNT;
	MPI_Datatype type;
	for (int i = 0; i < COUNT + 2; i++)
		local[i] = i == 0 || i == COUNT + 1 ? -1e6 : 1000 + w->rank + i;
	if (is("bottom"))
		MPI_Get_address(local + 1, &at);
	MPI_Type_create_hindexed(1, &length, &at, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	CHECK_OK(MPI_Accumulate(is("bottom") ? MPI_BOTTOM : local, 1, type, peer, window_at(w, peer, 0), COUNT,
				MPI_DOUBLE, op, w->win));
	MPI_Win_flush(peer, w->win);
	MPI_Type_free(&type);
}

static void single(struct window *w, int peer, MPI_Op op) {
	MPI_Datatype here, there;
	MPI_Type_contiguous(1, MPI_DOUBLE, &here);
	MPI_Type_contiguous(1, MPI_DOUBLE, &there);
	MPI_Type_commit(&here);
	MPI_Type_commit(&there);
	for (int i = 0; i < COUNT; i++) {
		double value = 1000 + w->rank + i + 1;
		CHECK_OK(MPI_Accumulate(&value, 1, here, peer, window_at(w, peer, i), 1, there, op, w->win));
		MPI_Win_flush_local(peer, w->win);
	}
	MPI_Win_flush(peer, w->win);
	MPI_Type_free(&here);
	MPI_Type_free(&there);
}

static void body(struct window *w) {
	double *mem = w->mem;
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	MPI_Op ops[] = {MPI_REPLACE, MPI_SUM};
	for (int o = 0; o < 2; o++) {
		for (int i = 0; i < COUNT; i++)
			mem[i] = 100 * w->rank + i;
		MPI_Barrier(w->comm);
		MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
		MPI_Win_sync(w->win);
		MPI_Barrier(w->comm);
		if (is("strided"))
			strided(w, right);
		else if (is("single"))
			single(w, right, ops[o]);
		else
			shifted(w, right, ops[o]);
		MPI_Win_unlock_all(w->win);
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
		for (int i = 0; i < COUNT; i++) {
			double expect = 100 * w->rank + i;
			if (!is("strided"))
				expect = 1000 + left + i + 1 + (o == 1 ? expect : 0);
			CHECK(mem[i] == expect, "%s: element %d is %g, not %g", w->name, i, mem[i], expect);
		}
		MPI_Win_unlock(w->rank, w->win);
		MPI_Barrier(w->comm);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(COUNT * sizeof(double), sizeof(double), MPI_COMM_WORLD, body);
	return check_end();
}
