/* Store buffering (Dekker) with plain stores to a rank's own window. x is in rank 0's window, y in rank 1's window;
 * both are 0 at first.
 *     rank 0: store x = 1; sync; r0 = get y; flush           rank 1: store y = 1; sync; r1 = get x; flush
 * Forbidden in the unified memory model: r0 = r1 = 0. Runs on each window kind.
 * MPI-5.0 12.4, 12.7
 * np: 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 200 };

static void body(struct window *w) {
	volatile int *mine = w->mem;
	int got, both[2], *model, flag;
	MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &model, &flag);
	if (!flag || *model != MPI_WIN_UNIFIED)
		return;
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < TIMES; i++) {
		*mine = 0;
		MPI_Win_sync(w->win);
		MPI_Barrier(w->comm);
		got = -1;
		*mine = 1;
		MPI_Win_sync(w->win);
		MPI_Get(&got, 1, MPI_INT, 1 - w->rank, window_at(w, 1 - w->rank, 0), 1, MPI_INT, w->win);
		MPI_Win_flush(1 - w->rank, w->win);
		MPI_Allgather(&got, 1, MPI_INT, both, 1, MPI_INT, w->comm);
		CHECK(both[0] + both[1] >= 1, "%s window, turn %d: both read 0", w->name, i);
	}
	MPI_Win_unlock_all(w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, 4, MPI_COMM_WORLD, body);
	return check_end();
}
