/* Proves: locks work on a window with the info key no_locks. Locks of both types exclude each other. lock_all works
 *   with and without MPI_MODE_NOCHECK, fences work too, and MPI_Win_free may follow at once. Programs that set the key
 *   and lock anyway are erroneous but work with other libraries. An example is the Parallel Research Kernels on shared
 *   windows. Tests every window kind. MPI-5.0 12.2.1, 12.5.3
 * np: 1 2 4
 * args: lock lock_all nocheck fence
 * again: GOMPIRMA_SHARE_IN_PLACE=1
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

enum { TIMES = 50 };

/* Adds one to the counter at rank 0 by a get and a put, which only the lock makes atomic. */
static void count(struct window *w, int i) {
	int *mem = w->mem, value = -1;
	MPI_Aint at = window_at(w, 0, 0);
	CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
	CHECK_OK(MPI_Get(&value, 1, MPI_INT, 0, at, 1, MPI_INT, w->win));
	CHECK_OK(MPI_Win_flush(0, w->win));
	value++;
	CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, at, 1, MPI_INT, w->win));
	CHECK_OK(MPI_Win_unlock(0, w->win));
	CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
	mem[1] = i;
	CHECK_OK(MPI_Win_unlock(w->rank, w->win));
}

/* Adds one to the counter at rank 0 by an atomic operation. */
static void add(struct window *w) {
	int one = 1;
	CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, window_at(w, 0, 0), 1, MPI_INT, MPI_SUM, w->win));
}

static void body(struct window *w) {
	int *mem = w->mem, assertion = strcmp(check_arg, "nocheck") == 0 ? MPI_MODE_NOCHECK : 0;
	MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
	mem[0] = mem[1] = 0;
	if (strcmp(check_arg, "fence") == 0)
		CHECK_OK(MPI_Win_fence(0, w->win));
	else
		MPI_Barrier(w->comm);
	for (int i = 0; i < TIMES; i++) {
		if (strcmp(check_arg, "lock") == 0) {
			count(w, i);
		} else if (strcmp(check_arg, "fence") == 0) {
			add(w);
			CHECK_OK(MPI_Win_fence(0, w->win));
		} else {
			CHECK_OK(MPI_Win_lock_all(assertion, w->win));
			add(w);
			CHECK_OK(MPI_Win_flush_all(w->win));
			CHECK_OK(MPI_Win_sync(w->win));
			CHECK_OK(MPI_Win_unlock_all(w->win));
		}
	}
	MPI_Barrier(w->comm);
	if (w->rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
		CHECK(mem[0] == TIMES * w->n, "%s window: %d of %d additions", w->name, mem[0], TIMES * w->n);
		MPI_Win_unlock(0, w->win);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Info_create(&windows_info);
	MPI_Info_set(windows_info, "no_locks", "true");
	windows_each(2 * sizeof(int), sizeof(int), MPI_COMM_WORLD, body);
	MPI_Info_free(&windows_info);
	return check_end();
}
