/* clean: All ranks send ints in a gather, and the root receives ints (MPI-5.0 6.5).
 * error: All ranks send ints in a gather, but the root receives floats (MPI-5.0 6.5).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=root,others
 */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, all[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
#ifdef WRONG
		MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_FLOAT, 0, MPI_COMM_WORLD); /* @root */
#else
		MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
#endif
	else
		MPI_Gather(&value, 1, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD); /* @others */
	MPI_Finalize();
	return 0;
}
