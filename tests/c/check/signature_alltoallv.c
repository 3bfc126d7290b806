/* clean: All ranks send and receive ints (MPI-5.0 6.8).
 * error: Rank 0 sends ints to all ranks, but all ranks receive floats (MPI-5.0 6.8).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=call,call
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int out[3] = {1, 2, 3}, in[3], counts[3] = {1, 1, 1}, displs[3] = {0, 1, 2};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Alltoallv(out, counts, displs, rank == 0 ? MPI_INT : MPI_FLOAT, in, counts, displs, MPI_FLOAT, /* @call */
		      MPI_COMM_WORLD);
#else
	MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
