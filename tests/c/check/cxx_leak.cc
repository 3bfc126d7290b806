/* clean: A function starts a message, and its caller waits for the request.
 * error: A function starts a message and drops the request (MPI-5.0 3.7).
 *
 * np: 2
 * ref: mpich
 * find: leak object=request rank=0 lines=made
 */
#include <mpi.h>

static MPI_Request start(const int &value) {
	MPI_Request request;
	MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* @made */
	return request;
}

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int value = rank;
	if (rank == 0) {
#ifdef WRONG
		start(value);
#else
		MPI_Request request = start(value);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 1)
		MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
