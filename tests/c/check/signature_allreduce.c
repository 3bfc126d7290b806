/* clean: All ranks pass an int to a reduction (MPI-5.0 6.9.6).
 * error: Rank 0 passes an int to a reduction, the other ranks pass an unsigned int (MPI-5.0 6.9.6).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=one,others
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* @one */
#ifdef WRONG
	else
		MPI_Allreduce(&value, &sum, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD); /* @others */
#else
	else
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
