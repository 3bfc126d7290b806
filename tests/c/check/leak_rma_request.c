/* clean: Rank 0 waits for the request of its put before the unlock (MPI-5.0 12.3.5).
 * error: Rank 0 never waits for the request of its put, although the unlock completes the put (MPI-5.0 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: leak object=request rank=0 lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @made */
#ifndef WRONG
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
