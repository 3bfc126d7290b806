/* All ranks are in a barrier, then in a reduction (MPI-5.0 6.14).
 *
 * np: 3
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
