/* clean: The root scatters ints, and the other ranks receive ints (MPI-5.0 6.6).
 * error: The root scatters ints, but the other ranks receive floats (MPI-5.0 6.6).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=root,others
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	int rank;
	int value, all[3] = {1, 2, 3}, counts[3] = {1, 1, 1}, displs[3] = {0, 1, 2};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		MPI_Scatterv(all, counts, displs, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, MPI_COMM_WORLD); /* @root */
#ifdef WRONG
	else
		MPI_Scatterv(NULL, NULL, NULL, MPI_INT, &value, 1, MPI_FLOAT, 0, MPI_COMM_WORLD); /* @others */
#else
	else
		MPI_Scatterv(NULL, NULL, NULL, MPI_INT, &value, 1, MPI_INT, 0, MPI_COMM_WORLD);
#endif
	MPI_Finalize();
	return 0;
}
