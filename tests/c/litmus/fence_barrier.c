/* A fence that ends an epoch is a barrier, and completes all operations:
 *     each rank: put and accumulate; store its flag = i in a shared window; fence; load the flags of all ranks and its
 *     data
 * Forbidden: a flag < i; old data. The loads follow the fence directly. Runs on each window kind.
 * MPI-5.0 12.5.1
 * np: 2 5
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 1 (the window is shared)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <stdatomic.h>

enum { TIMES = 150, COUNT = 100, BURST = 12 };

static _Atomic int *mine, *flags[64];

static void body(struct window *w) {
	int value = w->rank, right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n, *mem = w->mem,
	    values[COUNT];
	atomic_store(mine, 0);
	MPI_Win_fence(0, w->win);
	for (int i = 1; i <= TIMES; i++) {
		int put = value * 1000 + i;
		MPI_Put(&put, 1, MPI_INT, right, window_at(w, right, i % 2), 1, MPI_INT, w->win);
		for (int k = 0; k < COUNT; k++)
			values[k] = i * 1000 + k;
		for (int k = 0; k < BURST; k++)
			MPI_Accumulate(values + k, COUNT - k, MPI_INT, right,
				       window_at(w, right, 2 + i % 2 * COUNT + k), COUNT - k, MPI_INT, MPI_REPLACE,
				       w->win);
		atomic_store(mine, i);
		MPI_Win_fence(0, w->win);
		for (int r = 0; r < w->n; r++)
			CHECK(atomic_load(flags[r]) >= i, "%s window, fence %d: rank %d is at %d", w->name, i, r,
			      atomic_load(flags[r]));
		int last = mem[1 + i % 2 * COUNT + COUNT]; /* a rank one fence ahead writes to the other half */
		CHECK(last == i * 1000 + COUNT - 1, "%s window, fence %d: accumulates left %d", w->name, i, last);
		CHECK(mem[i % 2] == left * 1000 + i, "%s window, fence %d: %d, not %d", w->name, i, mem[i % 2],
		      left * 1000 + i);
	}
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Win shared;
	MPI_Aint size;
	int unit;
	MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &shared);
	for (int r = 0; r < check_size; r++)
		MPI_Win_shared_query(shared, r, &size, &unit, &flags[r]);
	windows_each(4 * (2 + 2 * COUNT), 4, MPI_COMM_WORLD, body);
	MPI_Win_free(&shared);
	return check_end();
}
