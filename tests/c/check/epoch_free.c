/* clean: All ranks call MPI_Win_free after the fence that completes the puts (MPI-5.0 12.2.5).
 * error: All ranks call MPI_Win_free after puts without a fence (MPI-5.0 12.2.5). MPI_Win_free returns an error.
 *
 * np: 2
 * ref: mpich
 * ref error: none (MPICH frees the window)
 * find: epoch window=q lines=use
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
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
#ifdef WRONG
	MPI_Win_free(&win); /* @use */
#endif
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
