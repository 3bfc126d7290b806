/* clean: Two windows have the same memory. Rank 0 puts through one window. All ranks fence both windows, and rank 1
 * gets through the other window (MPI-5.0 12.7).
 * race: Rank 0 puts through one of two windows. All ranks fence only the other window, which does not complete the put.
 * Then rank 1 gets through the other window (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q,r target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win, other;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "r");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#endif
	MPI_Win_fence(0, other);
	if (rank == 1)
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, other); /* @second */
	MPI_Win_fence(MPI_MODE_NOSUCCEED, other);
#ifdef WRONG
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#endif
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
