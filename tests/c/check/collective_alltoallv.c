/* clean: Rank 0 sends two ints to rank 1, and rank 1 receives two ints from rank 0 (MPI-5.0 6.8).
 * error: Rank 0 sends two ints to rank 1, but rank 1 receives one int from each rank (MPI-5.0 6.8).
 *
 * np: 2
 * ref: mpich
 * ref error: none (ends with an error)
 * plain error: may hang
 * find: collective argument=length lines=first,second
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int out[4] = {0}, in[4], displs[2] = {0, 2};
#ifdef WRONG
	int two[2] = {1, 2}, one[2] = {1, 1}, from[2] = {1, 1};
#else
	int two[2] = {1, 2}, one[2] = {1, 1}, from[2] = {2, 1};
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		MPI_Alltoallv(out, two, displs, MPI_INT, in, one, displs, MPI_INT, MPI_COMM_WORLD); /* @first */
	else
		MPI_Alltoallv(out, one, displs, MPI_INT, in, from, displs, MPI_INT, MPI_COMM_WORLD); /* @second */
	MPI_Finalize();
	return 0;
}
