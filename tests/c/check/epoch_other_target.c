/* clean: Rank 0 gets from the target that it has locked (MPI-5.0 12.5.3).
 * error: Rank 0 gets from a target, but has locked only another target (MPI-5.0 12.5.3). The get fails.
 *
 * np: 3
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
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
#ifdef WRONG
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @use */
#else
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
		MPI_Win_unlock(1, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
