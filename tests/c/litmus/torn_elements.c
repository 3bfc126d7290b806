/* Torn elements: one origin replaces an element by values whose parts are all equal. The other ranks, including the
 * target, read the element with NO_OP, in a call of one element or of many.
 * Forbidden: a value whose parts differ. Elements of 8, 16 and 32 bytes, and pair types. Runs on each window kind.
 * MPI-5.0 12.7.1
 * np: 2 3
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <complex.h>

enum { TIMES = 150, COUNT = 300 };

struct pair {
	int a, b;
};

static void body(struct window *w) {
	static int64_t longs[COUNT];
	static double complex pairs[COUNT];
	static long double complex wides[COUNT];
	static struct pair ints[COUNT];
	MPI_Aint at_pairs = 8 * COUNT, at_wides = at_pairs + 16 * COUNT, at_ints = at_wides + 32 * COUNT;
	MPI_Datatype L = MPI_INT64_T, C = MPI_C_DOUBLE_COMPLEX, W = MPI_C_LONG_DOUBLE_COMPLEX, P = MPI_2INT;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int i = 1; i <= TIMES; i++) {
		int n = i % 2 ? COUNT : 1, first = i % 2 ? 0 : 7;
		if (w->rank == 1) {
			for (int k = 0; k < n; k++) {
				longs[k] = (int64_t)i << 32 | i;
				pairs[k] = i + i * I;
				wides[k] = i + i * I;
				ints[k] = (struct pair){i, i};
			}
			MPI_Accumulate(longs, n, L, 0, window_at(w, 0, 8 * first), n, L, MPI_REPLACE, w->win);
			MPI_Accumulate(pairs, n, C, 0, window_at(w, 0, at_pairs + 16 * first), n, C, MPI_REPLACE,
				       w->win);
			MPI_Accumulate(wides, n, W, 0, window_at(w, 0, at_wides + 32 * first), n, W, MPI_REPLACE,
				       w->win);
			MPI_Accumulate(ints, n, P, 0, window_at(w, 0, at_ints + 8 * first), n, P, MPI_REPLACE, w->win);
			MPI_Win_flush(0, w->win);
			continue;
		}
		MPI_Get_accumulate(NULL, 0, L, longs, n, L, 0, window_at(w, 0, 8 * first), n, L, MPI_NO_OP, w->win);
		MPI_Get_accumulate(NULL, 0, C, pairs, n, C, 0, window_at(w, 0, at_pairs + 16 * first), n, C, MPI_NO_OP,
				   w->win);
		MPI_Get_accumulate(NULL, 0, W, wides, n, W, 0, window_at(w, 0, at_wides + 32 * first), n, W, MPI_NO_OP,
				   w->win);
		MPI_Get_accumulate(NULL, 0, P, ints, n, P, 0, window_at(w, 0, at_ints + 8 * first), n, P, MPI_NO_OP,
				   w->win);
		MPI_Win_flush(0, w->win);
		for (int k = 0; k < n; k++) {
			CHECK(longs[k] >> 32 == (longs[k] & 0xffffffff), "%s window: 8 bytes are %llx", w->name,
			      (long long)longs[k]);
			CHECK(creal(pairs[k]) == cimag(pairs[k]), "%s window: 16 bytes are %g, %g", w->name,
			      creal(pairs[k]), cimag(pairs[k]));
			CHECK(creall(wides[k]) == cimagl(wides[k]), "%s window: 32 bytes are %Lg, %Lg", w->name,
			      creall(wides[k]), cimagl(wides[k]));
			CHECK(ints[k].a == ints[k].b, "%s window: a pair is %d, %d", w->name, ints[k].a, ints[k].b);
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64 * COUNT, 1, MPI_COMM_WORLD, body);
	return check_end();
}
