/* Times messages, as loop.h describes. Each rank of the lower half has a partner in the upper half, and all pairs work
 * concurrently.
 *
 *     pingpong:BYTES   a round trip; the time is that of one direction
 *     stream:BYTES     POSTED pending messages one way, then an empty answer, as public suites measure
 *                      bandwidth and message rate; the time is that of one message
 *     few:N            N messages of 8 bytes in each direction, all pending, like a halo exchange; the time is
 *                      that of the whole exchange
 *     few.again:N      as few:N, with persistent requests
 *     self             Irecv, Isend and Waitall of 8 bytes from the rank to itself
 *
 * bench/icount counts the instructions of these measurements, with one pair:
 *
 *     send             a send of 8 bytes to a rank that is in no MPI call
 *     recv             the receive of 8 bytes that have arrived already */
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

/* Exchanges messages of 8 bytes. `bytes`, the number after the name, is the number of messages. */
enum { FEW = 16 };
static MPI_Request some[2 * FEW];

static void few(long n) {
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < bytes; k++)
			MPI_Irecv(in + 8 * k, 8, MPI_BYTE, partner, k, MPI_COMM_WORLD, &some[k]);
		for (int k = 0; k < bytes; k++)
			MPI_Isend(out + 8 * k, 8, MPI_BYTE, partner, k, MPI_COMM_WORLD, &some[bytes + k]);
		MPI_Waitall(2 * bytes, some, MPI_STATUSES_IGNORE);
	}
}

static void room_for_few(void) {
	out = memory(8 * FEW);
	in = memory(8 * FEW);
	bytes = bytes < FEW ? bytes : FEW;
}

static void few_inits(void) {
	room_for_few();
	for (int k = 0; k < bytes; k++) {
		MPI_Recv_init(in + 8 * k, 8, MPI_BYTE, partner, k, MPI_COMM_WORLD, &some[k]);
		MPI_Send_init(out + 8 * k, 8, MPI_BYTE, partner, k, MPI_COMM_WORLD, &some[bytes + k]);
	}
}

static void few_again(long n) {
	for (long i = 0; i < n; i++) {
		MPI_Startall(2 * bytes, some);
		MPI_Waitall(2 * bytes, some, MPI_STATUSES_IGNORE);
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

/* Prepares the measurement "send". The function `end` later receives the messages that it has sent. */
static int unreceived;
static void to_send(void) {
	buffers();
	unreceived = !first;
}

static void end(void) {
	for (int k = 0; k < 2 * FEW; k++)
		if (some[k] != MPI_REQUEST_NULL)
			MPI_Request_free(&some[k]);
	if (unreceived)
		recv(4 * counted);
	unreceived = 0;
	release();
}

static const struct measurement measurements[] = {
	{"pingpong", buffers, pingpong, 0, 2, 0},  {"stream", buffers, stream, 0, POSTED, 0},
	{"few", room_for_few, few, 0, 0, 0},       {"few.again", few_inits, few_again, 0, 0, 0},
	{"self", buffers, self, ORIGIN, 0, 0},     {"send", to_send, send, ORIGIN | AWAY, 0, 0},
	{"recv", sent, recv, ORIGIN | AWAY, 0, 0},
};

static void pairs(void) {
	for (int k = 0; k < 2 * FEW; k++)
		some[k] = MPI_REQUEST_NULL;
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
