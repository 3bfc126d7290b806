/* A window that is freed before MPI_Finalize.
 *
 * np: 2
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
