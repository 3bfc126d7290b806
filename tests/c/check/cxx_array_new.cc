/* clean: The program deletes an array after it frees the window on it (MPI-5.0 12.2.5).
 * error: The program deletes an array while the window on it exists (MPI-5.0 12.2.5).
 *
 * np: 2
 * ref: mpich
 * find: memory window=q lines=free
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int *memory = new int[8]();
	MPI_Win win;
	MPI_Win_create(memory, 8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#ifdef WRONG
	delete[] memory; /* @free */
	MPI_Win_free(&win);
#else
	MPI_Win_free(&win);
	delete[] memory;
#endif
	MPI_Finalize();
	return 0;
}
