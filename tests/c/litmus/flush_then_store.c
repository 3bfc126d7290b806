/* An RMA operation, then a plain store to a flag in a shared window:
 *     rank 1: put or accumulate data = i; flush; store flag = i
 *     rank 0: spin without MPI until flag = i; sync; load data
 * Forbidden: data < i; rank 1's flush waits for a call of rank 0. Runs with small and large data on each window kind.
 * MPI-5.0 12.5.4, 12.7.3
 * np: 2
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 1 (the window is shared)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <stdatomic.h>

enum { TIMES = 60, MOST = 20000 };

static _Atomic int *flag;

static void body(struct window *w) {
	int *mem = w->mem, *data = malloc(MOST * sizeof(int));
	if (w->rank == 0)
		atomic_store(flag, 0);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int i = 1; i <= TIMES; i++) {
		int count = i % 5 == 0 ? MOST : i % 5;
		if (w->rank == 1) {
			for (int k = 0; k < count; k++)
				data[k] = i;
			if (i % 2)
				MPI_Put(data, count, MPI_INT, 0, window_at(w, 0, 0), count, MPI_INT, w->win);
			else
				MPI_Accumulate(data, count, MPI_INT, 0, window_at(w, 0, 0), count, MPI_INT, MPI_REPLACE,
					       w->win);
			if (i % 3)
				MPI_Win_flush(0, w->win);
			else
				MPI_Win_flush_all(w->win);
			atomic_store(flag, i);
		} else {
			while (atomic_load(flag) < i)
				;
			MPI_Win_sync(w->win);
			for (int k = 0; k < count; k++)
				CHECK(mem[k] == i, "%s window: flag %d, element %d of %d is %d", w->name, i, k, count,
				      mem[k]);
		}
		MPI_Barrier(w->comm);
	}
	MPI_Win_unlock_all(w->win);
	free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Win shared;
	MPI_Aint size;
	int unit;
	MPI_Win_allocate_shared(check_rank == 0 ? 64 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &shared);
	MPI_Win_shared_query(shared, 0, &size, &unit, &flag);
	windows_each(MOST * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	MPI_Win_free(&shared);
	return check_end();
}
