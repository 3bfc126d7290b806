/* clean: Rank 0 puts before it marks the second half of a partitioned send as ready. Rank 1 gets after a partition of
 * that half has arrived (MPI-5.0 4.2).
 * race: Rank 0 puts after it has marked the first half of a partitioned send as ready. Rank 1 gets after a partition of
 * that half has arrived (MPI-5.0 4.2).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=0 needs=calls lines=put,get
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, parts[4] = {0};
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Psend_init(parts, 2, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
		MPI_Start(&request);
		MPI_Pready(0, request);
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @put */
		MPI_Win_flush(0, win);
		MPI_Pready(1, request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		MPI_Precv_init(parts, 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
		MPI_Start(&request);
		for (int flag = 0; !flag;)
#ifdef WRONG
			MPI_Parrived(request, 1, &flag);
#else
			MPI_Parrived(request, 2, &flag);
#endif
		MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* @get */
		MPI_Win_flush(0, win);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
