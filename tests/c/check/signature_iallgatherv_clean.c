/* All ranks give and take ints in a nonblocking gather (MPI-5.0 6.12.6).
 *
 * np: 3
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, all[3], counts[3] = {1, 1, 1}, displs[3] = {0, 1, 2};
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Iallgatherv(&value, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
