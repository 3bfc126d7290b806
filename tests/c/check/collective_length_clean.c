/* Rank 0 broadcasts four ints, and the others take four (MPI-5.0 6.4).
 *
 * np: 3
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int values[8] = {0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Bcast(values, 4, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
