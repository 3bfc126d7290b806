/* clean: The root of a broadcast sends two floats, the other ranks receive a vector of two floats (MPI-5.0 6.4).
 * error: The root of a broadcast sends two floats, the other ranks receive two ints (MPI-5.0 6.4).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=root,others
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	float numbers[4] = {1.0f, 2.0f};
#ifndef WRONG
	MPI_Datatype spread;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	if (rank == 0)
		MPI_Bcast(numbers, 2, MPI_FLOAT, 0, MPI_COMM_WORLD); /* @root */
	else
		MPI_Bcast(numbers, 2, MPI_INT, 0, MPI_COMM_WORLD); /* @others */
#else
	MPI_Type_vector(2, 1, 2, MPI_FLOAT, &spread);
	MPI_Type_commit(&spread);
	if (rank == 0)
		MPI_Bcast(numbers, 2, MPI_FLOAT, 0, MPI_COMM_WORLD);
	else
		MPI_Bcast(numbers, 1, spread, 0, MPI_COMM_WORLD);
	MPI_Type_free(&spread);
#endif
	MPI_Finalize();
	return 0;
}
