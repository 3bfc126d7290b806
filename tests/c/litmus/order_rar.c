/* Read after read of one location by one origin, while another origin adds to it:
 *     r1 = get_accumulate NO_OP;  r2 = get_accumulate NO_OP
 * Forbidden: r2 < r1. Runs with one and several elements on each window kind. No flush is between the reads.
 * MPI-5.0 12.7.2
 * np: 2 3
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 400, WIDE = 5, READS = 4 };

static void body(struct window *w) {
	int64_t one[WIDE] = {1, 1, 1, 1, 1}, read[READS][WIDE];
	MPI_Datatype L = MPI_INT64_T;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int i = 1; i <= TIMES; i++) {
		if (w->rank == 1) {
			MPI_Accumulate(one, i % 2 ? WIDE : 3, L, 0, window_at(w, 0, 0), i % 2 ? WIDE : 3, L, MPI_SUM,
				       w->win);
			if (i % 8 == 0)
				MPI_Win_flush(0, w->win);
			continue;
		}
		for (int k = 0; k < READS; k++)
			if ((i + k) % 2)
				MPI_Get_accumulate(NULL, 0, L, read[k], WIDE, L, 0, window_at(w, 0, 0), WIDE, L,
						   MPI_NO_OP, w->win);
			else
				MPI_Fetch_and_op(NULL, &read[k][2], L, 0, window_at(w, 0, 2), MPI_NO_OP, w->win);
		MPI_Win_flush(0, w->win);
		for (int k = 1; k < READS; k++)
			CHECK(read[k][2] >= read[k - 1][2], "%s window: %d read behind %d", w->name, (int)read[k][2],
			      (int)read[k - 1][2]);
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 8, MPI_COMM_WORLD, body);
	return check_end();
}
