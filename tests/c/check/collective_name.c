/* clean: All ranks call MPI_Barrier, then a reduction (MPI-5.0 6.14).
 * error: Rank 0 calls MPI_Barrier, the other ranks call a reduction (MPI-5.0 6.14).
 *
 * np: 3
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=name lines=barrier,reduction
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	if (rank == 0)
		MPI_Barrier(MPI_COMM_WORLD); /* @barrier */
	else
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* @reduction */
#else
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
