/* clean: In an OpenMP loop, each thread puts to a different integer. After the loop, each thread puts to the integer of
 * the other thread (MPI-5.0 12.7).
 * race: In an OpenMP loop with nowait, each thread puts to a different integer. After its iterations, each thread puts
 * to the integer of the other thread, which may still be in the loop (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
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
#ifdef WRONG
#pragma omp for schedule(static) nowait
#else
#pragma omp for schedule(static)
#endif
			for (int i = 0; i < 2; i++) {
				MPI_Put(&values[i], 1, MPI_INT, 1, i, 1, MPI_INT, win); /* @first */
				MPI_Win_flush(1, win);
			}
			MPI_Put(&values[0], 1, MPI_INT, 1, 1 - omp_get_thread_num(), 1, MPI_INT, win); /* @second */
			MPI_Win_flush(1, win);
		}
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
