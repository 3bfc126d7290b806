/* clean: Rank 2 puts to shared memory of rank 1. After a fence, rank 0 receives a message there through a pointer.
 * race: Rank 2 puts to shared memory of rank 1. In the same epoch, rank 0 receives a message into that memory through a
 * pointer (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int value = 1;
	int unit, *peer;
	MPI_Aint size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_shared_query(win, 1, &size, &unit, &peer);
	MPI_Win_fence(0, win);
	if (rank == 2)
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Recv(peer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
