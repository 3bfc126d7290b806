/* clean: All ranks pass MPI_SUM to a reduction (MPI-5.0 6.9.6).
 * error: Rank 0 passes MPI_SUM to a reduction, the other ranks pass MPI_MAX (MPI-5.0 6.9.6).
 *
 * np: 3
 * ref: mpich
 * find: collective argument=op lines=call,call
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, result;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Allreduce(&value, &result, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD); /* @call */
#else
	MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
