/* clean: Rank 2 receives into its integer under an exclusive lock of its own memory. Rank 0 puts to the integer under
 * an exclusive lock (MPI-5.0 12.5.3).
 * race: Rank 2 receives into its integer without a lock. Rank 0 puts there under an exclusive lock, which does not
 * exclude rank 2 (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
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
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_unlock(2, win);
	}
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
	if (rank == 2) {
#ifdef WRONG
		MPI_Recv(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
#else
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Recv(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Win_unlock(2, win);
#endif
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
