/* clean: All ranks send and receive ints (MPI-5.0 6.8).
 * error: Rank 0 sends an int to rank 1, but rank 1 receives a float from rank 0 (MPI-5.0 6.8).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=call,others
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int out[3] = {1, 2, 3}, in[3], counts[3] = {1, 1, 1}, displs[3] = {0, 4, 8};
	MPI_Datatype ints[3] = {MPI_INT, MPI_INT, MPI_INT}, types[3] = {MPI_INT, MPI_INT, MPI_INT};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1)
#ifdef WRONG
		types[0] = MPI_FLOAT;
#else
		types[0] = MPI_INT;
#endif
	if (rank == 0)
		MPI_Alltoallw(out, counts, displs, ints, in, counts, displs, ints, MPI_COMM_WORLD); /* @call */
	else
		MPI_Alltoallw(out, counts, displs, ints, in, counts, displs, types, MPI_COMM_WORLD); /* @others */
	MPI_Finalize();
	return 0;
}
