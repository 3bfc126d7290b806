/* clean: All ranks call a nonblocking barrier, then a blocking one (MPI-5.0 6.12).
 * error: Rank 0 calls a nonblocking barrier, the other ranks a blocking barrier: the two do not match (MPI-5.0 6.12).
 *
 * np: 3
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=nonblocking,blocking
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	if (rank == 0) {
		MPI_Ibarrier(MPI_COMM_WORLD, &request); /* @nonblocking */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		MPI_Barrier(MPI_COMM_WORLD); /* @blocking */
	}
#else
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
