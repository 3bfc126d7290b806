/* clean: One thread of rank 0 gets into an integer and flushes. Another thread loads the integer after a barrier
 * (MPI-5.0 12.3).
 * race: One thread of rank 0 gets into an integer and flushes. Another thread loads the integer without a barrier
 * (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <omp.h>

static MPI_Win win;
static int values[2] = {1, 2};

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
#pragma omp parallel num_threads(2)
		{
			if (omp_get_thread_num() == 0) {
				MPI_Get(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
				MPI_Win_flush(1, win);
			}
#ifndef WRONG
#pragma omp barrier
#endif
			if (omp_get_thread_num() == 1)
				values[1] = values[0]; /* @second */
		}
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
