/* Proves: when MPI_Win_flush (or flush_all) has returned, the operation is complete at the target. A third rank is
 *   notified by a message and then reads the new value from the target. The target itself reads it too. Runs many
 *   rounds in one lock_all epoch. Tests every window kind. MPI-5.0 12.5.4
 * np: 1 2 3 5
 * nodes: 2
 * args: flush flush_all
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../epochs.h"

enum { TIMES = 20, COUNT = 200 };

static void body(struct window *w) {
	int n = w->n, *mem = w->mem, values[COUNT], got[COUNT], token = 0, target = n > 1, reader = n - 1;
	memset(mem, 0, sizeof values);
	epoch_publish(w);
	MPI_Barrier(w->comm);
	MPI_Win_lock_all(0, w->win);
	for (int time = 1; time <= TIMES; time++) {
		if (w->rank == 0) {
			for (int i = 0; i < COUNT; i++)
				values[i] = time * 1000 + i;
			if (time % 2)
				MPI_Put(values, COUNT, MPI_INT, target, window_at(w, target, 0), COUNT, MPI_INT,
					w->win);
			else
				MPI_Accumulate(values, COUNT, MPI_INT, target, window_at(w, target, 0), COUNT, MPI_INT,
					       MPI_REPLACE, w->win);
			if (strcmp(check_arg, "flush") == 0)
				MPI_Win_flush(target, w->win);
			else
				MPI_Win_flush_all(w->win);
			for (int r = 1; r < n; r++)
				MPI_Send(&time, 1, MPI_INT, r, 0, w->comm);
		} else {
			MPI_Recv(&token, 1, MPI_INT, 0, 0, w->comm, MPI_STATUS_IGNORE);
		}
		if (w->rank == reader) {
			MPI_Get(got, COUNT, MPI_INT, target, window_at(w, target, 0), COUNT, MPI_INT, w->win);
			MPI_Win_flush(target, w->win);
			for (int i = 0; i < COUNT; i++)
				CHECK(got[i] == time * 1000 + i, "%s window: rank %d reads %d, not %d", w->name, reader,
				      got[i], time * 1000 + i);
		}
		if (w->rank == target) {
			MPI_Win_sync(w->win);
			for (int i = 0; i < COUNT; i++)
				CHECK(mem[i] == time * 1000 + i, "%s window: the target reads %d, not %d", w->name,
				      mem[i], time * 1000 + i);
		}
		MPI_Barrier(w->comm);
	}
	MPI_Win_unlock_all(w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(sizeof(int) * COUNT, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
