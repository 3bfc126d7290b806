/* clean: MPI_Waitany completes one of two request-based gets, and the result of that get is sent (MPI-5.0 12.3.5).
 * race: MPI_Waitany completes one of two request-based gets, and the result of the other get is sent (MPI-5.0 12.3.5).
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
	int values[2], other, index;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		for (int i = 0; i < 2; i++)
			MPI_Rget(&values[i], 1, MPI_INT, 1, i, 1, MPI_INT, win, &requests[i]); /* @first */
		MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
#ifdef WRONG
		MPI_Send(&values[1 - index], 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
#else
		MPI_Send(&values[index], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	if (rank == 1)
		MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
