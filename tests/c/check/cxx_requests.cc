/* clean: A rank waits for the requests of four gets and sends all results (MPI-5.0 12.3.5).
 * race: A rank waits for the requests of three of four gets, but sends the results of all four (MPI-5.0 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>
#include <array>
#include <vector>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	std::vector<int> memory(8);
	MPI_Win win;
	MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	std::array<int, 4> results{};
	std::array<MPI_Request, 4> requests;
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		for (int i = 0; i < 4; i++)
			MPI_Rget(&results[i], 1, MPI_INT, 1, i, 1, MPI_INT, win, &requests[i]); /* @first */
#ifdef WRONG
		MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
		MPI_Send(results.data(), 4, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
		MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
#else
		MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
		MPI_Send(results.data(), 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
	}
	if (rank == 1)
		MPI_Recv(results.data(), 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
