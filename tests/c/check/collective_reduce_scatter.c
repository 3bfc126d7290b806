/* clean: Both ranks pass the same counts to MPI_Reduce_scatter (MPI-5.0 6.10).
 * error: The ranks pass the same counts to MPI_Reduce_scatter, but in different orders. The arrays must be equal at all
 * ranks (MPI-5.0 6.10).
 *
 * np: 2
 * ref: mpich
 * ref error: none (ends with an error)
 * plain error: may hang
 * find: collective argument=length lines=call,call
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int values[3] = {1, 2, 3}, sums[3], counts[2] = {1, 2}, other[2] = {2, 1};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Reduce_scatter(values, sums, rank == 0 ? other : counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* @call */
#else
	MPI_Reduce_scatter(values, sums, rank == 2 ? other : counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
