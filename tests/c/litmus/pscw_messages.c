/* Epochs combined with messages, in orders that terminate only with strong progress. m is a synchronous message, D the
 * data of an operation:
 *     a   rank 0: start put(D) complete send(m)            rank 1: post receive(m) wait
 *     b   rank 0: receive(m) start put(D) complete         rank 1: post send(m) wait
 *     c   rank 0: start put(D) complete receive(m)         rank 1: post wait send(m)
 *     d   rank 0: start get(D) complete send(m)            rank 1: post receive(m) wait
 *     e   rank 0: send(m) start accumulate(D) complete     rank 1: receive(m) post wait
 * Forbidden: a rank waits forever. Runs with small and large data on each window kind.
 * MPI-5.0 12.7.3
 * np: 2
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { MOST = 200000, TIMES = 5 };

static MPI_Group pair;

static void origin(struct window *w, char order, int *data, int count) {
	int m = 0;
	if (order == 'b')
		MPI_Recv(&m, 1, MPI_INT, 1, 0, w->comm, MPI_STATUS_IGNORE);
	if (order == 'e')
		MPI_Ssend(&m, 1, MPI_INT, 1, 0, w->comm);
	MPI_Win_start(pair, 0, w->win);
	if (order == 'd')
		MPI_Get(data, count, MPI_INT, 1, window_at(w, 1, 0), count, MPI_INT, w->win);
	else if (order == 'e')
		MPI_Accumulate(data, count, MPI_INT, 1, window_at(w, 1, 0), count, MPI_INT, MPI_REPLACE, w->win);
	else
		MPI_Put(data, count, MPI_INT, 1, window_at(w, 1, 0), count, MPI_INT, w->win);
	MPI_Win_complete(w->win);
	if (order == 'a' || order == 'd')
		MPI_Ssend(&m, 1, MPI_INT, 1, 0, w->comm);
	if (order == 'c')
		MPI_Recv(&m, 1, MPI_INT, 1, 0, w->comm, MPI_STATUS_IGNORE);
}

static void target(struct window *w, char order) {
	int m = 0;
	if (order == 'e')
		MPI_Recv(&m, 1, MPI_INT, 0, 0, w->comm, MPI_STATUS_IGNORE);
	MPI_Win_post(pair, 0, w->win);
	if (order == 'a' || order == 'd')
		MPI_Recv(&m, 1, MPI_INT, 0, 0, w->comm, MPI_STATUS_IGNORE);
	if (order == 'b')
		MPI_Ssend(&m, 1, MPI_INT, 0, 0, w->comm);
	MPI_Win_wait(w->win);
	if (order == 'c')
		MPI_Ssend(&m, 1, MPI_INT, 0, 0, w->comm);
}

static void body(struct window *w) {
	int *mem = w->mem, *data = malloc(MOST * sizeof(int)), other = 1 - w->rank;
	MPI_Group all;
	MPI_Win_get_group(w->win, &all);
	MPI_Group_incl(all, 1, &other, &pair);
	for (int time = 0; time < TIMES; time++)
		for (char order = 'a'; order <= 'e'; order++) {
			int count = time % 2 ? MOST : 10, mark = time * 100 + order;
			for (int i = 0; i < count; i++)
				data[i] = mark + i, mem[i] = order == 'd' ? mark + 5 + i : -1;
			if (w->rank == 0)
				origin(w, order, data, count);
			else
				target(w, order);
			int *got = w->rank == 0 ? data : mem, last = count - 1;
			int want = order == 'd' ? mark + 5 + last : mark + last;
			CHECK((w->rank == 0 && order != 'd') || got[last] == want, "%s window, order %c: %d, not %d",
			      w->name, order, got[last], want);
		}
	MPI_Group_free(&all);
	MPI_Group_free(&pair);
	free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(MOST * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
