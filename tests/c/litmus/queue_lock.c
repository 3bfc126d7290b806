/* An MCS queue lock (Mellor-Crummey and Scott) that protects puts and gets. The tail of the queue is in rank 0's
 * window; a rank enters the queue by Fetch_and_op REPLACE of the tail. Each waiter polls its own word, which its
 * predecessor sets. A lock holder without a successor releases the lock by Compare_and_swap of the tail.
 * Forbidden: a lost addition; a rank that never acquires the lock. Runs on each window kind.
 * MPI-5.0 12.5.4, 12.7
 * np: 2 4
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TAIL, NEXT, LOCKED, DATA, NOBODY = -1 };

static int swap_at(struct window *w, int target, int place, int value, MPI_Op op) {
	int old;
	MPI_Fetch_and_op(&value, &old, MPI_INT, target, window_at(w, target, place), op, w->win);
	MPI_Win_flush(target, w->win);
	return old;
}

static void acquire(struct window *w) {
	swap_at(w, w->rank, NEXT, NOBODY, MPI_REPLACE);
	swap_at(w, w->rank, LOCKED, 1, MPI_REPLACE);
	int before = swap_at(w, 0, TAIL, w->rank, MPI_REPLACE);
	if (before == NOBODY)
		return;
	swap_at(w, before, NEXT, w->rank, MPI_REPLACE);
	while (swap_at(w, w->rank, LOCKED, 0, MPI_NO_OP))
		;
}

static void release(struct window *w) {
	int next = swap_at(w, w->rank, NEXT, 0, MPI_NO_OP), nobody = NOBODY, tail;
	if (next == NOBODY) {
		MPI_Compare_and_swap(&nobody, &w->rank, &tail, MPI_INT, 0, window_at(w, 0, TAIL), w->win);
		MPI_Win_flush(0, w->win);
		if (tail == w->rank)
			return; /* this rank was the last one: the queue is empty */
		while ((next = swap_at(w, w->rank, NEXT, 0, MPI_NO_OP)) == NOBODY)
			;
	}
	swap_at(w, next, LOCKED, 0, MPI_REPLACE);
}

static void body(struct window *w) {
	int *mem = w->mem, x, data = w->n - 1,
	    times = w->n > 2 ? 4 : 25; /* with more ranks than cores each handover takes a time slice */
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	mem[TAIL] = NOBODY;
	mem[DATA] = 0;
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int i = 0; i < times; i++) {
		acquire(w);
		MPI_Get(&x, 1, MPI_INT, data, window_at(w, data, DATA), 1, MPI_INT, w->win);
		MPI_Win_flush(data, w->win);
		x++;
		MPI_Put(&x, 1, MPI_INT, data, window_at(w, data, DATA), 1, MPI_INT, w->win);
		MPI_Win_flush(data, w->win);
		release(w);
	}
	MPI_Barrier(w->comm);
	MPI_Get(&x, 1, MPI_INT, data, window_at(w, data, DATA), 1, MPI_INT, w->win);
	MPI_Win_flush(data, w->win);
	CHECK(x == times * w->n, "%s window: %d, not %d", w->name, x, times * w->n);
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(256, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
