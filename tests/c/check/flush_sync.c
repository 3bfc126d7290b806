/* clean: Rank 0 puts, flushes and calls MPI_Win_sync before the barrier. Rank 1 gets after the barrier.
 * race: Rank 0 puts and calls MPI_Win_sync, which completes no put. Rank 1 gets after the barrier (MPI-5.0 12.5.4).
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
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_flush(2, win);
#endif
		MPI_Win_sync(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
