/* clean: Two OpenMP sections put to two integers (MPI-5.0 12.7).
 * race: Two OpenMP sections, which two threads may run at the same time, put to one integer (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>

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
#pragma omp parallel sections num_threads(2)
		{
#pragma omp section
			{
				MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
				MPI_Win_flush(1, win);
			}
#pragma omp section
			{
#ifdef WRONG
				MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
#else
				MPI_Put(&values[1], 1, MPI_INT, 1, 1, 1, MPI_INT, win);
#endif
				MPI_Win_flush(1, win);
			}
		}
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
