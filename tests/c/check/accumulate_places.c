/* clean: One origin adds to integers 0 to 3, another multiplies integers 4 to 7: each location has one operation.
 * race: One origin adds to integers 0 to 3, another multiplies 3 to 6: integer 3 has two operations (MPI-5.0 12.2.1).
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

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Accumulate(values, 4, MPI_INT, 2, 0, 4, MPI_INT, MPI_SUM, win); /* @first */
	if (rank == 1)
#ifdef WRONG
		MPI_Accumulate(values, 4, MPI_INT, 2, 3, 4, MPI_INT, MPI_PROD, win); /* @second */
#else
		MPI_Accumulate(values, 4, MPI_INT, 2, 4, 4, MPI_INT, MPI_PROD, win);
#endif
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
