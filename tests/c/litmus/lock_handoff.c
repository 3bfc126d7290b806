/* A rank that acquires a lock sees the changes that the previous holder made. The ranks take turns:
 *     each rank: lock; get turn and data; flush; if it is this rank's turn: put new data and turn + 1; unlock
 * Forbidden: a turn with the data of another turn; a lost turn. The lock is shared if the rank only reads, exclusive if
 * it may write. Runs on each window kind.
 * MPI-5.0 12.5.3
 * np: 2 4
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { COUNT = 64 };

static void body(struct window *w) {
	int state[1 + COUNT], turn = 0,
			      turns = w->n > 2 ? 8 : 40; /* with more ranks than cores each turn takes a time slice */
	window_zero(w);
	while (turn < turns) {
		int looks = turn % w->n != w->rank; /* only read, since it is another rank's turn */
		MPI_Win_lock(looks ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
		MPI_Get(state, 1 + COUNT, MPI_INT, 0, window_at(w, 0, 0), 1 + COUNT, MPI_INT, w->win);
		MPI_Win_flush(0, w->win);
		CHECK(state[0] >= turn, "%s window: turn %d behind %d", w->name, state[0], turn);
		turn = state[0];
		for (int k = 1; k <= COUNT; k++)
			CHECK(state[k] == turn * k, "%s window: turn %d, element %d is %d, not %d", w->name, turn, k,
			      state[k], turn * k);
		if (!looks && turn < turns && turn % w->n == w->rank) {
			for (int k = 0; k <= COUNT; k++)
				state[k] += k ? k : 1;
			MPI_Put(state, 1 + COUNT, MPI_INT, 0, window_at(w, 0, 0), 1 + COUNT, MPI_INT, w->win);
			turn++;
		}
		MPI_Win_unlock(0, w->win);
	}
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(int) * (1 + COUNT), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
