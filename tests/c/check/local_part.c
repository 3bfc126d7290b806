/* clean: Four integers are the result buffer of a get in progress. A send reads the four integers after them.
 * race: Four integers are the result buffer of a get in progress, and a send includes the last of them (MPI-5.0 12.3).
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
	int values[8] = {0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0) {
		MPI_Get(values, 4, MPI_INT, 1, 0, 4, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Send(&values[3], 4, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
#else
		MPI_Send(&values[4], 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
	}
	if (rank == 1)
		MPI_Recv(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
