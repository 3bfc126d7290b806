/* Proves: with MPI_THREAD_MULTIPLE several threads of each rank send and receive at once, blocking and nonblocking.
 *   Each thread has its own tag or communicator. No thread hangs and no message is mixed up. MPI-5.0 11.6, 3.5
 * np: 1 2 4
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, TIMES = 150, MOST = 5000 };

static MPI_Comm comms[THREADS];

static void *work(void *argument) {
	int t = (int)(intptr_t)argument, n = check_size, right = (check_rank + 1) % n, left = (check_rank + n - 1) % n;
	int *out = malloc(MOST * sizeof(int)), *in = malloc(MOST * sizeof(int));
	MPI_Comm comm = t % 2 ? comms[t] : MPI_COMM_WORLD;
	for (int i = 0; i < TIMES; i++) {
		int count = i % 10 == 0 ? MOST : i % 5;
		MPI_Request r[2];
		for (int k = 0; k < count; k++)
			out[k] = check_rank * 1000000 + t * 100000 + i * 100 + k;
		memset(in, 0, MOST * sizeof(int));
		MPI_Irecv(in, count, MPI_INT, left, t, comm, &r[0]);
		MPI_Isend(out, count, MPI_INT, right, t, comm, &r[1]);
		if (i % 2)
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		else
			for (int flag = 0; !flag;)
				MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
		for (int k = 0; k < count; k++)
			CHECK(in[k] == left * 1000000 + t * 100000 + i * 100 + k, "thread %d, message %d: [%d] is %d",
			      t, i, k, in[k]);
		if (t == 1 && i % 10 == 0) /* one thread runs collectives */
			MPI_Barrier(comms[0]);
	}
	free(out);
	free(in);
	return NULL;
}

int main(int argc, char **argv) {
	check_begin_threads(&argc, &argv);
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	return check_end();
}
