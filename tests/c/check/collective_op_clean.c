/* All ranks take the sum (MPI-5.0 6.9.6).
 *
 * np: 3
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, result;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
