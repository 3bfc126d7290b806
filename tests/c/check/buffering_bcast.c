/* clean: Rank 0 sends after the collective, and rank 1 receives after the collective (MPI-5.0 6.14).
 * error: Rank 0 sends before the collective, and rank 1 receives after the collective, so the message needs a buffer
 * (MPI-5.0 6.14).
 *
 * np: 2
 * ref: mpich
 * find: buffering lines=send,recv
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, value = 1, received;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
#ifdef WRONG
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @send */
		MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
#else
		MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
	} else {
		MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
	}
	MPI_Finalize();
	return 0;
}
