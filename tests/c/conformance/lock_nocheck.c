/* Proves: lock and lock_all with MPI_MODE_NOCHECK move data as checked locks do, if the program itself avoids
 *   conflicting locks. Tests every window kind. MPI-5.0 12.5.3, 12.5.5
 * np: 1 2 4
 * ref: mpich
 * timeout: 60
 */
#define WINDOWS_DYNAMIC
#include "../windows.h"

static void body(struct window *w) {
	int n = w->n, *mem = w->mem, copy;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, MPI_MODE_NOCHECK, w->win);
	mem[0] = 0;
	MPI_Win_unlock(w->rank, w->win);
	for (int turn = 0; turn < n; turn++) { /* the ranks read and write every window one after another */
		MPI_Barrier(w->comm);
		if (turn != w->rank)
			continue;
		for (int t = 0; t < n; t++) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, MPI_MODE_NOCHECK, w->win);
			MPI_Get(&copy, 1, MPI_INT, t, window_at(w, t, 0), 1, MPI_INT, w->win);
			MPI_Win_flush(t, w->win);
			copy = copy * 10 + turn + 1;
			MPI_Put(&copy, 1, MPI_INT, t, window_at(w, t, 0), 1, MPI_INT, w->win);
			MPI_Win_unlock(t, w->win);
		}
		MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
		for (int t = 0; t < n; t++) {
			MPI_Fetch_and_op(NULL, &copy, MPI_INT, t, window_at(w, t, 0), MPI_NO_OP, w->win);
			MPI_Win_flush_local(t, w->win);
			CHECK(copy % 10 == turn + 1, "%s window: read back %d", w->name, copy);
		}
		MPI_Win_unlock_all(w->win);
	}
	MPI_Barrier(w->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win);
	int want = 0;
	for (int turn = 0; turn < n; turn++)
		want = want * 10 + turn + 1;
	CHECK(mem[0] == want, "%s window: %d, not %d", w->name, mem[0], want);
	MPI_Win_unlock(w->rank, w->win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	windows_each(64, sizeof(int), MPI_COMM_WORLD, body);
	return check_end();
}
