/* clean: Rank 0 writes a shared array and rank 1 updates it, with MPI_Win_sync and a barrier between (MPI-5.0 12.7).
 * race: Rank 0 writes a shared array and rank 1 updates it, without a barrier between (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=0 lines=first,second needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int *memory;
	MPI_Win win;
	MPI_Win_allocate_shared(rank == 0 ? 8 * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
				&win);
	MPI_Win_set_name(win, "q");
	MPI_Aint size;
	int unit;
	MPI_Win_shared_query(win, 0, &size, &unit, &memory);
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		for (int i = 0; i < 8; i++)
			memory[i] = i; /* @first */
#ifndef WRONG
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
#endif
	if (rank == 1)
		for (int i = 0; i < 8; i++)
			memory[i] *= 2; /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
