/* Rank 0 creates a window over memory of rank 1 that is shared; rank 2 puts through that window, rank 3 through the
 * shared one to another integer.
 *
 * np: 4
 * ref: mpich
 * find: nothing
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
		MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, other);
	if (rank == 3)
		MPI_Put(&value, 1, MPI_INT, 1, 4, 1, MPI_INT, win);
	MPI_Win_unlock_all(other);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
