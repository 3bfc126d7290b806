/* Read after write of one location by one origin, without a flush between:
 *     accumulate REPLACE i;  r = get_accumulate NO_OP
 * Forbidden: r != i. The write and the read have one or several elements, in all combinations; the writes use each
 * accumulate call. Runs on each window kind. MPI-5.0 12.7.2
 * np: 1 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 400, WIDE = 5 };

static void body(struct window *w) {
	int64_t value[WIDE], read[WIDE], old[WIDE], before = 0;
	MPI_Datatype L = MPI_INT64_T;
	int t = (w->rank + 1) % w->n;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int i = 1; i <= TIMES; i++) {
		for (int k = 0; k < WIDE; k++)
			value[k] = i, read[k] = -1;
		switch (i % 4) {
		case 0:
			MPI_Accumulate(value, WIDE, L, t, window_at(w, t, 0), WIDE, L, MPI_REPLACE, w->win);
			break;
		case 1:
			MPI_Accumulate(value, 1, L, t, window_at(w, t, 2), 1, L, MPI_REPLACE, w->win);
			break;
		case 2:
			MPI_Fetch_and_op(value, old, L, t, window_at(w, t, 2), MPI_REPLACE, w->win);
			break;
		case 3:
			MPI_Compare_and_swap(value, &before, old, L, t, window_at(w, t, 2), w->win);
		}
		if (i / 4 % 2)
			MPI_Get_accumulate(NULL, 0, L, read, WIDE, L, t, window_at(w, t, 0), WIDE, L, MPI_NO_OP,
					   w->win);
		else
			MPI_Fetch_and_op(NULL, read + 2, L, t, window_at(w, t, 2), MPI_NO_OP, w->win);
		MPI_Win_flush(t, w->win);
		CHECK(read[2] == i, "%s window: wrote %d, read %d", w->name, i, (int)read[2]);
		before = i;
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 8, MPI_COMM_WORLD, body);
	return check_end();
}
