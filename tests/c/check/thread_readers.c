/* clean: Two threads of rank 0 get under a read lock, and a third puts under the write lock (MPI-5.0 12.7).
 * race: Two threads of rank 0 get under a read lock, and a third puts without the lock (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static MPI_Win win;
static int values[2] = {1, 2};

static void *get(void *value) {
	pthread_rwlock_rdlock(&lock);
	MPI_Get(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
	MPI_Win_flush(1, win);
	pthread_rwlock_unlock(&lock);
	return NULL;
}

static void *put(void *unused) {
	static const int three = 3;
	(void)unused;
#ifdef WRONG
	MPI_Put(&three, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_flush(1, win);
#else
	pthread_rwlock_wrlock(&lock);
	MPI_Put(&three, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	MPI_Win_flush(1, win);
	pthread_rwlock_unlock(&lock);
#endif
	return NULL;
}

int main(int argc, char **argv) {
	int rank;
	int provided;
	static int mem[8];
	pthread_t threads[3];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, get, &values[i]);
		pthread_create(&threads[2], NULL, put, NULL);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
