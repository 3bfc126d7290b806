/* clean: A rank waits for the first of two request-based gets and sends the result of the first.
 * race: A rank waits for the first of two request-based gets and sends the result of the second (MPI-5.0 12.3.5).
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
	int values[2], other;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Rget(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win, &requests[0]);
		MPI_Rget(&values[1], 1, MPI_INT, 1, 1, 1, MPI_INT, win, &requests[1]); /* @first */
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#ifdef WRONG
		MPI_Send(&values[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
#else
		MPI_Send(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	}
	if (rank == 1)
		MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
