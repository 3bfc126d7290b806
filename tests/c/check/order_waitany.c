/* clean: Rank 1 completes both receives with MPI_Waitany before it puts (MPI-5.0 3.7).
 * race: Rank 1 waits for the receive from rank 3 before it puts, but for the receive from rank 0 after its put
 * (MPI-5.0 3.7).
 *
 * np: 4
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
#ifndef WRONG
	int index;
#endif
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
	if (rank == 0 || rank == 3)
		MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Irecv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(NULL, 0, MPI_INT, 3, 0, MPI_COMM_WORLD, &requests[1]);
#ifdef WRONG
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
#else
		for (int i = 0; i < 2; i++)
			MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
#ifdef WRONG
	if (rank == 1)
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
