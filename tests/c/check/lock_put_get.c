/* clean: One origin puts under an exclusive lock, another gets under a shared lock (MPI-5.0 12.5.3).
 * race: One origin puts and another gets, both under shared locks, which do not exclude each other (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 0) {
#ifdef WRONG
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
#else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
#endif
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_unlock(2, win);
	}
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_unlock(2, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
