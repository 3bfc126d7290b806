/* Two persistent collectives are started in another order at each rank (MPI-5.0 6.13).
 *
 * np: 2
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, sum;
	float number = 1, maximum;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
	MPI_Allreduce_init(&number, &maximum, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
	for (int round = 0; round < 3; round++) {
		MPI_Start(&requests[rank]);
		MPI_Start(&requests[1 - rank]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&requests[i]);
	MPI_Finalize();
	return 0;
}
