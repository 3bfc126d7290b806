/* clean: Each rank stores to its send buffer after the request of the collective is complete (MPI-5.0 6.12).
 * race: Each rank stores to its send buffer before the request of the collective is complete (MPI-5.0 6.12).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=iallreduce,store needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	static int value[2] = {1, 2}, sum[2];
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Iallreduce(value, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); /* @iallreduce */
#ifdef WRONG
	value[1] = 3; /* @store */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	value[1] = 3;
#endif
	MPI_Finalize();
	return 0;
}
