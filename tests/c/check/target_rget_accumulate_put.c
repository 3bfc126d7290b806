/* clean: One origin flushes its MPI_Rget_accumulate before the barrier, and another origin puts after the barrier.
 * race: One origin has an MPI_Rget_accumulate in progress while another origin puts (MPI-5.0 12.3.5).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=a,b needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int v = 1, old;
	MPI_Request req;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Rget_accumulate(&v, 1, MPI_INT, &old, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win, &req); /* @a */
#ifdef WRONG
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Wait(&req, MPI_STATUS_IGNORE);
#else
		MPI_Win_flush(2, win);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 1)
		MPI_Put(&v, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @b */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
