/* clean: Rank 0 broadcasts four ints, and the other ranks receive four (MPI-5.0 6.4).
 * error: Rank 0 broadcasts four ints, but the other ranks receive eight (MPI-5.0 6.4).
 *
 * np: 3
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=length lines=call,call
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int values[8] = {0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef WRONG
	MPI_Bcast(values, rank == 0 ? 4 : 8, MPI_INT, 0, MPI_COMM_WORLD); /* @call */
#else
	MPI_Bcast(values, 4, MPI_INT, 0, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
