/* clean: Two C11 threads of rank 0 put to one integer and flush under a mutex (MPI-5.0 12.7).
 * race: Two C11 threads of rank 0 put to one integer and flush. Only one of them locks the mutex (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,put needs=calls
 */
#include <mpi.h>
#include <threads.h>

static mtx_t mutex;
static MPI_Win win;
static int values[2] = {1, 2};

static int put(void *value) {
#ifdef WRONG
	if (value == &values[0])
#else
	if (value != NULL)
#endif
		mtx_lock(&mutex);
	MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
	MPI_Win_flush(1, win);
#ifdef WRONG
	if (value == &values[0])
#else
	if (value != NULL)
#endif
		mtx_unlock(&mutex);
	return 0;
}

int main(int argc, char **argv) {
	int rank;
	int provided;
	static int mem[8];
	thrd_t threads[2];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		mtx_init(&mutex, mtx_plain);
		for (int i = 0; i < 2; i++)
			thrd_create(&threads[i], put, &values[i]);
		for (int i = 0; i < 2; i++)
			thrd_join(threads[i], NULL);
		mtx_destroy(&mutex);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
