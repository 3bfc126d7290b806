/* Store buffering (Dekker); x and y are 0 at first:
 *     rank 0: put x = 1; flush; r0 = get y; flush            rank 1: put y = 1; flush; r1 = get x; flush
 * Forbidden: r0 = r1 = 0. x and y are in the windows of rank 0 and 1, of rank 1 and 0, or both in rank 0's window. Runs
 * with put and get, and with accumulate and fetch, on each window kind. MPI-5.0 12.5.4
 * np: 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 240 };

static void body(struct window *w) {
	int one = 1, got, both[2];
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < TIMES; i++) {
		int me = w->rank, other = 1 - me;
		/* place[r] is the rank whose window holds the variable that rank r writes; at[r] is its displacement */
		int place[2] = {i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 0, i % 3 == 0 ? 1 : 0};
		MPI_Aint at[2] = {0, i % 3 == 2 ? 16 : 0};
		if (me == 0) {
			int zero = 0;
			MPI_Put(&zero, 1, MPI_INT, place[0], window_at(w, place[0], at[0]), 1, MPI_INT, w->win);
			MPI_Put(&zero, 1, MPI_INT, place[1], window_at(w, place[1], at[1]), 1, MPI_INT, w->win);
			MPI_Win_flush_all(w->win);
		}
		MPI_Barrier(w->comm);
		got = -1;
		if (i % 2)
			MPI_Put(&one, 1, MPI_INT, place[me], window_at(w, place[me], at[me]), 1, MPI_INT, w->win);
		else
			MPI_Accumulate(&one, 1, MPI_INT, place[me], window_at(w, place[me], at[me]), 1, MPI_INT,
				       MPI_REPLACE, w->win);
		MPI_Win_flush(place[me], w->win);
		if (i % 2)
			MPI_Get(&got, 1, MPI_INT, place[other], window_at(w, place[other], at[other]), 1, MPI_INT,
				w->win);
		else
			MPI_Fetch_and_op(NULL, &got, MPI_INT, place[other], window_at(w, place[other], at[other]),
					 MPI_NO_OP, w->win);
		MPI_Win_flush(place[other], w->win);
		MPI_Allgather(&got, 1, MPI_INT, both, 1, MPI_INT, w->comm);
		CHECK(both[0] + both[1] >= 1, "%s window, turn %d: both read 0", w->name, i);
		CHECK(got == 0 || got == 1, "%s window, turn %d: read %d", w->name, i, got);
	}
	MPI_Win_unlock_all(w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(128, 4, MPI_COMM_WORLD, body);
	return check_end();
}
