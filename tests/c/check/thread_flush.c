/* clean: A thread of rank 0 puts. The main thread joins the thread, flushes and puts to the same integer (MPI-5.0
 * 12.7).
 * race: A thread of rank 0 puts. The main thread flushes before it joins the thread, and puts to the same integer
 * (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=first,second needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static MPI_Win win;
static int values[2] = {1, 2};

static void *put(void *value) {
	MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @first */
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
	MPI_Win_set_name(win, "q");
	MPI_Win_lock_all(0, win);
	if (rank == 0) {
		pthread_create(&thread, NULL, put, &values[0]);
#ifdef WRONG
		MPI_Win_flush(1, win);
		pthread_join(thread, NULL);
#else
		pthread_join(thread, NULL);
		MPI_Win_flush(1, win);
#endif
		MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @second */
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
