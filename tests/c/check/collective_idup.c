/* clean: Each rank duplicates two communicators concurrently, in a different order (MPI-5.0 7.4.2, 6.14).
 * error: Each rank duplicates two communicators in a different order. Then rank 1 passes the wrong duplicate to a
 * barrier (MPI-5.0 6.14).
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
	MPI_Comm parents[2], copies[2];
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
	for (int i = 0; i < 2; i++)
		MPI_Comm_idup(parents[i ^ rank], &copies[i ^ rank], &requests[i]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#ifdef WRONG
	if (rank == 0)
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, copies[0]); /* @sum */
	MPI_Barrier(copies[1 - rank]);                                       /* @barrier */
#else
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, copies[0]);
	MPI_Barrier(copies[1]);
#endif
	for (int i = 0; i < 2; i++) {
		MPI_Comm_free(&copies[i]);
		MPI_Comm_free(&parents[i]);
	}
	MPI_Finalize();
	return 0;
}
