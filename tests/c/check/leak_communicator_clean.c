/* A communicator that is freed before MPI_Finalize.
 *
 * np: 2
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Comm copy;

	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_free(&copy);
	MPI_Finalize();
	return 0;
}
