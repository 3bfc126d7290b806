/* Proves: no rank leaves an MPI_Barrier before all ranks have entered it. Each rank counts its entries in a shared
 *   window and checks the other counts after the barrier. Runs thousands of barriers on several communicators.
 *   MPI-5.0 6.3
 * np: 1 2 5
 * ref: mpich
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * timeout: 60
 */
#include "../check.h"
#include <stdatomic.h>

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, unit, times = n > 2 ? 60 : 2000;
	MPI_Aint size;
	_Atomic int *mine, *theirs[64];
	MPI_Win win;
	MPI_Comm half, copy;
	MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	for (int r = 0; r < n; r++)
		MPI_Win_shared_query(win, r, &size, &unit, &theirs[r]);
	atomic_store(mine, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 1; i <= times; i++) {
		atomic_store(mine, i);
		MPI_Barrier(i % 2 ? MPI_COMM_WORLD : copy);
		for (int r = 0; r < n; r++)
			CHECK(atomic_load(theirs[r]) >= i, "barrier %d: rank %d has entered %d", i, r,
			      atomic_load(theirs[r]));
		if (i % 5 == 0)
			MPI_Barrier(half);
		if (i % 7 == 0)
			MPI_Barrier(MPI_COMM_SELF);
	}
	MPI_Win_free(&win);
	MPI_Comm_free(&half);
	MPI_Comm_free(&copy);
	return check_end();
}
