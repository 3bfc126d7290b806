/* clean: The non-root ranks send ints in a gather with counts, and the root receives ints (MPI-5.0 6.5).
 * error: The non-root ranks send ints in a gather with counts, but the root receives floats (MPI-5.0 6.5).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=root,others
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, all[3], counts[3] = {1, 1, 1}, displs[3] = {0, 1, 2};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
#ifdef WRONG
		MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, displs, MPI_FLOAT, 0, MPI_COMM_WORLD); /* @root */
#else
		MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
#endif
	else
		MPI_Gatherv(&value, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, MPI_COMM_WORLD); /* @others */
	MPI_Finalize();
	return 0;
}
