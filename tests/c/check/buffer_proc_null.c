/* clean: The receive of rank 1 and its other messages have MPI_PROC_NULL as peer, and thus do not access the buffer
 * (MPI-5.0 3.10), which a get uses meanwhile.
 * race: Rank 1 starts a get and receives a message into its buffer before the get is complete (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=1 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank, value = 1, source = MPI_PROC_NULL;
	MPI_Message message;
	MPI_Request request[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
#ifdef WRONG
	source = 0;
	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#endif
	MPI_Win_lock_all(0, win);
	if (rank == 1) {
		MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);                         /* @first */
		MPI_Recv(&value, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @second */
		MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
		MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
		MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
		MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		MPI_Imrecv(&value, 1, MPI_INT, &message, &request[0]);
		MPI_Wait(&request[0], MPI_STATUS_IGNORE);
		MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[0]);
		MPI_Start(&request[0]);
		MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[1]);
		MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[2]);
		MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
		MPI_Request_free(&request[0]);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
