/* clean: Two threads of rank 0 put to one integer and flush, each under the write lock (MPI-5.0 12.7).
 * race: Two threads of rank 0 put to one integer and flush under the read lock, which both may hold at the same time
 * (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,put needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static MPI_Win win;
static int values[2] = {1, 2};

static void *put(void *value) {
#ifdef WRONG
	pthread_rwlock_rdlock(&lock);
#else
	pthread_rwlock_wrlock(&lock);
#endif
	MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
	MPI_Win_flush(1, win);
	pthread_rwlock_unlock(&lock);
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
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, put, &values[i]);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
