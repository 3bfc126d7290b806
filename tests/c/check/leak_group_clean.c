/* A group that is freed before MPI_Finalize.
 *
 * np: 2
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Group group;

	MPI_Init(&argc, &argv);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Group_free(&group);
	MPI_Finalize();
	return 0;
}
