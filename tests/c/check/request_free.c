/* clean: A rank frees the request of a send, and reuses the buffer after the receiver has reported that it has the
 * message (MPI-5.0 3.7.3).
 * race: A rank frees the request of a send, and reuses the buffer before the receiver has reported that it has the
 * message (MPI-5.0 3.7.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=isend,get needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, other = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Request request, next;
		MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* @isend */
		MPI_Request_free(&request);
		MPI_Isend(&other, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &next);
		MPI_Wait(&next, MPI_STATUS_IGNORE);
#ifdef WRONG
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @get */
		MPI_Recv(&other, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
		MPI_Recv(&other, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
		MPI_Win_flush(1, win);
	}
	if (rank == 1) {
		MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&other, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
