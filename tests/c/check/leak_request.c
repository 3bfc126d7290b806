/* clean: Rank 0 waits for the request of its send.
 * error: Rank 0 never waits for the request of its send (MPI-5.0 3.7).
 *
 * np: 2
 * ref: mpich
 * find: leak object=request rank=0 lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* @made */
#ifndef WRONG
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	}
	if (rank == 1)
		MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
