/* Plain stores and loads in a shared window, ordered by MPI_Win_sync and a message or a barrier:
 *     rank 0: store x = i; sync; send        rank 1: receive; sync; load x
 * Forbidden: the load gives an old value. All ranks form a ring; messages and barriers alternate.
 * MPI-5.0 12.4, 12.5.4
 * np: 2 4
 * nodes: 1 (the window is shared)
 * timeout: 60
 */
#include "../check.h"

enum { TIMES = 500, COUNT = 20 };

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, right = (me + 1) % n, left = (me + n - 1) % n, unit, token;
	volatile int *mine, *theirs;
	MPI_Aint size;
	MPI_Win win;
	MPI_Win_allocate_shared(COUNT * sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	MPI_Win_shared_query(win, left, &size, &unit, &theirs);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	for (int i = 1; i <= TIMES; i++) {
		for (int k = 0; k < COUNT; k++)
			mine[k] = me * 100000 + i + k;
		MPI_Win_sync(win);
		if (i % 2) {
			MPI_Sendrecv(&i, 1, MPI_INT, right, 0, &token, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
		} else {
			MPI_Barrier(MPI_COMM_WORLD);
		}
		MPI_Win_sync(win);
		for (int k = 0; k < COUNT; k++)
			CHECK(theirs[k] == left * 100000 + i + k, "turn %d: [%d] is %d, not %d", i, k, theirs[k],
			      left * 100000 + i + k);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	return check_end();
}
