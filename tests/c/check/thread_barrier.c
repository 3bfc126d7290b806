/* clean: One thread of rank 0 puts and flushes before a barrier of two threads. The other thread puts after the barrier
 * (MPI-5.0 12.7).
 * race: Both threads of rank 0 put and flush after a barrier (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static MPI_Win win;
static int values[2] = {1, 2};

static void *first(void *unused) {
	(void)unused;
#ifdef WRONG
	pthread_barrier_wait(&barrier);
	MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
	MPI_Win_flush(1, win);
#else
	MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	MPI_Win_flush(1, win);
	pthread_barrier_wait(&barrier);
#endif
	return NULL;
}

static void *second(void *unused) {
	(void)unused;
	pthread_barrier_wait(&barrier);
	MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
	MPI_Win_flush(1, win);
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
		pthread_barrier_init(&barrier, NULL, 2);
		pthread_create(&threads[0], NULL, first, NULL);
		pthread_create(&threads[1], NULL, second, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&barrier);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
