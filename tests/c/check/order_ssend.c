/* clean: Rank 0 puts and receives. Rank 1 puts after a synchronous send to rank 0, which ends after the receive has
 * started (MPI-5.0 3.4).
 * race: Rank 0 puts and receives. Rank 1 puts after a standard send to rank 0, which need not wait for the receive
 * (MPI-5.0 3.4).
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
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
	if (rank == 1)
#ifdef WRONG
		MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
#else
		MPI_Ssend(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
#endif
	if (rank == 0)
		MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
