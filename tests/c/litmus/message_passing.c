/* Message passing through the window of rank 0. Rank 2 reads; if there are only two ranks, rank 0 reads:
 *     rank 1: put data = i; flush; accumulate REPLACE flag = i; flush
 *     rank 2: repeat f = get_accumulate NO_OP flag until f = i; then get data; flush
 * Forbidden: the reader sees flag i and data < i. Runs with small and large data on each window kind.
 * MPI-5.0 12.5.4
 * np: 2 3
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 60, MOST = 3000 };

static void body(struct window *w) {
	int64_t *data = malloc(MOST * 8), flag;
	int reader = w->n > 2 ? 2 : 0;
	MPI_Datatype L = MPI_INT64_T;
	window_zero(w);
	MPI_Win_lock_all(0, w->win);
	for (int64_t i = 1; i <= TIMES; i++) {
		int count = i % 3 == 0 ? MOST : i % 3 == 1 ? 1 : 40;
		if (w->rank == 1) {
			for (int k = 0; k < count; k++)
				data[k] = i;
			MPI_Put(data, count, L, 0, window_at(w, 0, 8), count, L, w->win);
			MPI_Win_flush(0, w->win);
			MPI_Accumulate(&i, 1, L, 0, window_at(w, 0, 0), 1, L, MPI_REPLACE, w->win);
			MPI_Win_flush(0, w->win);
			MPI_Recv(NULL, 0, MPI_INT, reader, 0, w->comm, MPI_STATUS_IGNORE);
		} else if (w->rank == reader) {
			for (flag = 0; flag < i;) {
				MPI_Fetch_and_op(NULL, &flag, L, 0, window_at(w, 0, 0), MPI_NO_OP, w->win);
				MPI_Win_flush(0, w->win);
			}
			memset(data, 0, MOST * 8);
			MPI_Get(data, count, L, 0, window_at(w, 0, 8), count, L, w->win);
			MPI_Win_flush(0, w->win);
			for (int k = 0; k < count; k++)
				CHECK(data[k] == i, "%s window: flag %d, element %d of %d is %d", w->name, (int)i, k,
				      count, (int)data[k]);
			MPI_Send(NULL, 0, MPI_INT, 1, 0, w->comm);
		}
	}
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(w->comm);
	free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(8 * (MOST + 8), 8, MPI_COMM_WORLD, body);
	return check_end();
}
