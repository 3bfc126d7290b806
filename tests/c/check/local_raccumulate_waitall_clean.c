/* Two request-based accumulates have one origin buffer; both requests are waited for, then the buffer is received
 * into.
 *
 * np: 2
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, other = 2;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Raccumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win, &requests[0]);
		MPI_Raccumulate(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_SUM, win, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (rank == 1)
		MPI_Send(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
