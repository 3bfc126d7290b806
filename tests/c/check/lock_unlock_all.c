/* clean: Rank 1 puts, calls MPI_Win_unlock_all and sends a message. Rank 0 puts after it has received the message
 * (MPI-5.0 12.5.3).
 * race: Rank 1 puts and sends a message before MPI_Win_unlock_all. Rank 0 puts after it has received the message, when
 * the put of rank 1 may still be in progress (MPI-5.0 12.5.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	int *mem;
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "q");
	if (rank == 1) {
		MPI_Win_lock_all(0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
		MPI_Win_unlock_all(win);
#else
		MPI_Win_unlock_all(win);
		MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
#endif
	}
	if (rank == 0) {
		MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Win_lock_all(0, win);
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
		MPI_Win_unlock_all(win);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
