/* clean: The exchange (MPI_Alltoall) follows the fence that completes the put of rank 0.
 * race: Rank 1 receives three integers in an exchange while rank 0 puts to the last of them (MPI-5.0 12.7).
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
	int other = 2, values[3] = {1, 2, 3}, results[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(&other, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	if (rank == 1)
		MPI_Alltoall(values, 1, MPI_INT, mem, 1, MPI_INT, MPI_COMM_WORLD); /* @second */
	else
		MPI_Alltoall(values, 1, MPI_INT, results, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
