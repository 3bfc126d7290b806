/* Proves: MPI_Win_free is a barrier: no rank returns from it before all ranks have called it. Operations of a closed
 *   passive epoch are complete when it returns. The handle becomes MPI_WIN_NULL. Tests every window kind. MPI-5.0
 *   12.2.5
 * np: 2 5
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * ref: mpich
 * timeout: 60
 */
#include "../windows.h"
#include <stdatomic.h>

static _Atomic int *called; /* in a shared window: number of ranks that have called free */

static int *mem_of(struct window *w, MPI_Win *win) {
	int *mem;
	if (w->kind == KIND_SHARED)
		MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, w->comm, &mem, win);
	else if (w->kind == KIND_ALLOCATE)
		MPI_Win_allocate(64, 4, MPI_INFO_NULL, w->comm, &mem, win);
	else
		MPI_Win_create(mem = w->mem, 64, 4, MPI_INFO_NULL, w->comm, win);
	return mem;
}

static void body(struct window *w) {
	for (int time = 0; time < 10; time++) {
		MPI_Win win;
		int *mem = mem_of(w, &win), value = 31 + w->rank, right = (w->rank + 1) % w->n,
		    left = (w->rank + w->n - 1) % w->n;
		mem[0] = -1;
		MPI_Barrier(w->comm);
		if (w->rank == 0)
			atomic_store(called, 0);
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
		MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
		MPI_Win_unlock(right, win);
		for (volatile int i = 0; i < 20000 * ((w->rank + time) % w->n); i++) /* arrive at different times */
			;
		atomic_fetch_add(called, 1);
		MPI_Win_free(&win);
		CHECK(atomic_load(called) == w->n, "%s window: freed when %d of %d ranks had called", w->name,
		      atomic_load(called), w->n);
		CHECK(win == MPI_WIN_NULL, "%s window: the handle is not null", w->name);
		if (w->kind != KIND_SHARED && w->kind != KIND_ALLOCATE)
			CHECK(mem[0] == 31 + left, "%s window: freed before the put was done: %d", w->name, mem[0]);
	}
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Win flags;
	MPI_Aint size;
	int unit;
	void *mem;
	MPI_Win_allocate_shared(check_rank == 0 ? 64 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &flags);
	MPI_Win_shared_query(flags, 0, &size, &unit, &called);
	windows_each(64, 4, MPI_COMM_WORLD, body);
	MPI_Win_free(&flags);
	return check_end();
}
