/* clean: Rank 1 tests a nonblocking reduction until it is complete, then puts (MPI-5.0 6.12).
 * race: Rank 1 starts a nonblocking reduction, puts, and waits for the reduction after the put (MPI-5.0 6.12).
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
	int value = 1, sum;
#ifndef WRONG
	int done = 0;
#endif
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
	MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
#ifndef WRONG
	while (!done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
#ifdef WRONG
	MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
