/* clean: Two origins put to adjacent ranges with counts of type MPI_Count (MPI-5.0 12.3.1).
 * race: Two origins put with counts of type MPI_Count, and one integer is common to both (MPI-5.0 12.3.1).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int values[4] = {1, 2, 3, 4};
	MPI_Count count = 4;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put_c(values, count, MPI_INT, 2, 0, count, MPI_INT, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Put_c(values, count, MPI_INT, 2, 3, count, MPI_INT, win); /* @second */
#else
		MPI_Put_c(values, count, MPI_INT, 2, 4, count, MPI_INT, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
