/* clean: One origin completes the request of its first put and flushes the target before it starts the second put.
 * race: One origin completes the request of its first put before it starts the second put. This completes the first put
 * only at the origin (MPI-5.0 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, other = 2;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @first */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifndef WRONG
		MPI_Win_flush(1, win);
#endif
		MPI_Rput(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @second */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
