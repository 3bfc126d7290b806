/* clean: Each iteration of an OpenMP loop gets into a variable of its own, which may have the address of an earlier
 * iteration's variable (MPI-5.0 12.3).
 * race: All iterations of an OpenMP loop get into one shared variable, and two threads run iterations at the same time
 * (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=get,get needs=calls
 */
#include <mpi.h>

static MPI_Win win;
#ifdef WRONG
static int value;
#endif

int main(int argc, char **argv) {
	int rank;
	int provided;
	static int mem[8];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
#pragma omp parallel for num_threads(2) schedule(dynamic)
		for (int i = 0; i < 8; i++) {
#ifndef WRONG
			int value;

#endif
			MPI_Get(&value, 1, MPI_INT, 1, i, 1, MPI_INT, win); /* @get */
			MPI_Win_flush(1, win);
		}
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
