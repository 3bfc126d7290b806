/* clean: Rank 0 stores to memory of rank 1. Rank 1 reads the memory after MPI_Win_sync, a barrier and another
 * MPI_Win_sync (MPI-5.0 12.7).
 * race: Rank 0 stores to memory of rank 1, and rank 1 reads that memory. Nothing orders the store and the load (MPI-5.0
 * 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int unit, *peer;
	MPI_Aint size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_shared_query(win, 1, &size, &unit, &peer);
	MPI_Win_lock_all(0, win);
	if (rank == 0)
		peer[0] = 3; /* @first */
#ifndef WRONG
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
#endif
	if (rank == 1)
		printf("%d\n", mem[0] == 3); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
