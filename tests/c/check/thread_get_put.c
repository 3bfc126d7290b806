/* clean: A thread of rank 0 gets into a buffer and flushes. The main thread joins it, then puts from the buffer.
 * race: A thread of rank 0 gets into a buffer while the main thread puts from the buffer (MPI-5.0 12.3).
 *
 * np: 2
 * ref: mpich
 * find: buffer rank=0 lines=first,second needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static MPI_Win win;
static int value;

static void *get(void *unused) {
	(void)unused;
	MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
	MPI_Win_flush(1, win);
	return NULL;
}

int main(int argc, char **argv) {
	int rank;
	int provided;
	static int mem[8];
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(mem, sizeof mem, sizeof mem[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		pthread_create(&thread, NULL, get, NULL);
#ifdef WRONG
		MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win); /* @second */
		pthread_join(thread, NULL);
#else
		pthread_join(thread, NULL);
		MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
#endif
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
