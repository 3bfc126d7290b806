/* clean: A rank receives a message into the origin buffer of a put after MPI_Request_get_status has reported that the
 * put is complete (MPI-5.0 3.7.6).
 * race: A rank receives a message into the origin buffer of a put before MPI_Request_get_status has reported that the
 * put is complete (MPI-5.0 3.7.6).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=put,recv needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, done = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Request request;
		MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @put */
#ifdef WRONG
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
		while (!done)
			MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
#else
		while (!done)
			MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
