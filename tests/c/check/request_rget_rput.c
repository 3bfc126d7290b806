/* clean: A rank gets into each buffer, waits for the request of the get, and puts from the buffer (MPI-5.0 12.3.5).
 * race: A rank gets into each buffer and puts from the buffer before the request of the get is complete (MPI-5.0
 * 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer lines=get,put needs=calls rank=0
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int buffer[2] = {1, 2};
	MPI_Request get, put[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 6; i++) {
		MPI_Wait(&put[i % 2], MPI_STATUS_IGNORE);
		MPI_Rget(&buffer[i % 2], 1, MPI_INT, 1 - rank, 6 + rank, 1, MPI_INT, win, &get); /* @get */
#ifdef WRONG
		MPI_Rput(&buffer[i % 2], 1, MPI_INT, 1 - rank, 2 + 2 * rank + i % 2, 1, MPI_INT, win, /* @put */
			 &put[i % 2]);
		MPI_Wait(&get, MPI_STATUS_IGNORE);
#else
		MPI_Wait(&get, MPI_STATUS_IGNORE);
		MPI_Rput(&buffer[i % 2], 1, MPI_INT, 1 - rank, 2 + 2 * rank + i % 2, 1, MPI_INT, win, &put[i % 2]);
#endif
		MPI_Win_flush(1 - rank, win);
	}
	MPI_Waitall(2, put, MPI_STATUSES_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
