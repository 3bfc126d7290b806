/* In the unified memory model, plain loads of the target see a put although the target makes no MPI call meanwhile:
 *     rank 1: put x = i to rank 0; flush; spin until a load of y gives i
 *     rank 0: spin until a load of x gives i; put y = i to rank 1; flush
 * Forbidden: a rank spins forever. Runs on each window kind.
 * MPI-5.0 12.4, 12.7.3
 * np: 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <signal.h>
#include <unistd.h>

enum { TIMES = 100 };

static void stuck(int signal) {
	static const char text[] = "FAIL: a put is never seen by the target's loads\n";
	(void)signal;
	_exit(write(2, text, sizeof text - 1) < 0 ? 2 : 1);
}

static void body(struct window *w) {
	volatile int *mine = w->mem;
	int *model, found;
	MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &model, &found);
	if (!found || *model != MPI_WIN_UNIFIED)
		return;
	*mine = 0;
	MPI_Win_lock_all(0, w->win);
	MPI_Win_sync(w->win);
	MPI_Barrier(w->comm);
	alarm(20);
	for (int i = 1; i <= TIMES; i++) {
		for (int turn = 0; turn < 2; turn++) {
			if (turn == w->rank) {
				MPI_Put(&i, 1, MPI_INT, 1 - w->rank, window_at(w, 1 - w->rank, 0), 1, MPI_INT, w->win);
				MPI_Win_flush(1 - w->rank, w->win);
			} else {
				while (*mine < i)
					;
				CHECK(*mine == i, "%s window: loaded %d, not %d", w->name, *mine, i);
			}
		}
	}
	alarm(0);
	MPI_Win_unlock_all(w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	signal(SIGALRM, stuck);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
