/* A spin lock made of Compare_and_swap that protects plain puts and gets:
 *     repeat CAS(lock, 0 -> me) until it returns 0; get x; flush; put x + 1; flush; REPLACE lock = 0; flush
 * Forbidden: a lost addition. Lock and x are on different ranks. Runs on each window kind.
 * MPI-5.0 12.5.4, 12.7.1
 * np: 2 4
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 25 };

static void body(struct window *w) {
	int home = 0, data = w->n - 1, me = w->rank + 1, zero = 0, held, x;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < TIMES; i++) {
		do {
			MPI_Compare_and_swap(&me, &zero, &held, MPI_INT, home, window_at(w, home, 0), w->win);
			MPI_Win_flush(home, w->win);
			CHECK(held != me, "%s window: I hold the lock already", w->name);
		} while (held != 0);
		MPI_Get(&x, 1, MPI_INT, data, window_at(w, data, 8), 1, MPI_INT, w->win);
		MPI_Win_flush(data, w->win);
		x++;
		MPI_Put(&x, 1, MPI_INT, data, window_at(w, data, 8), 1, MPI_INT, w->win);
		MPI_Win_flush(data, w->win);
		MPI_Accumulate(&zero, 1, MPI_INT, home, window_at(w, home, 0), 1, MPI_INT, MPI_REPLACE, w->win);
		MPI_Win_flush(home, w->win);
	}
	MPI_Barrier(w->comm);
	MPI_Get(&x, 1, MPI_INT, data, window_at(w, data, 8), 1, MPI_INT, w->win);
	MPI_Win_flush(data, w->win);
	CHECK(x == TIMES * w->n, "%s window: %d, not %d", w->name, x, TIMES * w->n);
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
