/* clean: The two ranks start two persistent collectives in different orders (MPI-5.0 6.13).
 * error: The two ranks initialize two persistent collectives in different orders (MPI-5.0 6.13).
 *
 * np: 2
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=sum,barrier
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, sum;
#ifndef WRONG
	float number = 1, maximum;
#endif
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	for (int i = 0; i < 2; i++) {
		if (i == rank)
			MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, /* @sum */
					   &requests[0]);
		else
			MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]); /* @barrier */
	}
	MPI_Startall(2, requests);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#else
	MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
	MPI_Allreduce_init(&number, &maximum, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
	for (int round = 0; round < 3; round++) {
		MPI_Start(&requests[rank]);
		MPI_Start(&requests[1 - rank]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
#endif
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&requests[i]);
	MPI_Finalize();
	return 0;
}
