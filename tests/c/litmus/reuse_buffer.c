/* Local completion: the origin overwrites its buffer directly after flush_local, flush_local_all, or a wait for the
 * operation's request.
 *     put (or accumulate) D; flush_local; D = garbage; unlock
 * Forbidden: garbage at the target. The data has 8 bytes to 1 MB. Runs on each window kind.
 * MPI-5.0 12.3.5, 12.5.4
 * np: 2 3
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { MOST = 130000, TIMES = 24 };

static void body(struct window *w) {
	static const int counts[] = {1, 50, 3000, MOST};
	int64_t *mem = w->mem, *data = malloc(MOST * 8);
	int right = (w->rank + 1) % w->n, left = (w->rank + w->n - 1) % w->n;
	MPI_Datatype L = MPI_INT64_T;
	for (int i = 0; i < TIMES; i++) {
		int count = counts[i % 4];
		MPI_Request r;
		for (int k = 0; k < count; k++)
			data[k] = w->rank * 1000 + i + k;
		MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win);
		switch (i / 4) {
		case 0:
			MPI_Put(data, count, L, right, window_at(w, right, 0), count, L, w->win);
			MPI_Win_flush_local(right, w->win);
			break;
		case 1:
			MPI_Accumulate(data, count, L, right, window_at(w, right, 0), count, L, MPI_REPLACE, w->win);
			MPI_Win_flush_local(right, w->win);
			break;
		case 2:
			MPI_Put(data, count, L, right, window_at(w, right, 0), count, L, w->win);
			MPI_Win_flush_local_all(w->win);
			break;
		case 3:
			MPI_Rput(data, count, L, right, window_at(w, right, 0), count, L, w->win, &r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			break;
		case 4:
			MPI_Raccumulate(data, count, L, right, window_at(w, right, 0), count, L, MPI_REPLACE, w->win,
					&r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			break;
		case 5:
			MPI_Rput(data, count, L, right, window_at(w, right, 0), count, L, w->win, &r);
			for (int done = 0; !done;)
				MPI_Test(&r, &done, MPI_STATUS_IGNORE);
		}
		for (int k = 0; k < count; k++)
			data[k] = -1;
		MPI_Win_unlock(right, w->win);
		MPI_Barrier(w->comm);
		MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
		for (int k = 0; k < count; k++)
			if (mem[k] != left * 1000 + i + k) {
				CHECK(0, "%s window, case %d, %d elements: [%d] is %lld, not %d", w->name, i / 4, count,
				      k, (long long)mem[k], left * 1000 + i + k);
				break;
			}
		MPI_Win_unlock(w->rank, w->win);
		MPI_Barrier(w->comm);
	}
	free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(MOST * 8, 8, MPI_COMM_WORLD, body);
	return check_end();
}
