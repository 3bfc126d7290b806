/* Proves: with MPI_THREAD_MULTIPLE several threads of each rank exchange messages on many communicators at once. Each
 *   thread uses all communicators, with small and large messages, all modes, wildcards and probes. Other threads create
 *   and free their own communicators. No message is received on a wrong communicator, and the messages of each
 *   communicator keep their order. MPI-5.0 11.6, 3.5
 * np: 2 4
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 120
 */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 5, COMMS = 9, TIMES = 150, MOST = 6000 };

static MPI_Comm comms[COMMS], own[THREADS];

static int value(int from, int thread, int comm, int time) {
	return ((from * THREADS + thread) * COMMS + comm) * 1000 + time;
}

static void *work(void *argument) {
	int thread = *(int *)argument, n = check_size, to = (check_rank + 1 + thread % 2) % n, flag;
	int from = (check_rank - 1 - thread % 2 + 2 * n) % n;
	int *out = malloc(COMMS * MOST * sizeof(int)), *in = malloc(COMMS * MOST * sizeof(int));
	MPI_Request r[2 * COMMS];
	for (int time = 0; time < TIMES; time++) {
		for (int c = 0; c < COMMS; c++) {
			int size = (c + time) % 4 == 0 ? MOST : 1 + (c + time) % 4, *mine = out + c * MOST;
			for (int i = 0; i < size; i++)
				mine[i] = value(check_rank, thread, c, time) + i;
			if ((c + time) % 3 == 0)
				MPI_Irecv(in + c * MOST, MOST, MPI_INT, MPI_ANY_SOURCE, thread, comms[c], &r[c]);
			else
				MPI_Irecv(in + c * MOST, MOST, MPI_INT, from, thread, comms[c], &r[c]);
			if (time % 5 == 4)
				MPI_Issend(mine, size, MPI_INT, to, thread, comms[c], &r[COMMS + c]);
			else
				MPI_Isend(mine, size, MPI_INT, to, thread, comms[c], &r[COMMS + c]);
			MPI_Iprobe(MPI_ANY_SOURCE, 5000, comms[(c + 3) % COMMS], &flag, MPI_STATUS_IGNORE);
			CHECK(!flag, "a message that nobody has sent");
		}
		if (time % 2 == 0) {
			MPI_Waitall(2 * COMMS, r, MPI_STATUSES_IGNORE);
		} else {
			for (int left = 2 * COMMS, index; left > 0; left--)
				MPI_Waitany(2 * COMMS, r, &index, MPI_STATUS_IGNORE);
		}
		for (int c = 0; c < COMMS; c++) {
			int size = (c + time) % 4 == 0 ? MOST : 1 + (c + time) % 4, wrong = 0;
			for (int i = 0; i < size; i++)
				wrong += in[c * MOST + i] != value(from, thread, c, time) + i;
			CHECK(wrong == 0, "thread %d communicator %d time %d: %d are wrong", thread, c, time, wrong);
		}
		if (time % 8 == 7) {
			MPI_Comm made;
			int one = value(check_rank, thread, 0, time), other = -1;
			MPI_Comm_dup(own[thread], &made);
			MPI_Sendrecv(&one, 1, MPI_INT, to, 0, &other, 1, MPI_INT, from, 0, made, MPI_STATUS_IGNORE);
			CHECK(other == value(from, thread, 0, time), "the new communicator brought %d", other);
			MPI_Comm_free(&made);
		}
	}
	free(out), free(in);
	return NULL;
}

int main(int argc, char **argv) {
	int number[THREADS];
	pthread_t threads[THREADS];
	check_begin_threads(&argc, &argv);
	for (int c = 0; c < COMMS; c++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
	for (int t = 0; t < THREADS; t++)
		MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
	for (int t = 0; t < THREADS; t++) {
		number[t] = t;
		pthread_create(&threads[t], NULL, work, &number[t]);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int c = 0; c < COMMS; c++)
		MPI_Comm_free(&comms[c]);
	for (int t = 0; t < THREADS; t++)
		MPI_Comm_free(&own[t]);
	return check_end();
}
