/* Reported (open-mpi/ompi issue 3750): on a dynamic window over the memory of a shared window (dynamic_shared), a rank
 * polled its own memory with MPI_Fetch_and_op (MPI_NO_OP) and MPI_Win_flush_local. The accumulates of the other ranks
 * to that memory never completed, and the loop did not end.
 * Must hold: the loop ends when all other ranks have accumulated to the memory: on that window, on a dynamic window
 * over ordinary memory (dynamic_malloc), and on every other window kind (others). MPI-5.0 12.7.3
 * np: 2 4
 * args: dynamic_shared dynamic_malloc others
 * ref: mpich
 * nodes: 1 (the window is shared)
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"
#include <sched.h>

enum { SIGNALS = 20 };

static void signals(MPI_Win win, MPI_Aint disp, MPI_Comm comm, const char *name) {
	int rank, n, one = 1, seen;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &n);
	MPI_Win_lock_all(0, win);
	for (int s = 1; s <= SIGNALS; s++) {
		if (rank != 0) {
			CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, disp, 1, MPI_INT, MPI_SUM, win));
			MPI_Win_flush(0, win);
		} else {
			do {
				sched_yield();
				seen = -1;
				CHECK_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, disp, MPI_NO_OP, win));
				MPI_Win_flush_local(0, win);
				CHECK(seen >= 0 && seen <= SIGNALS * (n - 1), "%s: %d signals", name, seen);
			} while (seen < s * (n - 1) && check_errors == 0);
		}
	}
	MPI_Win_unlock_all(win);
}

static void dynamic(int shared) {
	int *mem;
	MPI_Win owner = MPI_WIN_NULL, win;
	MPI_Aint disp;
	if (shared)
		MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &owner);
	else
		mem = malloc(64);
	*mem = 0;
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_attach(win, mem, 64);
	MPI_Get_address(mem, &disp);
	MPI_Bcast(&disp, 1, MPI_AINT, 0, MPI_COMM_WORLD);
	signals(win, disp, MPI_COMM_WORLD,
		shared ? "dynamic window, memory of a shared one" : "dynamic window, memory of malloc");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_detach(win, mem);
	MPI_Win_free(&win);
	if (shared)
		MPI_Win_free(&owner);
	else
		free(mem);
}

static void body(struct window *w) {
	*(int *)w->mem = 0;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win);
	MPI_Win_unlock(w->rank, w->win);
	MPI_Barrier(w->comm);
	signals(w->win, window_at(w, 0, 0), w->comm, w->name);
	MPI_Barrier(w->comm);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "others") == 0)
		windows_each(64, 4, MPI_COMM_WORLD, body);
	else
		dynamic(strcmp(check_arg, "dynamic_shared") == 0);
	return check_end();
}
