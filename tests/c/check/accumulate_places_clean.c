/* A sum over integers 0 to 3 and a product over 4 to 7 have none in common: each location has one operation.
 *
 * np: 3
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int values[4] = {1, 2, 3, 4};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Accumulate(values, 4, MPI_INT, 2, 0, 4, MPI_INT, MPI_SUM, win);
	if (rank == 1)
		MPI_Accumulate(values, 4, MPI_INT, 2, 4, 4, MPI_INT, MPI_PROD, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
