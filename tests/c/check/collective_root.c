/* clean: All ranks name rank 0 as the root of the broadcast (MPI-5.0 6.4).
 * error: Each rank names itself as the root of the broadcast (MPI-5.0 6.4).
 *
 * np: 2
 * ref: mpich
 * ref error: none (may hang)
 * plain error: may hang
 * find: collective argument=root lines=call,call
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Bcast(&value, 1, MPI_INT, rank, MPI_COMM_WORLD); /* @call */
#else
	MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
