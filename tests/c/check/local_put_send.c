/* clean: Rank 0 sends the origin buffer of a put in progress: the send and the put only read it (MPI-5.0 12.3).
 * race: Rank 0 sends the result buffer of a get in progress (MPI-5.0 12.3).
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
	int value = 1, other;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0) {
#ifdef WRONG
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#else
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @second */
	}
	if (rank == 1)
		MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
