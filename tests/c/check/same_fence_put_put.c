/* clean: One origin puts twice to one integer, with a fence between the puts.
 * race: One origin puts twice to one integer between the same two fences (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int value = 1, other = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	if (rank == 0)
		MPI_Put(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
