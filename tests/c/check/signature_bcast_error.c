/* The root of a broadcast sends two floats, the others receive two ints (MPI-5.0 6.4).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=root,others
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	float numbers[4] = {1.0f, 2.0f};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		MPI_Bcast(numbers, 2, MPI_FLOAT, 0, MPI_COMM_WORLD); /* @root */
	else
		MPI_Bcast(numbers, 2, MPI_INT, 0, MPI_COMM_WORLD); /* @others */
	MPI_Finalize();
	return 0;
}
