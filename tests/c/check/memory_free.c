/* clean: The program frees memory from malloc after it frees the window on it (MPI-5.0 12.2.5).
 * error: The program frees memory from malloc while the window on it exists (MPI-5.0 12.2.5).
 *
 * np: 2
 * ref: mpich
 * find: memory window=q lines=free
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	char *mem;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	mem = malloc(4096);
	MPI_Win_create(mem, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#ifdef WRONG
	free(mem); /* @free */
	MPI_Win_free(&win);
#else
	MPI_Win_free(&win);
	free(mem);
#endif
	MPI_Finalize();
	return 0;
}
