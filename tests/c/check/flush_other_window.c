/* clean: Rank 0 flushes the target in the window of its put. After a barrier, rank 1 puts (MPI-5.0 12.5.4).
 * race: Rank 0 flushes the same target in another window, which does not complete the put. After a barrier, rank 1 puts
 * (MPI-5.0 12.5.4).
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
	static int elsewhere[8];
	MPI_Win other;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_create(elsewhere, sizeof elsewhere, sizeof elsewhere[0], MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_lock_all(0, win);
	MPI_Win_lock_all(0, other);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Win_flush(2, other);
#else
		MPI_Win_flush(2, win);
#endif
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(other);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&other);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
