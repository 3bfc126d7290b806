/* clean: Each rank stores to its send buffer after the request of the collective is complete (MPI-5.0 6.12).
 * race: Each rank stores to its send buffer before the request of the collective is complete (MPI-5.0 6.12).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=ialltoallv,store needs=accesses
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, n[2] = {1, 1}, at[2] = {1, 3};
	static int out[4], in[4];
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 3; i++) {
		MPI_Ialltoallv(out, n, at, MPI_INT, in, n, at, MPI_INT, MPI_COMM_WORLD, &request); /* @ialltoallv */
#ifdef WRONG
		out[3] = 3; /* @store */
		MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		out[3] = 3;
#endif
	}
	MPI_Finalize();
	return 0;
}
