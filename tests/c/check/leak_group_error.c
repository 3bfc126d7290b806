/* A group that is never freed (MPI-5.0 11.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=group lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Group group;

	MPI_Init(&argc, &argv);
	MPI_Comm_group(MPI_COMM_WORLD, &group); /* @made */
	MPI_Finalize();
	return 0;
}
