/* clean: Three ranks send in a ring. Rank 0 receives before it sends (MPI-5.0 3.5).
 * error: Three ranks send in a ring. All send before they receive, which needs buffers (MPI-5.0 3.5).
 *
 * np: 3
 * ref: mpich
 * find: buffering lines=send,send
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, value = 1, received;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Send(&value, 1, MPI_INT, (rank + 1) % 3, 0, MPI_COMM_WORLD); /* @send */
	MPI_Recv(&received, 1, MPI_INT, (rank + 2) % 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
	if (rank > 0)
		MPI_Send(&value, 1, MPI_INT, (rank + 1) % 3, 0, MPI_COMM_WORLD);
	MPI_Recv(&received, 1, MPI_INT, (rank + 2) % 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, (rank + 1) % 3, 0, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
