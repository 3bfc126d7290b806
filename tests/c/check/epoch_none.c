/* clean: Rank 0 puts between two fences (MPI-5.0 12.5.1).
 * error: Rank 0 puts before any epoch is open (MPI-5.0 12.5). The put returns an error.
 *
 * np: 2
 * ref: mpich
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
#ifdef WRONG
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @use */
#else
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
