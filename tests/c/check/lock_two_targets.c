/* clean: Two origins put to rank 2 and then to rank 3, under an exclusive lock of each target (MPI-5.0 12.5.3).
 * race: Two origins put to rank 2 under an exclusive lock, then to rank 3 under shared locks, which do not exclude each
 * other (MPI-5.0 12.5.3).
 *
 * np: 4
 * ref: mpich
 * find: race window=q target=3 lines=put,put needs=calls
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
	if (rank < 2) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		MPI_Win_unlock(2, win);
#ifdef WRONG
		MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, win);
#else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
#endif
		MPI_Put(&value, 1, MPI_INT, 3, 0, 1, MPI_INT, win); /* @put */
		MPI_Win_unlock(3, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
