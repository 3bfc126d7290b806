/* Times messages as public suites do, in the loop that loop.h describes: short loops, MPI_CHAR, and page-aligned
 * buffers. Each rank of the lower half has a partner in the upper half, and all pairs work concurrently.
 *
 *     pingpong:BYTES                a round trip; the time is that of one direction
 *     pingpong.persistent           pingpong with persistent requests
 *     pingpong.two_threads          pingpong, in which two threads answer alternately (with --multiple)
 *     bandwidth                     POSTED pending messages one way, then a short answer; the time of one message
 *     bandwidth.persistent          bandwidth with persistent requests
 *     both_ways                     POSTED pending messages each way; the time of one message each way */
#include "loop.h"

#include <pthread.h>

enum { POSTED = 64, ANSWER = 4 };

static int partner, first; /* first: this rank sends first */
static char *out, *in;
static MPI_Request requests[2 * POSTED];

static void buffers(void) {
	out = pages(bytes + ANSWER);
	in = pages(bytes + ANSWER);
}

static void release(void) {
	for (int k = 0; k < 2 * POSTED; k++)
		if (requests[k] != MPI_REQUEST_NULL)
			MPI_Request_free(&requests[k]);
	free(out);
	free(in);
}

static void send(void) { MPI_Send(out, bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD); }
static void receive(char *to) { MPI_Recv(to, bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void answer(long n, char *to) {
	for (long i = 0; i < n; i++) {
		receive(to);
		send();
	}
}

static void pingpong(long n) {
	if (!first)
		answer(n, in);
	else
		for (long i = 0; i < n; i++) {
			send();
			receive(in);
		}
}

static void *answerer(void *n) {
	char *to = pages(bytes);
	answer(*(long *)n, to);
	free(to);
	return NULL;
}

static void two_threads(long n) {
	long half = n / 2;
	pthread_t helper;
	if (first) {
		pingpong(n);
		return;
	}
	pthread_create(&helper, NULL, answerer, &half);
	answer(n - half, in);
	pthread_join(helper, NULL);
}

static void acknowledge(void) {
	if (first)
		MPI_Recv(in, ANSWER, MPI_CHAR, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(out, ANSWER, MPI_CHAR, partner, 3, MPI_COMM_WORLD);
}

static void bandwidth(long n) {
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < POSTED; k++)
			if (first)
				MPI_Isend(out, bytes, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[k]);
			else
				MPI_Irecv(in, bytes, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[k]);
		MPI_Waitall(POSTED, requests, MPI_STATUSES_IGNORE);
		acknowledge();
	}
}

static void both_ways(long n) {
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < POSTED; k++)
			MPI_Irecv(in, bytes, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[k]);
		for (int k = 0; k < POSTED; k++)
			MPI_Isend(out, bytes, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[POSTED + k]);
		MPI_Waitall(2 * POSTED, requests, MPI_STATUSES_IGNORE);
	}
}

static void one_each(void) {
	buffers();
	MPI_Send_init(out, bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Recv_init(in, bytes, MPI_CHAR, partner, 1, MPI_COMM_WORLD, &requests[1]);
}

static void persistent_pingpong(long n) {
	for (long i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			MPI_Request *r = &requests[first ? k : 1 - k];
			MPI_Start(r);
			MPI_Wait(r, MPI_STATUS_IGNORE);
		}
}

static void many(void) {
	buffers();
	for (int k = 0; k < POSTED; k++)
		if (first)
			MPI_Send_init(out, bytes, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[k]);
		else
			MPI_Recv_init(in, bytes, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[k]);
}

static void persistent_bandwidth(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Startall(POSTED, requests);
		MPI_Waitall(POSTED, requests, MPI_STATUSES_IGNORE);
		acknowledge();
	}
}

static const struct measurement measurements[] = {
	{"pingpong", buffers, pingpong, BRIEF, 2, 1000},
	{"pingpong.persistent", one_each, persistent_pingpong, BRIEF, 2, 1000},
	{"pingpong.two_threads", buffers, two_threads, BRIEF, 2, 1000},
	{"bandwidth", buffers, bandwidth, BRIEF, POSTED, 200},
	{"bandwidth.persistent", many, persistent_bandwidth, BRIEF, POSTED, 200},
	{"both_ways", buffers, both_ways, BRIEF, POSTED, 200},
};

static void pairs(void) {
	if (size % 2 != 0) {
		fprintf(stderr, "sweep_messages: an even number of ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	first = rank < size / 2;
	partner = (rank + size / 2) % size;
	for (int k = 0; k < 2 * POSTED; k++)
		requests[k] = MPI_REQUEST_NULL;
}

int main(int argc, char **argv) {
	static const struct program messages = {
		"sweep_messages", measurements, sizeof measurements / sizeof *measurements, release, NULL, NULL, 0};
	return measure(&messages, argc, argv, pairs, NULL);
}
