/* clean: Rank 1 passes its integer to a gather after the fence that completes the accumulate.
 * race: Rank 1 passes its integer to a gather while rank 0 adds to the integer (MPI-5.0 12.7).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, other = 2, all[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Accumulate(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); /* @first */
#ifndef WRONG
	MPI_Win_fence(0, win);
#endif
	if (rank == 1)
		MPI_Gather(mem, 1, MPI_INT, NULL, 0, MPI_INT, 2, MPI_COMM_WORLD); /* @second */
	else
		MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 2, MPI_COMM_WORLD);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
