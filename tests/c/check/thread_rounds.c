/* clean: Two threads of rank 0 put to one integer in different rounds of a barrier (MPI-5.0 12.7).
 * race: Two threads of rank 0 put to one integer in the same round of a barrier (MPI-5.0 12.7).
 *
 * np: 2
 * ref: mpich
 * find: race window=q target=1 lines=put,put needs=calls
 */
#include <mpi.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static MPI_Win win;
static int values[2] = {1, 2};

static void *put(void *value) {
	for (int round = 0; round < 3; round++) {
#ifdef WRONG
		if (round == 1) {
#else
		if (round == (value == &values[0])) {
#endif
			MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* @put */
			MPI_Win_flush(1, win);
		}
		pthread_barrier_wait(&barrier);
	}
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
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, put, &values[i]);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&barrier);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
