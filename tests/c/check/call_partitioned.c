/* clean: A put writes to the first partition of a receive, and this partition has arrived (MPI-5.0 4.2).
 * race: A put writes to the second partition of a receive, and this partition has not arrived (MPI-5.0 4.2).
 *
 * np: 2
 * ref: none (MPICH's partitions arrive together)
 * find: race window=q target=1 needs=calls lines=start,put
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, parts[2] = {0};
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Psend_init(parts, 2, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
		MPI_Start(&request);
		MPI_Pready(0, request);
	} else {
		MPI_Precv_init(mem, 2, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
		MPI_Start(&request); /* @start */
		for (int flag = 0; !flag;)
			MPI_Parrived(request, 0, &flag);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win); /* @put */
#else
		MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
		MPI_Win_flush(1, win);
		MPI_Pready(1, request);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
