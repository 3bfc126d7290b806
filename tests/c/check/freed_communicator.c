/* clean: The program frees a communicator after a barrier on it.
 * error: The program calls a barrier on a communicator that it has freed (MPI-5.0 7.4.3). The barrier returns an error.
 *
 * np: 2
 * ref: mpich
 * ref error: none (a freed handle is undefined there)
 * find: freed object=communicator lines=free,use
 */
#include <mpi.h>

int main(int argc, char **argv) {
	MPI_Comm one, other;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &one);
	other = one;
#ifdef WRONG
	MPI_Comm_free(&one); /* @free */
	MPI_Barrier(other);  /* @use */
#else
	MPI_Barrier(other);
	MPI_Comm_free(&one);
#endif
	MPI_Finalize();
	return 0;
}
