/* clean: A rank reads the buffer of a receive after the request is complete (MPI-5.0 3.7.2).
 * race: A rank reads the buffer of a receive before the request is complete (MPI-5.0 3.7.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=1 lines=irecv,load needs=accesses
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank;
	static int value = 1;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	} else {
		MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); /* @irecv */
#ifdef WRONG
		printf("%d\n", value); /* @load */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		printf("%d\n", value);
#endif
	}
	MPI_Finalize();
	return 0;
}
