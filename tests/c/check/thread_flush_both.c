/* clean: One thread puts to an integer, flushes and puts again. Another thread flushes after the first put (MPI-5.0
 * 12.7).
 * race: One thread puts twice to an integer. Another thread flushes after the first put, but nothing orders this flush
 * before the second put (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static MPI_Win win;
static sem_t semaphore;

static void *put(void *arg) {
	static const int values[2] = {1, 2};

	MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
	sem_post(&semaphore);
#ifdef WRONG
	usleep(100000); /* gives the other thread time to flush, but does not order its flush before the next call */
	MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
#else
	usleep(100000); /* gives the other thread time to flush, but does not order its flush before the next call */
	MPI_Win_flush(1, win);
	MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
#endif
	MPI_Win_flush(1, win);
	return arg;
}

static void *flush(void *arg) {
	sem_wait(&semaphore);
	MPI_Win_flush(1, win);
	return arg;
}

int main(int argc, char **argv) {
	int rank, provided;
	static int mem[8];
	pthread_t threads[2];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sem_init(&semaphore, 0, 0);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		pthread_create(&threads[0], NULL, put, NULL);
		pthread_create(&threads[1], NULL, flush, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	sem_destroy(&semaphore);
	MPI_Finalize();
	return 0;
}
