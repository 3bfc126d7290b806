/* clean: One thread of rank 0 puts, flushes and signals a condition. Another thread waits for the condition, then puts
 * (MPI-5.0 12.7).
 * race: One thread of rank 0 puts, signals a condition and then flushes. Another thread waits for the condition, then
 * puts (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done;
static MPI_Win win;
static int values[2] = {1, 2};

static void *first(void *unused) {
	(void)unused;
	MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
#ifndef WRONG
	MPI_Win_flush(1, win);
#endif
	pthread_mutex_lock(&mutex);
	done = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
#ifdef WRONG
	MPI_Win_flush(1, win);
#endif
	return NULL;
}

static void *second(void *unused) {
	(void)unused;
	pthread_mutex_lock(&mutex);
	while (!done)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
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
		pthread_create(&threads[1], NULL, second, NULL);
		pthread_create(&threads[0], NULL, first, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
