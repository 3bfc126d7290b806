/* clean: A get that is flushed before the barrier is done before another origin fetches and adds.
 * race: A get of one origin while another fetches and adds: exactly one of both is an accumulate (MPI-5.0 12.3).
 *
 * np: 3
 * ref: mpich
 * find: race window=q target=2 lines=first,second needs=calls
 */
#include <mpi.h>

int main(int argc, char **argv) {
	static int mem[8];
	MPI_Win win;
	int rank;
	int value = 1, old;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		MPI_Get(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win); /* @first */
#ifdef WRONG
	}
#else
		MPI_Win_flush(2, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	if (rank == 1)
		MPI_Fetch_and_op(&value, &old, MPI_INT, 2, 0, MPI_SUM, win); /* @second */
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
