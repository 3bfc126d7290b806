/* clean: One thread gets, and another thread waits for the request. The first thread flushes and gets into the same
 * buffer again (MPI-5.0 12.3.5).
 * race: One thread gets, and another thread waits for the request. The first thread gets into the same buffer again,
 * and nothing orders this get after the wait (MPI-5.0 12.3.5).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static MPI_Win win;
static MPI_Request request;
static sem_t semaphore;
static int value;

static void *get(void *arg) {
	MPI_Rget(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); /* @first */
	sem_post(&semaphore);
#ifdef WRONG
	usleep(100000); /* gives the other thread time for MPI_Wait, but does not order that call before the next one */
	MPI_Get(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win); /* @second */
#else
	usleep(100000); /* gives the other thread time for MPI_Wait, but does not order that call before the next one */
	MPI_Win_flush(1, win);
	MPI_Get(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
#endif
	MPI_Win_flush(1, win);
	return arg;
}

static void *take(void *arg) {
	sem_wait(&semaphore);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
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
		pthread_create(&threads[0], NULL, get, NULL);
		pthread_create(&threads[1], NULL, take, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	sem_destroy(&semaphore);
	MPI_Finalize();
	return 0;
}
