/* clean: A thread of rank 0 puts to an integer and flushes. It is joined before another thread puts to the integer.
 * race: Two threads of rank 0 put to one integer at the same time (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,put needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static MPI_Win win;
static int values[2] = {1, 2};

static void *put(void *value) {
	MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
#ifndef WRONG
	MPI_Win_flush(1, win);
#endif
	return NULL;
}

int main(int argc, char **argv) {
	int rank;
	int provided;
	static int mem[8];
	pthread_t threads[2];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		pthread_create(&threads[0], NULL, put, &values[0]);
#ifdef WRONG
		pthread_create(&threads[1], NULL, put, &values[1]);
		pthread_join(threads[0], NULL);
#else
		pthread_join(threads[0], NULL);
		pthread_create(&threads[1], NULL, put, &values[1]);
#endif
		pthread_join(threads[1], NULL);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
