/* clean: Rank 0 flushes its put, then starts the nonblocking barrier (MPI-5.0 6.12).
 * race: Rank 0 starts the nonblocking barrier, then puts: the barrier orders only what precedes its start (MPI-5.0
 * 6.12).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
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
#ifdef WRONG
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
#endif
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
#ifndef WRONG
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
#endif
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
