/* clean: Two receives are active, and their buffers are adjacent (MPI-5.0 3.7.2).
 * race: Two receives are active, and their buffers have an integer in common (MPI-5.0 3.7.2).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, data[4] = {1, 2, 3, 4};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		MPI_Send(data, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
		MPI_Send(data, 2, MPI_INT, 1, 1, MPI_COMM_WORLD);
	} else {
		MPI_Request requests[2];
		MPI_Irecv(&data[0], 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]); /* @first */
#ifdef WRONG
		MPI_Irecv(&data[1], 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]); /* @second */
#else
		MPI_Irecv(&data[2], 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
#endif
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
