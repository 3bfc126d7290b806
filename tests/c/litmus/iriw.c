/* Independent reads of independent writes. x and y are in rank 0's window and 0 at first:
 *     rank 0: x = 1; flush                 rank 1: y = 1; flush
 *     rank 2: a = x; flush; b = y; flush   rank 3: c = y; flush; d = x; flush
 * Forbidden: a = 1, b = 0, c = 1, d = 0: the two readers would see the writes in different orders. Runs on each window
 * kind.
 * MPI-5.0 12.7; the operations are atomic at the target
 * np: 4
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 100 };

static int read_at(struct window *w, MPI_Aint at) {
	int got = -1;
	MPI_Fetch_and_op(NULL, &got, MPI_INT, 0, window_at(w, 0, at), MPI_NO_OP, w->win);
	MPI_Win_flush(0, w->win);
	return got;
}

static void body(struct window *w) {
	int one = 1, zero = 0, pair[2] = {0, 0}, all[8];
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < TIMES; i++) {
		if (w->rank == 0) {
			MPI_Accumulate(&zero, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, MPI_REPLACE, w->win);
			MPI_Accumulate(&zero, 1, MPI_INT, 0, window_at(w, 0, 16), 1, MPI_INT, MPI_REPLACE, w->win);
			MPI_Win_flush(0, w->win);
		}
		MPI_Barrier(w->comm);
		if (w->rank < 2) {
			MPI_Accumulate(&one, 1, MPI_INT, 0, window_at(w, 0, 16 * w->rank), 1, MPI_INT, MPI_REPLACE,
				       w->win);
			MPI_Win_flush(0, w->win);
		} else {
			pair[0] = read_at(w, w->rank == 2 ? 0 : 16);
			pair[1] = read_at(w, w->rank == 2 ? 16 : 0);
		}
		MPI_Allgather(pair, 2, MPI_INT, all, 2, MPI_INT, w->comm);
		CHECK(!(all[4] == 1 && all[5] == 0 && all[6] == 1 && all[7] == 0),
		      "%s window, turn %d: the readers disagree", w->name, i);
	}
	MPI_Win_unlock_all(w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(128, 4, MPI_COMM_WORLD, body);
	return check_end();
}
