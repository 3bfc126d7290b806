/* Times concurrent operations of several threads, each with its own window or communicator, as loop.h describes. The
 * result is the elapsed time divided by the number of operations of all threads.
 *
 *     put:THREADS      put of 8 bytes and flush, from rank 0
 *     stream:THREADS   each thread of rank 0 sends POSTED pending messages of 8 bytes to its partner thread of
 *                      rank 1, which then sends an empty answer */
#include "loop.h"

#include <pthread.h>
#include <stdint.h>

enum { MOST = 16, POSTED = 64 };

static int threads;
static pthread_t crew[MOST];
static pthread_barrier_t gate; /* all threads and the main thread wait here before and after each loop */
static void (*job)(int me, long n);
static long share; /* number of iterations of each thread in the current loop */
static MPI_Win wins[MOST];
static MPI_Comm comms[MOST];

static void put_job(int me, long n) {
	int64_t one = 1;
	for (long i = 0; i < n; i++) {
		MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, wins[me]);
		MPI_Win_flush(1, wins[me]);
	}
}

static void stream_job(int me, long n) {
	MPI_Request requests[POSTED];
	char bytes[8] = {0}, in[POSTED][8];
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < POSTED; k++)
			if (rank == 0)
				MPI_Isend(bytes, 8, MPI_BYTE, 1, 1, comms[me], &requests[k]);
			else
				MPI_Irecv(in[k], 8, MPI_BYTE, 0, 1, comms[me], &requests[k]);
		MPI_Waitall(POSTED, requests, MPI_STATUSES_IGNORE);
		if (rank == 0)
			MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, comms[me], MPI_STATUS_IGNORE);
		else
			MPI_Send(NULL, 0, MPI_BYTE, 0, 2, comms[me]);
	}
}

static void *work(void *me) {
	for (;;) {
		pthread_barrier_wait(&gate);
		if (job == NULL)
			return NULL;
		job((int)(intptr_t)me, share);
		pthread_barrier_wait(&gate);
	}
}

static void together(void (*what)(int me, long n), long n) {
	share = n;
	job = what;
	pthread_barrier_wait(&gate);
	if (what != NULL)
		pthread_barrier_wait(&gate);
}

static void put(long n) { together(put_job, n); }
static void stream(long n) { together(stream_job, n); }

static void assemble(void) {
	threads = bytes <= MOST ? bytes : MOST;
	pthread_barrier_init(&gate, NULL, threads + 1);
	for (int t = 0; t < threads; t++)
		pthread_create(&crew[t], NULL, work, (void *)(intptr_t)t);
}

static void windows(void) {
	assemble();
	for (int t = 0; t < threads; t++) {
		char *base;
		MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wins[t]);
		MPI_Win_lock_all(0, wins[t]);
	}
}

static void communicators(void) {
	assemble();
	for (int t = 0; t < threads; t++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
}

static void dismiss(void) {
	together(NULL, 0);
	for (int t = 0; t < threads; t++) {
		pthread_join(crew[t], NULL);
		if (comms[t] != MPI_COMM_NULL)
			MPI_Comm_free(&comms[t]);
		if (wins[t] != MPI_WIN_NULL) {
			MPI_Win_unlock_all(wins[t]);
			MPI_Win_free(&wins[t]);
		}
	}
	pthread_barrier_destroy(&gate);
}

static const struct measurement measurements[] = {
	{"put", windows, put, ORIGIN | SHARED, 1, 0},
	{"stream", communicators, stream, SHARED, POSTED, 0},
};

static void nothing(void) {
	for (int t = 0; t < MOST; t++) {
		wins[t] = MPI_WIN_NULL;
		comms[t] = MPI_COMM_NULL;
	}
}

int main(int argc, char **argv) {
	static const struct program program = {
		"threads", measurements, sizeof measurements / sizeof *measurements, dismiss, NULL, NULL, 1};
	return measure(&program, argc, argv, nothing, NULL);
}
