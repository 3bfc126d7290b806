/* Rank 0 broadcasts four ints, the others take eight (MPI-5.0 6.4).
 *
 * np: 3
 * ref: none (may hang)
 * plain: may hang
 * find: collective argument=length lines=call,call
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int values[8] = {0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Bcast(values, rank == 0 ? 4 : 8, MPI_INT, 0, MPI_COMM_WORLD); /* @call */
	MPI_Finalize();
	return 0;
}
