/* Two persistent collectives are initialized in another order at each rank (MPI-5.0 6.13).
 *
 * np: 2
 * ref: none (may hang)
 * plain: may hang
 * find: collective argument=name lines=sum,barrier
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, sum;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++) {
		if (i == rank)
			MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, /* @sum */
					   &requests[0]);
		else
			MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]); /* @barrier */
	}
	MPI_Startall(2, requests);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&requests[i]);
	MPI_Finalize();
	return 0;
}
