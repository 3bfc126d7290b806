/* clean: Rank 0 creates a window over shared memory of rank 1. Rank 2 puts through this window, rank 3 puts to another
 * integer through the shared window.
 * race: Rank 0 creates a window over shared memory of rank 1. Rank 2 puts through this window, rank 3 puts to the same
 * integer through the shared window (MPI-5.0 12.2.3).
 *
 * np: 4
 * ref: mpich
 * find: race window=q,r target=0,1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int value = 1, unit, *peer;
	MPI_Aint size;
	MPI_Win other;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate_shared(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_shared_query(win, 1, &size, &unit, &peer);
	MPI_Win_create(peer, rank == 0 ? size : 0, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "r");
	MPI_Win_lock_all(0, win);
	MPI_Win_lock_all(0, other);
	if (rank == 2)
		MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, other); /* @first */
	if (rank == 3)
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 1, 3, 1, MPI_INT, win); /* @second */
#else
		MPI_Put(&value, 1, MPI_INT, 1, 4, 1, MPI_INT, win);
#endif
	MPI_Win_unlock_all(other);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
