/* clean: A rank gets into a vector, flushes and sends the vector.
 * race: A rank sends a vector before its get into the vector is completed (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
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
	std::vector<int> result(8);
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Get(result.data(), 8, MPI_INT, 1, 0, 8, MPI_INT, win); /* @first */
#ifndef WRONG
		MPI_Win_flush(1, win);
#endif
		MPI_Send(result.data(), 8, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
	}
	if (rank == 1)
		MPI_Recv(result.data(), 8, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
