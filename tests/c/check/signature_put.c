/* clean: The origin puts an int and the target type is an int (MPI-5.0 12.3.1).
 * error: The origin puts an int and the target type is a float of the same size (MPI-5.0 12.3.1).
 *
 * np: 2
 * ref: mpich
 * find: signature lines=here
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_FLOAT, win); /* @here */
#else
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
