/* clean: Two threads of rank 0 put to one integer and flush while they hold one OpenMP lock (MPI-5.0 12.7).
 * race: Two threads of rank 0 put to one integer and flush while each holds its own OpenMP lock (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,put needs=calls
 */
#include <mpi.h>
#include <omp.h>

static omp_lock_t locks[2];
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
		for (int i = 0; i < 2; i++)
			omp_init_lock(&locks[i]);
#pragma omp parallel num_threads(2)
		{
#ifdef WRONG
			omp_lock_t *lock = &locks[omp_get_thread_num()];
#else
			omp_lock_t *lock = &locks[omp_get_thread_num() / 2];
#endif

			omp_set_lock(lock);
			MPI_Put(&values[omp_get_thread_num()], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
			MPI_Win_flush(1, win);
			omp_unset_lock(lock);
		}
		for (int i = 0; i < 2; i++)
			omp_destroy_lock(&locks[i]);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
