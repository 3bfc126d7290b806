/* The receive of a message that is too long is never completed (MPI-5.0 3.7.5).
 *
 * np: 2
 * ref: mpich
 * find: leak object=request rank=1 lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int values[2] = {0};
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 1)
		MPI_Irecv(values, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); /* @made */
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Send(values, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
