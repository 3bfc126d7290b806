/* clean: Rank 0 gets an integer, and rank 1 sends the integer in a message: both accesses only read (MPI-5.0 12.3).
 * race: Rank 0 gets an integer, and rank 1 receives a message into the integer: a get and a local store conflict
 * (MPI-5.0 12.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
	if (rank == 2)
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(mem, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
#else
	if (rank == 1)
		MPI_Send(mem, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
	if (rank == 2)
		MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
