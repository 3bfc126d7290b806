/* clean: Rank 0 puts two integers by a datatype of absolute addresses and receives into the integer between them
 * (MPI-5.0 5.1.5).
 * race: Rank 0 puts two integers by a datatype of absolute addresses and receives into one of them before the put is
 * complete (MPI-5.0 5.1.5).
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
	int values[3] = {1, 2, 3};
	MPI_Aint places[2];
	MPI_Datatype ends;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Get_address(&values[0], &places[0]);
	MPI_Get_address(&values[2], &places[1]);
	MPI_Type_create_hindexed(2, (int[]){1, 1}, places, MPI_INT, &ends);
	MPI_Type_commit(&ends);
	MPI_Win_fence(0, win);
	if (rank == 0) {
		MPI_Put(MPI_BOTTOM, 1, ends, 1, 0, 2, MPI_INT, win); /* @first */
#ifdef WRONG
		MPI_Recv(&values[2], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
#else
		MPI_Recv(&values[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 1)
		MPI_Send(&values[1], 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Win_fence(0, win);
	MPI_Type_free(&ends);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
