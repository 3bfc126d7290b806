/* clean: A rank waits for its receive into a buffer, then puts from the buffer.
 * race: A rank puts from a buffer while its receive into the buffer is in progress (MPI-5.0 3.7).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, other = 2;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* @first */
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
	}
	if (rank == 1)
		MPI_Send(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
