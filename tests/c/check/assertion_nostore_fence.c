/* clean: Rank 2 sends from its window and asserts at the next fence that nothing was stored there (MPI-5.0 12.5.5).
 * error: Rank 2 receives into its window and asserts at the next fence that nothing was stored there (MPI-5.0 12.5.5).
 *
 * np: 3
 * ref: mpich
 * find: assertion name=NOSTORE window=q lines=store,fence needs=calls
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
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);

	MPI_Win_fence(0, win);
	if (rank == 2)
#ifdef WRONG
		MPI_Recv(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @store */
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
#else
		MPI_Send(mem, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	MPI_Win_fence(rank == 2 ? MPI_MODE_NOSTORE : 0, win); /* @fence */
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
