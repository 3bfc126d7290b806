/* clean: A rank sends to itself after it posts the receive (MPI-5.0 3.5).
 * error: A rank sends to itself before it posts the receive, which needs a buffer (MPI-5.0 3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffering lines=send,recv
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, value = 1, received;
#ifndef WRONG
	MPI_Request request;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);                       /* @send */
	MPI_Recv(&received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
#else
	MPI_Irecv(&received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
	MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	MPI_Finalize();
	return 0;
}
