/* clean: The program frees its group before MPI_Finalize.
 * error: The program never frees its group (MPI-5.0 11.2).
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
#ifndef WRONG
	MPI_Group_free(&group);
#endif
	MPI_Finalize();
	return 0;
}
