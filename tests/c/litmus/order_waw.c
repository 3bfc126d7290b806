/* Write after write of one location by one origin, without a flush between:   acc REPLACE 2i-1;  acc REPLACE 2i
 * Forbidden: 2i-1 at the end; a reader sees the values decrease (accumulate_ordering has waw and rar by default).
 * The writes are Accumulate, Fetch_and_op, or Get_accumulate of several elements. Runs on each window kind.
 * MPI-5.0 12.7.2
 * np: 2 3
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 400, WIDE = 5 };

static void write_at(struct window *w, int64_t *value, int64_t *old, int how) {
	MPI_Datatype L = MPI_INT64_T;
	if (how == 0)
		MPI_Accumulate(value, 1, L, 0, window_at(w, 0, 2), 1, L, MPI_REPLACE, w->win);
	else if (how == 1)
		MPI_Fetch_and_op(value, old, L, 0, window_at(w, 0, 2), MPI_REPLACE, w->win);
	else if (how == 2)
		MPI_Accumulate(value, WIDE, L, 0, window_at(w, 0, 0), WIDE, L, MPI_REPLACE, w->win);
	else
		MPI_Get_accumulate(value, WIDE, L, old, WIDE, L, 0, window_at(w, 0, 0), WIDE, L, MPI_REPLACE, w->win);
}

static void body(struct window *w) {
	int64_t values[2][WIDE], old[2][WIDE], seen, last = 0;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int i = 1; i <= TIMES; i++) {
		if (w->rank == 1) {
			for (int k = 0; k < WIDE; k++)
				values[0][k] = 2 * i - 1, values[1][k] = 2 * i;
			write_at(w, values[0], old[0], i % 4);
			write_at(w, values[1], old[1], i / 4 % 4);
			MPI_Win_flush(0, w->win);
			MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, 0, window_at(w, 0, 2), MPI_NO_OP, w->win);
			MPI_Win_flush(0, w->win);
			CHECK(seen == 2 * i, "%s window: %d then %d: in the end %d", w->name, 2 * i - 1, 2 * i,
			      (int)seen);
		} else {
			MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, 0, window_at(w, 0, 2), MPI_NO_OP, w->win);
			MPI_Win_flush(0, w->win);
			CHECK(seen >= last, "%s window: %d seen behind %d", w->name, (int)seen, (int)last);
			last = seen;
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 8, MPI_COMM_WORLD, body);
	return check_end();
}
