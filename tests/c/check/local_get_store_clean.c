/* The result buffer of a get is stored to before the get and after the fence.
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
	int value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0) {
		value = 3;
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	}
	MPI_Win_fence(0, win);
	value = 4;
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
