/* clean: One origin gets an integer, completes the request, and puts to the integer.
 * race: One origin gets an integer with a request and puts to it before the request is completed (MPI-5.0 12.3.5).
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
	int value = 1, result;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Rget(&result, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @first */
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
