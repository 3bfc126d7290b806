/* clean: The program frees a window after a fence on it.
 * error: The program calls a fence on a window that it has freed (MPI-5.0 12.2.5). The fence returns an error.
 *
 * np: 2
 * ref: mpich
 * ref error: none (a freed handle is undefined there)
 * find: freed object=window lines=free,use
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	MPI_Win win, copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	copy = win;
#ifdef WRONG
	MPI_Win_free(&win);     /* @free */
	MPI_Win_fence(0, copy); /* @use */
#else
	MPI_Win_fence(0, copy);
	MPI_Win_free(&win);
#endif
	MPI_Finalize();
	return 0;
}
