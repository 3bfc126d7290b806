/* clean: Both ranks send, one before it receives, the other after it receives (MPI-5.0 3.5).
 * error: Both ranks send before they receive, which needs a buffer (MPI-5.0 3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffering lines=send,send
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, value = 1, received;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD); /* @send */
	MPI_Recv(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
	MPI_Recv(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
