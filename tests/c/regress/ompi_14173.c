/* Reported (open-mpi/ompi issue 14173): a test-and-set lock built on an atomic swap (MPI_REPLACE) worked with
 * MPI_Fetch_and_op, but no rank ever acquired it with MPI_Get_accumulate or MPI_Rget_accumulate.
 * Must hold: with each of these calls every rank acquires the lock, and only one rank holds it at a time: no increment
 * of a counter, made by a get and a put under the lock, is lost. MPI-5.0 12.3.4, 12.3.5
 * np: 2 4
 * args: fetch_and_op get_accumulate rget_accumulate
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <sched.h>

enum { TURNS = 100, LOCK = 0, COUNTER = 1 };

static int swap(struct window *w, int value) {
	int old = -1;
	MPI_Request request = MPI_REQUEST_NULL;
	if (strcmp(check_arg, "fetch_and_op") == 0)
		CHECK_OK(MPI_Fetch_and_op(&value, &old, MPI_INT, 0, window_at(w, 0, LOCK), MPI_REPLACE, w->win));
	else if (strcmp(check_arg, "get_accumulate") == 0)
		CHECK_OK(MPI_Get_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, 0, window_at(w, 0, LOCK), 1, MPI_INT,
					    MPI_REPLACE, w->win));
	else
		CHECK_OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, 0, window_at(w, 0, LOCK), 1, MPI_INT,
					     MPI_REPLACE, w->win, &request));
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_flush(0, w->win);
	return old;
}

static void body(struct window *w) {
	int *mem = w->mem;
	mem[LOCK] = mem[COUNTER] = 0;
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	MPI_Win_sync(w->win);
	MPI_Barrier(w->comm);
	for (int i = 0; i < TURNS; i++) {
		while (swap(w, 1) != 0)
			sched_yield();
		int counter = -1;
		MPI_Get(&counter, 1, MPI_INT, 0, window_at(w, 0, COUNTER), 1, MPI_INT, w->win);
		MPI_Win_flush(0, w->win);
		counter++;
		MPI_Put(&counter, 1, MPI_INT, 0, window_at(w, 0, COUNTER), 1, MPI_INT, w->win);
		MPI_Win_flush(0, w->win);
		int held = swap(w, 0);
		CHECK(held == 1, "%s: the lock held %d when it was given back", w->name, held);
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	CHECK(w->rank != 0 || (mem[COUNTER] == TURNS * w->n && mem[LOCK] == 0),
	      "%s: the counter is %d, not %d; the lock is %d", w->name, mem[COUNTER], TURNS * w->n, mem[LOCK]);
	MPI_Win_unlock(w->rank, w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(2 * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
