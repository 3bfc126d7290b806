/* An exposure epoch of a rank that makes no MPI call until the origins have completed their access epochs:
 *     rank 0: post; block in read(2) or compute until the other ranks have signaled; wait
 *     the other ranks: start; put, accumulate; complete; signal without MPI
 * Forbidden: complete does not return. Runs with small and large data on each window kind.
 * MPI-5.0 12.7.3
 * np: 2 4
 * nodes: 1 (the other ranks signal the target through shared memory)
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#include "../no_progress.h"
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { MOST = 30000, TIMES = 4 };

static int how;

static void body(struct window *w) {
	int *mem = w->mem, *data = malloc(MOST * sizeof(int)), others[64], zero = 0;
	char text[200];
	MPI_Group all, origins, target;
	MPI_Win_get_group(w->win, &all);
	for (int i = 1; i < w->n; i++)
		others[i - 1] = i;
	MPI_Group_incl(all, w->n - 1, others, &origins);
	MPI_Group_incl(all, 1, &zero, &target);
	for (int time = 0; time < TIMES; time++) {
		int count = time % 2 ? MOST : 3;
		if (w->rank == 0) {
			mem[0] = 0;
			MPI_Win_post(origins, 0, w->win);
			away_until(how, w->n - 1);
			MPI_Win_wait(w->win);
			CHECK(mem[0] == w->n - 1, "%s window: the sum is %d", w->name, mem[0]);
			for (int r = 1; r < w->n; r++)
				CHECK(mem[r * MOST + count - 1] == r + time, "%s window: rank %d put %d", w->name, r,
				      mem[r * MOST + count - 1]);
		} else {
			int one = 1;
			for (int i = 0; i < count; i++)
				data[i] = w->rank + time;
			snprintf(text, sizeof text, "start, put of %d elements, complete on a %s window, target %s",
				 count, w->name, away_name[how]);
			away_watch(text);
			MPI_Win_start(target, 0, w->win);
			MPI_Put(data, count, MPI_INT, 0, window_at(w, 0, w->rank * MOST), count, MPI_INT, w->win);
			MPI_Accumulate(&one, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, MPI_SUM, w->win);
			MPI_Win_complete(w->win);
			away_call(how);
		}
		MPI_Barrier(w->comm);
	}
	MPI_Group_free(&all);
	MPI_Group_free(&origins);
	MPI_Group_free(&target);
	free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	away_begin();
	for (how = 0; how < AWAYS; how++)
		windows_each((MPI_Aint)MOST * 4 * check_size, 4, MPI_COMM_WORLD, body);
	away_end();
	return check_end();
}
