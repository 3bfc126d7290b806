/* clean: Ranks 0 and 1 call a barrier on an intercommunicator between their puts. Each group waits for the other group
 * (MPI-5.0 6.3).
 * race: Rank 1 broadcasts to rank 0 on an intercommunicator, then puts. The root waits for no rank (MPI-5.0 6.2.3).
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
#ifdef WRONG
	int word = 0;
#endif
	MPI_Comm between;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	if (rank < 2)
		MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &between);
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
	if (rank < 2)
#ifdef WRONG
		MPI_Bcast(&word, 1, MPI_INT, rank == 1 ? MPI_ROOT : 0, between);
#else
		MPI_Barrier(between);
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	if (rank < 2)
		MPI_Comm_free(&between);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
