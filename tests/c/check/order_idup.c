/* clean: Rank 0 puts and sends a message on a communicator of MPI_Comm_idup. Rank 1 receives it, then puts (MPI-5.0
 * 7.4.2, 12.7).
 * race: Rank 0 puts and sends a message on a communicator of MPI_Comm_idup. Rank 1 puts before it receives the message
 * (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Comm comm;
	MPI_Request request;
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	/* An MPI library may store the handle in the call, or later, when the duplicate is complete. In the second case
	 * the moment depends on timing, so the loop creates many duplicates. Only the last one is used for the puts. */
	for (int i = 0; i < 300; i++) {
		MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (i == 299 && rank == 0) {
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
			MPI_Win_flush(2, win);
			MPI_Send(NULL, 0, MPI_INT, 1, 0, comm);
		}
		if (i == 299 && rank == 1) {
#ifdef WRONG
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @second */
			MPI_Recv(NULL, 0, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
#else
			MPI_Recv(NULL, 0, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
			MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
#endif
		}
		MPI_Comm_free(&comm);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
