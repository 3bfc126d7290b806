/* Write after read of one location by one origin, without a flush between:
 *     r = get_accumulate NO_OP;  accumulate REPLACE i     (the location held i-1)
 * Forbidden: r = i. The read is a Fetch_and_op or a Get_accumulate of several elements. Runs on each window kind.
 * MPI-5.0 12.7.2
 * np: 1 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 400, WIDE = 5 };

static void body(struct window *w) {
	int64_t value[WIDE], read[WIDE];
	MPI_Datatype L = MPI_INT64_T;
	int t = (w->rank + 1) % w->n;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int i = 1; i <= TIMES; i++) {
		int wide = i % 3 ? WIDE : 1, at = wide == 1 ? 2 : 0;
		for (int k = 0; k < WIDE; k++)
			value[k] = i, read[k] = -1;
		if (i % 2)
			MPI_Get_accumulate(NULL, 0, L, read, WIDE, L, t, window_at(w, t, 0), WIDE, L, MPI_NO_OP,
					   w->win);
		else
			MPI_Fetch_and_op(NULL, read, L, t, window_at(w, t, 2), MPI_NO_OP, w->win);
		MPI_Accumulate(value, wide, L, t, window_at(w, t, at), wide, L, MPI_REPLACE, w->win);
		MPI_Win_flush(t, w->win);
		int64_t got = i % 2 ? read[2] : read[0];
		CHECK(got == i - 1, "%s window: read %d before %d was written over %d", w->name, (int)got, i, i - 1);
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 8, MPI_COMM_WORLD, body);
	return check_end();
}
