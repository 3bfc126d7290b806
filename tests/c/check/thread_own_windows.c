/* clean: Two threads create and free their own windows, which may reuse each other's memory. All operations are
 * accumulates (MPI-5.0 12.2.2, 12.7).
 * race: Two threads create and free their own windows, which may reuse each other's memory. In one window both ranks
 * put (MPI-5.0 12.2.2, 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=0 lines=put,put needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static MPI_Comm comms[2];

static void *work(void *comm) {
#ifdef WRONG
	for (int i = 0; i < 1; i++) {
#else
	for (int i = 0; i < 20; i++) {
#endif
		long *mem, one = 1, result;
		MPI_Win win;
		MPI_Win_allocate(8, 8, MPI_INFO_NULL, *(MPI_Comm *)comm, &mem, &win);
		MPI_Win_set_name(win, "q");
		MPI_Win_lock_all(0, win);
#ifdef WRONG
		if (comm == &comms[0])
			MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win); /* @put */
		else
			MPI_Fetch_and_op(&one, &result, MPI_LONG, 0, 0, MPI_SUM, win);
#else
		MPI_Fetch_and_op(&one, &result, MPI_LONG, 0, 0, MPI_SUM, win);
#endif
		MPI_Win_unlock_all(win);
		MPI_Win_free(&win);
	}
	return NULL;
}

int main(int argc, char **argv) {
	int rank, provided;
	pthread_t threads[2];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &comms[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		MPI_Comm_free(&comms[i]);
	}
	MPI_Finalize();
	return 0;
}
