/* clean: A block puts, flushes and throws an exception before a barrier (MPI-5.0 12.7).
 * race: A block puts and throws an exception before it flushes; a barrier follows (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stdexcept>
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
	MPI_Win_lock_all(0, win);
	try {
		if (rank == 0) {
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
			MPI_Win_flush(2, win);
#endif
			throw std::runtime_error("done");
		}
	} catch (const std::runtime_error &) {
		MPI_Win_sync(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
