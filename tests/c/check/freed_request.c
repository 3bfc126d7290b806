/* clean: The program waits once for a request.
 * error: The program waits for a copy of a request that is already complete (MPI-5.0 3.7.3). This wait fails.
 *
 * np: 2
 * ref: mpich
 * ref error: none (a freed handle is undefined there)
 * find: freed object=request lines=free,use
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value;
	MPI_Request request;
#ifdef WRONG
	MPI_Request copy;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
	MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
#ifdef WRONG
	copy = request;
	MPI_Wait(&request, MPI_STATUS_IGNORE); /* @free */
	MPI_Wait(&copy, MPI_STATUS_IGNORE);    /* @use */
#else
	MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	MPI_Finalize();
	return 0;
}
