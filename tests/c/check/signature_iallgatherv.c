/* clean: All ranks send and receive ints in a nonblocking allgather (MPI-5.0 6.12.6).
 * error: Rank 0 sends an int in a nonblocking allgather, but all ranks receive floats (MPI-5.0 6.12.6).
 *
 * np: 3
 * ref: mpich
 * find: signature lines=call,call
 */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank;
	int value = 1, all[3], counts[3] = {1, 1, 1}, displs[3] = {0, 1, 2};
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef WRONG
	MPI_Iallgatherv(&value, 1, rank == 0 ? MPI_INT : MPI_FLOAT, all, counts, displs, MPI_FLOAT, /* @call */
			MPI_COMM_WORLD, &request);
#else
	MPI_Iallgatherv(&value, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD, &request);
#endif
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
