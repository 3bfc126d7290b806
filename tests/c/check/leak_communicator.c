/* clean: The program frees its communicator before MPI_Finalize.
 * error: The program never frees its communicator (MPI-5.0 11.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=communicator lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Comm copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* @made */
#ifndef WRONG
	MPI_Comm_free(&copy);
#endif
	MPI_Finalize();
	return 0;
}
