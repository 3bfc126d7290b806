/* clean: Two origins put to rank 2 under shared locks while each holds an exclusive lock of rank 3. They unlock rank 2
 * before rank 3, so the lock of rank 3 orders the puts (MPI-5.0 12.5.3).
 * race: Two origins put to rank 2 under shared locks while each holds an exclusive lock of its own memory. These two
 * locks do not exclude each other (MPI-5.0 12.5.3).
 *
 * np: 4
 * ref: mpich
 * find: race window=q target=2 lines=put,put needs=calls
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
#ifdef WRONG
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
#else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
#endif
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @put */
		MPI_Win_unlock(2, win);
#ifdef WRONG
		MPI_Win_unlock(rank, win);
#else
		MPI_Win_unlock(3, win);
#endif
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
