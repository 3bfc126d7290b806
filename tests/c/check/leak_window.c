/* clean: The program frees its window before MPI_Finalize.
 * error: The program never frees its window (MPI-5.0 11.2).
 *
 * np: 2
 * ref: mpich
 * ref error: none (an assertion of MPICH fails)
 * find: leak object=window lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win); /* @made */
	MPI_Win_fence(0, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#ifndef WRONG
	MPI_Win_free(&win);
#endif
	MPI_Finalize();
	return 0;
}
