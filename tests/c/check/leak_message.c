/* clean: Rank 1 receives both messages of rank 0 before MPI_Finalize (MPI-5.0 11.2.2).
 * error: Rank 1 receives only one of the two messages of rank 0 before MPI_Finalize (MPI-5.0 11.2.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=message lines=sent
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		for (int i = 0; i < 2; i++)
			MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD); /* @sent */
	if (rank == 1)
#ifdef WRONG
		for (int i = 0; i < 1; i++)
#else
		for (int i = 0; i < 2; i++)
#endif
			MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
