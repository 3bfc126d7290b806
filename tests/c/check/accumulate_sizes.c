/* clean: One origin accumulates an int, another accumulates a short after the int.
 * race: One origin accumulates an int, another accumulates a short within the int. Accumulates are atomic only if both
 * use the same predefined type (MPI-5.0 12.7.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char mem[64];
	MPI_Win win;
	int rank;
	int value = 1;
	short half = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Accumulate(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Accumulate(&half, 1, MPI_SHORT, 2, 2, 1, MPI_SHORT, MPI_SUM, win); /* @second */
#else
		MPI_Accumulate(&half, 1, MPI_SHORT, 2, 4, 1, MPI_SHORT, MPI_SUM, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
