/* clean: Rank 1 continues after MPI_Mprobe has found the message of rank 0 (MPI-5.0 3.8).
 * race: Rank 1 probes for a message of rank 3, which rank 3 never sends, and puts. It receives the message of rank 0
 * after the put (MPI-5.0 3.8).
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
#ifdef WRONG
	int flag;
#else
	MPI_Message message;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(2, win);
	}
	if (rank == 0)
		MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
#ifdef WRONG
	if (rank == 1)
		MPI_Iprobe(3, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
#else
	if (rank == 1) {
		MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
	}
#endif
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_unlock_all(win);
#ifdef WRONG
	if (rank == 1)
		MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
