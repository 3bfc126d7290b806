/* clean: The ranks fence a window that has the hint no_locks (MPI-5.0 12.2.1).
 * error: Rank 0 locks a window that has the hint no_locks (MPI-5.0 12.2.1). The lock call may return an error.
 *
 * np: 2
 * ref: mpich
 * find: hint name=no_locks lines=use
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	int value = 1;
	MPI_Info info;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], info, MPI_COMM_WORLD, &win);
	MPI_Info_free(&info);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
#ifdef WRONG
	if (rank == 0 && MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win) == MPI_SUCCESS) { /* @use */
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		MPI_Win_unlock(1, win);
	}
#else
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
