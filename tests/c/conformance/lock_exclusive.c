/* Proves: exclusive locks exclude each other. All ranks increment each rank's counters by a get and a put, which are
 *   not atomic, under exclusive locks. The sums are exact. The owner takes part with plain loads and stores under its
 *   own lock. Tests every window kind. MPI-5.0 12.5.3
 * np: 1 2 4
 * nodes: 2
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 40, COUNT = 100 };

static void body(struct window *w) {
	int n = w->n, *mem = w->mem, copy[COUNT];
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	memset(mem, 0, COUNT * sizeof(int));
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	for (int i = 0; i < TIMES; i++) {
		int t = (w->rank + i) % n;
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win);
		if (t == w->rank) {
			for (int k = 0; k < COUNT; k++)
				mem[k]++;
		} else {
			MPI_Get(copy, COUNT, MPI_INT, t, window_at(w, t, 0), COUNT, MPI_INT, w->win);
			MPI_Win_flush(t, w->win);
			for (int k = 0; k < COUNT; k++)
				copy[k]++;
			MPI_Put(copy, COUNT, MPI_INT, t, window_at(w, t, 0), COUNT, MPI_INT, w->win);
		}
		MPI_Win_unlock(t, w->win);
	}
	MPI_Barrier(w->comm);
	/* Rank r visited the targets r, r + 1, ... modulo n, TIMES targets in total. Counts the visits to this rank. */
	int want = 0;
	for (int r = 0; r < n; r++)
		for (int i = 0; i < TIMES; i++)
			want += (r + i) % n == w->rank;
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	for (int k = 0; k < COUNT; k++)
		CHECK(mem[k] == want, "%s window: counter %d is %d, not %d", w->name, k, mem[k], want);
	MPI_Win_unlock(w->rank, w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(int) * COUNT, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
