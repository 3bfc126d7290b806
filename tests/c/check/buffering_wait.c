/* clean: Both ranks wait for their sends after they receive (MPI-5.0 3.5).
 * error: Both ranks wait for their sends before they receive, which needs buffers (MPI-5.0 3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffering lines=isend,isend
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, value = 1, received;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Isend(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request); /* @isend */
#ifdef WRONG
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Recv(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
	MPI_Recv(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
	MPI_Finalize();
	return 0;
}
