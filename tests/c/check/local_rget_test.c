/* clean: The result buffer of a request-based get is sent after MPI_Test has completed the request (MPI-5.0 12.3.5).
 * race: The result buffer of a request-based get is sent before MPI_Test has completed the request (MPI-5.0 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value, other, done = 0;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Rget(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @first */
#ifdef WRONG
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
		while (!done)
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
#else
		while (!done)
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
	}
	if (rank == 1)
		MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
