/* clean: Rank 0 calls MPI_Win_unlock_all before a barrier, and rank 1 puts after the barrier.
 * race: Rank 0 puts under MPI_Win_lock_all before a barrier and unlocks after the barrier. Rank 1 also puts after the
 * barrier, while the first put may be in progress (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 0) {
		MPI_Win_lock_all(0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_unlock_all(win);
#endif
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_unlock(2, win);
	}
#ifdef WRONG
	if (rank == 0)
		MPI_Win_unlock_all(win);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
