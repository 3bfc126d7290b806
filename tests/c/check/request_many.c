/* clean: One call completes thousands of requests, more than a checker may be able to track (MPI-5.0 3.7.5).
 * race: A put reads one of thousands of receive buffers before the call that completes the receives (MPI-5.0 3.7.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=1 lines=irecv,put needs=calls
 */
#include <mpi.h>

enum { MANY = 20000 };

static int in[MANY], out[MANY];
static MPI_Request requests[MANY];

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < MANY; i++)
		if (rank == 1)
			MPI_Irecv(&in[i], 1, MPI_INT, 0, i % 100, MPI_COMM_WORLD, &requests[i]); /* @irecv */
	if (rank == 0) {
#ifdef WRONG
		MPI_Put(&out[0], 1, MPI_INT, 1, 4, 1, MPI_INT, win);
#else
		MPI_Put(&out[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
		MPI_Win_flush(1, win);
	}
	for (int i = 0; i < MANY; i++)
		if (rank == 0)
			MPI_Isend(&out[i], 1, MPI_INT, 1, i % 100, MPI_COMM_WORLD, &requests[i]);
#ifdef WRONG
	if (rank == 1)
		MPI_Put(&in[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
#else
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	if (rank == 1) {
		MPI_Put(&in[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		MPI_Put(&in[MANY - 1], 1, MPI_INT, 1, 1, 1, MPI_INT, win);
	}
#endif
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
