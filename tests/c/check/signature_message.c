/* clean: One rank sends a pair of ints, another receives two ints (MPI-5.0 3.3.1).
 * error: One rank sends an int, another receives a float (MPI-5.0 3.3.1).
 *
 * np: 2
 * ref: mpich
 * find: signature lines=send,recv
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int values[2] = {1, 2};
#ifndef WRONG
	MPI_Datatype pair;
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	if (rank == 0)
		MPI_Send(values, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @send */
	if (rank == 1)
		MPI_Recv(values, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
#else
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	if (rank == 0)
		MPI_Send(values, 1, pair, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(values, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Type_free(&pair);
#endif
	MPI_Finalize();
	return 0;
}
