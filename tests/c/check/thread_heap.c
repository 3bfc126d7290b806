/* clean: A thread of rank 0 stores to memory and frees it. The main thread puts from newly allocated memory, which may
 * be the same (MPI-5.0 12.3).
 * race: A thread of rank 0 stores to memory, and the main thread puts from the same memory (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=accesses
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static MPI_Win win;

static void *store(void *memory) {
	int *values = memory;

	pthread_mutex_lock(&mutex);
	values[0] = 3; /* @second */
	pthread_mutex_unlock(&mutex);
#ifndef WRONG
	free(values);
#endif
	return NULL;
}

int main(int argc, char **argv) {
	int rank;
	int provided;
	static int mem[8];
	pthread_t thread;
	int *values = calloc(N, sizeof(int));

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		pthread_create(&thread, NULL, store, values);
		usleep(20000);
#ifndef WRONG
		values = calloc(N, sizeof(int));
#endif
		MPI_Put(values, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
		MPI_Win_flush(1, win);
		pthread_join(thread, NULL);
		free(values);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
