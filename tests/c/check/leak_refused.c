/* clean: A buffered send has no buffer space and fails, so that no message is sent (MPI-5.0 3.6, 11.2.2).
 * error: A buffered send has buffer space, but no rank receives the message (MPI-5.0 3.6, 11.2.2).
 *
 * np: 2
 * ref: mpich
 * find: leak object=message lines=sent
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static char buffer[100 + MPI_BSEND_OVERHEAD], data[100], *detached;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef WRONG
	MPI_Buffer_attach(buffer, sizeof buffer);
#else
	MPI_Buffer_attach(buffer, 50 + MPI_BSEND_OVERHEAD);
#endif
	if (rank == 0)
		MPI_Bsend(data, 100, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* @sent */
	MPI_Buffer_detach(&detached, &size);
	MPI_Finalize();
	return 0;
}
