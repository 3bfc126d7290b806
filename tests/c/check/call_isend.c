/* clean: Rank 1 waits before the barrier for its send of window memory. Rank 0 puts after the barrier.
 * race: Rank 1 waits at the end for its send of window memory. Rank 0 puts there after the barrier, while the send may
 * be in progress (MPI-5.0 3.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
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
	if (rank == 1) {
		MPI_Isend(mem, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request); /* @first */
#ifndef WRONG
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 2)
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
#ifdef WRONG
	if (rank == 1)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
