/* clean: Two windows have the same memory. Two origins put under exclusive locks of the same window (MPI-5.0 12.5.3).
 * race: Two windows have the same memory. Two origins put under exclusive locks of different windows. A lock is valid
 * for its own window only (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q,r target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int mem[8];
	MPI_Win win, other;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "r");
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_unlock(2, win);
	}
	if (rank == 1) {
#ifdef WRONG
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, other);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, other); /* @second */
		MPI_Win_unlock(2, other);
#else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		MPI_Win_unlock(2, win);
#endif
	}
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
