/* clean: One origin puts twice to one integer, each time under an exclusive lock. The unlock completes the first put.
 * race: One origin puts twice to one integer under one exclusive lock: the lock excludes other ranks, but does not
 * order the two puts (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, other = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_unlock(1, win);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
#endif
		MPI_Put(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_unlock(1, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
