/* clean: The program completes receives of messages that are too long, which return an error (MPI-5.0 3.7.5).
 * error: The program never completes the receive of a message that is too long (MPI-5.0 3.7.5).
 *
 * np: 2
 * ref: mpich
 * find: leak object=request rank=1 lines=made
 */
#include <mpi.h>

int main(int argc, char **argv) {
#ifdef WRONG
	int rank;
	int values[2] = {0};
	MPI_Request request;
#else
	int rank, index, done, flag;
	int values[2] = {0}, indices[2];
	MPI_Request requests[2];
#endif

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef WRONG
	if (rank == 1)
		MPI_Irecv(values, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); /* @made */
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Send(values, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
#else
	for (int form = 0; form < 8; form++) {
		if (rank == 1) {
			MPI_Irecv(values, 1, MPI_INT, 0, form, MPI_COMM_WORLD, &requests[0]);
			requests[1] = MPI_REQUEST_NULL;
		}
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			MPI_Send(values, 2, MPI_INT, 1, form, MPI_COMM_WORLD);
		while (rank == 1 && requests[0] != MPI_REQUEST_NULL) {
			switch (form) {
			case 0:
				MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
				break;
			case 1:
				MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
				break;
			case 2:
				MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
				break;
			case 3:
				MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
				break;
			case 4:
				MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
				break;
			case 5:
				MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
				break;
			case 6:
				MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
				break;
			case 7:
				MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
			}
		}
	}
#endif
	MPI_Finalize();
	return 0;
}
