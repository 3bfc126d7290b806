/* A communicator is freed behind a barrier.
 *
 * np: 2
 * ref: mpich
 * find: nothing
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Comm one, other;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &one);
	other = one;
	MPI_Barrier(other);
	MPI_Comm_free(&one);
	MPI_Finalize();
	return 0;
}
