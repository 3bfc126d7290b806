/* clean: Rank 1 cancels a receive, then receives the message of rank 0 and puts. The message orders the puts
 * (MPI-5.0 3.8.4).
 * race: Rank 1 cancels a receive and puts, then receives the message of rank 0. A cancelled receive orders nothing
 * (MPI-5.0 3.8.4).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>
#include <unistd.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;
	MPI_Request request;
	MPI_Status status;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
		MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
	}
	if (rank == 1) {
		usleep(100000); /* lets rank 0 send its message, which has another tag than the receive below */
		MPI_Irecv(NULL, 0, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, &status);
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
		MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
		MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
