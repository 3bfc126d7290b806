/* clean: Rank 1 adds one to each element of the vector after the fence that completes the put of rank 0.
 * race: Rank 1 adds one to each element of the vector while rank 0 puts to it (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=accesses
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
	int value = 3;
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 1, 5, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	if (rank == 1)
		for (int &element : memory)
			element += 1; /* @second */
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
