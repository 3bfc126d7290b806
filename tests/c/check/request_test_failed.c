/* clean: MPI_Put reads a receive buffer after MPI_Test has returned an error: a request that has failed is complete
 * (MPI-5.0 3.7.3, 9.2).
 * race: MPI_Put reads a receive buffer before MPI_Test returns an error, which completes the request (MPI-5.0 3.7.3,
 * 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=1 lines=irecv,put needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Request request;
	MPI_Win win;
	int rank, flag = 0, code = MPI_SUCCESS, data[4] = {1, 2, 3, 4};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Send(data, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Irecv(data, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); /* @irecv */
#ifdef WRONG
		MPI_Put(data, 2, MPI_INT, 0, 0, 2, MPI_INT, win); /* @put */
		while (!flag && code == MPI_SUCCESS)
			code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
#else
		while (!flag && code == MPI_SUCCESS)
			code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		MPI_Put(data, 2, MPI_INT, 0, 0, 2, MPI_INT, win);
#endif
	}
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return code == MPI_SUCCESS && rank == 1;
}
