/* Proves: one rank can hold locks of several targets at once, of different types, and release them in another order.
 *   Locks of different windows are independent. Tests every window kind. MPI-5.0 12.5.3
 * np: 1 2 5
 * nodes: 2
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 6 };

static void body(struct window *w) {
	int n = w->n, *mem = w->mem, value = w->rank + 1, *other, got;
	MPI_Win second;
	MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, w->comm, &other, &second);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, second); /* locks of both windows at once */
	mem[0] = mem[1] = other[0] = 0;
	MPI_Win_unlock(w->rank, w->win);
	MPI_Win_unlock(w->rank, second);
	MPI_Barrier(w->comm);
	for (int time = 0; time < TIMES; time++) {
		/* every rank locks the targets in rising order, so that exclusive locks cannot deadlock */
		for (int t = 0; t < n; t++)
			MPI_Win_lock(time % 3 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, w->win);
		for (int t = n - 1; t >= 0; t--)
			MPI_Accumulate(&value, 1, MPI_INT, t, window_at(w, t, 1), 1, MPI_INT, MPI_SUM, w->win);
		MPI_Win_flush_all(w->win);
		for (int k = 0; k < n; k++)
			MPI_Win_unlock((k + w->rank) % n, w->win);
		/* A lock of one window is held while the lock of the other is acquired and released. */
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, second);
		MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, second);
		MPI_Win_unlock(0, second);
		MPI_Get(&got, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, w->win);
		MPI_Win_unlock(0, w->win);
		CHECK(got == 0, "%s window: got %d, not 0", w->name, got);
	}
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, second);
	int sum = TIMES * n * (n + 1) / 2;
	CHECK(mem[1] == sum, "%s window: sum %d, not %d", w->name, mem[1], sum);
	if (w->rank == 0)
		CHECK(other[0] == sum, "the second window's sum %d, not %d", other[0], sum);
	MPI_Win_unlock(w->rank, second);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Win_free(&second);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
