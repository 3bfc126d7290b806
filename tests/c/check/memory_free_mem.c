/* clean: The program frees memory from MPI_Alloc_mem after it frees the window on it (MPI-5.0 9.2).
 * error: The program frees memory from MPI_Alloc_mem while the window on it exists (MPI-5.0 9.2).
 *
 * np: 2
 * ref: mpich
 * find: memory window=q lines=free
 */
#include <mpi.h>

int main(int argc, char **argv) {
	char *mem;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Alloc_mem(4096, MPI_INFO_NULL, &mem);
	MPI_Win_create(mem, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#ifdef WRONG
	MPI_Free_mem(mem); /* @free */
	MPI_Win_free(&win);
#else
	MPI_Win_free(&win);
	MPI_Free_mem(mem);
#endif
	MPI_Finalize();
	return 0;
}
