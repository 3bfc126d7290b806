/* Times messages; how, loop.h says. Each rank of the lower half has a partner in the upper half, and all pairs work at
 * once.
 *
 *     pingpong:BYTES   there and back; the time is that of one way
 *     stream:BYTES     POSTED sends and receives that wait together, then an empty answer, as public suites have it for
 *                      bandwidth and message rate; the time is that of one message */
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

static const struct measurement measurements[] = {
	{"pingpong", buffers, pingpong, 0, 2, 0},
	{"stream", buffers, stream, 0, POSTED, 0},
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
	static const struct program messages = {"messages", measurements, sizeof measurements / sizeof *measurements,
						release,    NULL,         NULL};
	return measure(&messages, argc, argv, pairs, NULL);
}
