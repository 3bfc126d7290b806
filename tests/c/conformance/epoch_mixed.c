/* Proves: one window can use all kinds of epochs, one after another and in changing order, and each epoch moves its
 *   data. The kinds are fence (closed with NOSUCCEED), post-start-complete-wait, lock, and lock_all with flush. Tests
 *   every window kind. MPI-5.0 12.5
 * np: 1 2 4
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../epochs.h"

static void one(struct window *w, int sync, int step) {
	int n = w->n, *mem = w->mem;
	int value = w->rank * 1000 + step, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, got = -1;
	mem[0] = -1;
	mem[1] = w->rank * 7 + step;
	epoch_open(sync, w);
	epoch_target(sync, w, right);
	MPI_Put(&value, 1, MPI_INT, right, window_at(w, right, 0), 1, MPI_INT, w->win);
	MPI_Get(&got, 1, MPI_INT, right, window_at(w, right, 1), 1, MPI_INT, w->win);
	epoch_target_done(sync, w, right);
	if (sync == SYNC_FENCE)
		MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	else
		epoch_close(sync, w);
	CHECK(mem[0] == left * 1000 + step, "%s window, %s: %d, not %d", w->name, sync_name[sync], mem[0],
	      left * 1000 + step);
	CHECK(got == right * 7 + step, "%s window, %s: got %d, not %d", w->name, sync_name[sync], got,
	      right * 7 + step);
}

static void body(struct window *w) {
	for (int step = 0; step < 3 * SYNCS; step++)
		one(w, (step * (step / SYNCS * 3 + 1)) % SYNCS, step);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
