/* clean: Rank 0 flushes the target of its put before the barrier, and rank 1 puts after the barrier (MPI-5.0 12.5.4).
 * race: Rank 0 flushes another target, which does not complete the put. Rank 1 puts after the barrier (MPI-5.0 12.5.4).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Win_flush(1, win);
#else
		MPI_Win_flush(2, win);
#endif
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
