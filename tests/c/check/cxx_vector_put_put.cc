/* clean: Two origins put to one element of a vector, with a fence between the puts.
 * race: Two origins put to one element of a vector between the same two fences (MPI-5.0 12.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <vector>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<int> memory(8);
	MPI_Win win;
	MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	int value = rank;
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
