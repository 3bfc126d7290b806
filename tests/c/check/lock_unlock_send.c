/* clean: Rank 0 puts, unlocks and sends a message to rank 1, which then gets under a shared lock (MPI-5.0 12.5.3).
 * race: Rank 0 puts and sends a message to rank 1 before it unlocks. Rank 1 then gets under a shared lock, when the put
 * may still be in progress (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

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
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
		MPI_Win_unlock(2, win);
#else
		MPI_Win_unlock(2, win);
		MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
	}
	if (rank == 1) {
		MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_unlock(2, win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
