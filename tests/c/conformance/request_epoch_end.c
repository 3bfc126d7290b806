/* Proves: requests and ends of epochs are independent. After unlock or unlock_all the operation is complete at the
 *   target and its result is present; wait or test must still complete the request. Conversely, a complete request does
 *   not mean that the operation is complete at the target: this needs a flush. Covers small and large operations. Tests
 *   every window kind. MPI-5.0 12.3.5, 12.5.3
 * np: 1 2 3
 * again: GOMPIRMA_NO_CMA=1
 * ref: none (MPICH 4.0 takes a wrong address in allocated windows of this size; Open MPI passes)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { MOST = 20000, TIMES = 8 };

static void body(struct window *w) {
	int n = w->n, right = (w->rank + 1) % n, left = (w->rank + n - 1) % n, *mem = w->mem, one = 1, old;
	int *put = malloc(MOST * sizeof(int)), *got = malloc(MOST * sizeof(int));
	MPI_Aint at = window_at(w, right, 0), counter = window_at(w, right, MOST), sums = window_at(w, right, MOST + 1);
	memset(mem, 0, w->size);
	MPI_Barrier(w->comm);
	for (int time = 1; time <= TIMES; time++) {
		int count = time % 2 ? 3 : MOST, done = 0;
		MPI_Request r[5];
		for (int i = 0; i < count; i++)
			put[i] = w->rank * 100000 + time * 1000 + i, got[i] = -1;
		old = -1;
		if (time % 4 < 2)
			MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win);
		else
			MPI_Win_lock_all(0, w->win);
		MPI_Rput(put, count, MPI_INT, right, at, count, MPI_INT, w->win, r);
		MPI_Raccumulate(&one, 1, MPI_INT, right, sums, 1, MPI_INT, MPI_SUM, w->win, r + 1);
		MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, right, counter, 1, MPI_INT, MPI_SUM, w->win,
				    r + 2);
		MPI_Raccumulate(&one, 1, MPI_INT, right, sums, 1, MPI_INT, MPI_SUM, w->win, r + 3);
		MPI_Wait(r, MPI_STATUS_IGNORE);
		MPI_Win_flush(right, w->win);
		MPI_Rget(got, count, MPI_INT, right, at, count, MPI_INT, w->win, r + 4);
		if (time % 4 < 2)
			MPI_Win_unlock(right, w->win);
		else
			MPI_Win_unlock_all(w->win);
		/* The epoch has ended: results are present, but the program has not completed the requests. */
		CHECK(memcmp(put, got, count * sizeof(int)) == 0, "%s window: got %d, not %d, behind the epoch",
		      w->name, got[0], put[0]);
		CHECK(old == time - 1, "%s window: fetched %d, not %d", w->name, old, time - 1);
		CHECK(r[0] == MPI_REQUEST_NULL && r[3] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL &&
			      r[4] != MPI_REQUEST_NULL,
		      "%s window: the epoch's end changed a request", w->name);
		if (time % 3)
			MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
		else
			while (!done)
				MPI_Testall(5, r, &done, MPI_STATUSES_IGNORE);
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
		for (int i = 0; i < count; i++)
			if (mem[i] != left * 100000 + time * 1000 + i) {
				CHECK(0, "%s window: element %d is %d", w->name, i, mem[i]);
				break;
			}
		CHECK(mem[MOST + 1] == 2 * time, "%s window: the sum is %d, not %d", w->name, mem[MOST + 1], 2 * time);
		MPI_Win_unlock(w->rank, w->win);
		MPI_Barrier(w->comm);
	}
	free(put);
	free(got);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each((MOST + 2) * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
