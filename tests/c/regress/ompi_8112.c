/* Reported (open-mpi/ompi issue 8112): ranks incremented an array in rank 0's window between lock and unlock. They
 * waited very long while rank 0 was busy, but only if the window's memory came from MPI_Alloc_mem or malloc, not with
 * MPI_Win_allocate.
 * Must hold: on every window kind all increments complete while rank 0 makes no MPI call, and no increment is lost.
 * MPI-5.0 12.7.3
 * np: 2 4
 * nodes: 1 (the other ranks signal the target through shared memory)
 * ref: none (MPICH makes no progress while the target does not call it)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../no_progress.h"
#include "../windows.h"

enum { COUNT = 10, TURNS = 50 };

static int how;

static void body(struct window *w) {
	int *mem = w->mem, here[COUNT];
	char what[200];
	memset(mem, 0, COUNT * sizeof *mem);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	if (w->rank == 0) {
		away_until(how, w->n - 1);
	} else {
		snprintf(what, sizeof what, "lock, get, put, unlock on a window of kind %s, target %s", w->name,
			 away_name[how]);
		away_watch(what);
		for (int i = 0; i < TURNS; i++) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
			MPI_Get(here, COUNT, MPI_INT, 0, window_at(w, 0, 0), COUNT, MPI_INT, w->win);
			MPI_Win_flush(0, w->win);
			for (int k = 0; k < COUNT; k++)
				here[k] += k + 1;
			MPI_Put(here, COUNT, MPI_INT, 0, window_at(w, 0, 0), COUNT, MPI_INT, w->win);
			MPI_Win_unlock(0, w->win);
		}
		away_call(how);
	}
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	for (int k = 0; k < COUNT && w->rank == 0; k++)
		CHECK(mem[k] == (w->n - 1) * TURNS * (k + 1), "%s, %s: element %d is %d, not %d", w->name,
		      away_name[how], k, mem[k], (w->n - 1) * TURNS * (k + 1));
	MPI_Win_unlock(w->rank, w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	away_begin();
	for (how = 0; how < AWAYS; how++)
		windows_each(COUNT * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	away_end();
	return check_end();
}
