/* Reported (pmodels/mpich issue 6898): on a window made by MPI_Win_create, MPI_Win_shared_query for another rank
 * returned the address and size of the caller's own memory.
 * Must hold: on every window kind, MPI_Win_shared_query returns either size 0 or memory of the given rank that the
 * caller can load and store. For the caller's own rank it returns size 0 or the caller's memory. MPI-5.0 12.2.5
 * np: 1 2 4
 * ref: none (MPICH 4.0 allows the call on shared windows only, as MPI 4.0 did)
 * timeout: 60
 */
#include "../windows.h"

enum { WORDS = 16 };

static void body(struct window *w) {
	int *mem = w->mem, unit, *base;
	MPI_Aint size;
	for (int i = 0; i < WORDS; i++)
		mem[i] = 100 * w->rank + i;
	MPI_Win_fence(0, w->win);
	for (int r = 0; r < w->n; r++) {
		base = mem;
		size = -1;
		CHECK_OK(MPI_Win_shared_query(w->win, r, &size, &unit, &base));
		if (r == w->rank && size > 0)
			CHECK(base == mem && size == w->size && unit == w->unit,
			      "%s: the own memory is %p, %lld bytes, unit %d; not %p, %lld, %d", w->name, (void *)base,
			      (long long)size, unit, (void *)mem, (long long)w->size, w->unit);
		if (r == w->rank || size == 0)
			continue;
		CHECK(size == w->size && unit == w->unit, "%s: rank %d has %lld bytes, unit %d", w->name, r,
		      (long long)size, unit);
		CHECK(base != mem, "%s: rank %d's memory is the own", w->name, r);
		for (int i = 0; base && i < WORDS - w->n; i++)
			CHECK(base[i] == 100 * r + i, "%s: rank %d's element %d is %d", w->name, r, i, base[i]);
		base[WORDS - 1 - w->rank] = -w->rank - 1;
	}
	MPI_Win_fence(0, w->win);
	for (int r = 0; r < w->n; r++) {
		CHECK_OK(MPI_Win_shared_query(w->win, r, &size, &unit, &base));
		int is = mem[WORDS - 1 - r], was = 100 * w->rank + WORDS - 1 - r,
		    expect = r != w->rank && size > 0 ? -r - 1 : was;
		/* If this rank got rank r's memory from MPI_Win_shared_query, rank r got this rank's memory and has
		 * stored -r - 1 in it. A window with two kinds of memory (KIND_MIXED) is an exception. */
		CHECK(is == expect || w->kind == KIND_MIXED, "%s: what rank %d stored here is %d, not %d", w->name, r,
		      is, expect);
	}
	MPI_Win_fence(0, w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(WORDS * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
