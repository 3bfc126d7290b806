/* clean: A rank writes to the buffer of a send after the request is complete (MPI-5.0 3.7.2).
 * race: A rank writes to the buffer of a send before the request is complete (MPI-5.0 3.7.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=isend,store needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int value = 1;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); /* @isend */
#ifdef WRONG
		value = 3; /* @store */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		value = 3;
#endif
	} else {
		MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
