/* Times messages; how, loop.h says. Each rank of the lower half has a partner in the upper half, and all pairs work at
 * once.
 *
 *     pingpong:BYTES   there and back; the time is that of one way
 *     stream:BYTES     POSTED sends and receives that wait together, then an empty answer, as public suites have it for
 *                      bandwidth and message rate; the time is that of one message
 *     self             Irecv, Isend and Waitall of 8 bytes from the rank to itself
 *
 * and to be counted, not timed, with one pair:
 *
 *     send, recv       of 8 bytes to a rank that is in no call, and of what has come already */
#include "loop.h"

enum { POSTED = 64 };

static int partner, first; /* first: this rank sends first */
static char *out, *in;

static void buffers(void) {
	out = memory(bytes);
	in = memory(bytes);
}

static void release(void) {
	free(out);
	free(in);
}

static void pingpong(long n) {
	for (long i = 0; i < n; i++) {
		if (first)
			MPI_Send(out, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (!first)
			MPI_Send(out, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
	}
}

static void stream(long n) {
	MPI_Request requests[POSTED];
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < POSTED; k++)
			if (first)
				MPI_Isend(out, bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[k]);
			else
				MPI_Irecv(in, bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[k]);
		MPI_Waitall(POSTED, requests, MPI_STATUSES_IGNORE);
		if (first)
			MPI_Recv(NULL, 0, MPI_BYTE, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(NULL, 0, MPI_BYTE, partner, 3, MPI_COMM_WORLD);
	}
}

static void self(long n) {
	MPI_Request requests[2];
	for (long i = 0; i < n; i++) {
		MPI_Irecv(in, 8, MPI_BYTE, rank, 4, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(out, 8, MPI_BYTE, rank, 4, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
}

static void send(long n) {
	for (long i = 0; i < n; i++)
		MPI_Send(out, 8, MPI_BYTE, partner, 5, MPI_COMM_WORLD);
}

static void recv(long n) {
	for (long i = 0; i < n; i++)
		MPI_Recv(in, 8, MPI_BYTE, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sent(void) {
	buffers();
	if (!first)
		send(4 * counted);
}

/* The other side of send. */
static int unreceived;
static void to_send(void) {
	buffers();
	unreceived = !first;
}

static void end(void) {
	if (unreceived)
		recv(4 * counted);
	unreceived = 0;
	release();
}

static const struct measurement measurements[] = {
	{"pingpong", buffers, pingpong, 0, 2, 0},  {"stream", buffers, stream, 0, POSTED, 0},
	{"self", buffers, self, ORIGIN, 0, 0},     {"send", to_send, send, ORIGIN | AWAY, 0, 0},
	{"recv", sent, recv, ORIGIN | AWAY, 0, 0},
};

static void pairs(void) {
	if (size % 2 != 0) {
		fprintf(stderr, "messages: an even number of ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	first = rank < size / 2;
	partner = (rank + size / 2) % size;
}

int main(int argc, char **argv) {
	static const struct program messages = {
		"messages", measurements, sizeof measurements / sizeof *measurements, end, NULL, NULL, 0};
	return measure(&messages, argc, argv, pairs, NULL);
}
