/* Proves: nonblocking sends of all ranks to each other at once arrive complete and in order, with more data than any
 *   inbox holds. Receives are posted before or after the messages arrive. Either all messages have one tag, or each has
 *   its own tag and the receives are in reverse order. Requests may be persistent. A receiver may make no MPI calls for
 *   a while. The send buffer may change once the request is complete. MPI-5.0 3.5, 3.7
 * np: 2 3 4
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

#include <time.h>

enum { POSTED = 96, MOST = 40000, TURNS = 6, BYTES = 1 << 20 };

static const int lengths[] = {0, 1, 64, 1000, 1024, 1025, 4096, 4097, 8192, 16000, 16384, 16385, 32768, 32769, MOST};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static char *out, *in;
static MPI_Request *requests;

static int length(int turn, int i) { return lengths[(turn * 5 + i * 7) % LENGTHS]; }
static char value(int turn, int from, int to, int i, int k) {
	return (char)(turn * 31 + from * 17 + to * 13 + i * 7 + k);
}
static char *place(char *buffers, int peer, int i) { return buffers + ((size_t)peer * POSTED + (size_t)i) * MOST; }

static void fill(int turn) {
	for (int to = 0; to < check_size; to++)
		for (int i = 0; i < POSTED; i++)
			for (int k = 0; k < length(turn, i); k++)
				place(out, to, i)[k] = value(turn, check_rank, to, i, k);
}

/* Returns the tag of message i. It is i in every third turn, so that the receives can be in reverse order. In the other
 * turns it is 0. */
static int tag(int turn, int i) { return turn % 3 == 2 ? i : 0; }

static int receives(int turn, MPI_Request *r) {
	int n = 0;
	for (int k = 0; k < POSTED; k++)
		for (int from = 0; from < check_size; from++) {
			int i = turn % 3 == 2 ? POSTED - 1 - k : k;
			MPI_Irecv(place(in, from, i), MOST, MPI_CHAR, from, tag(turn, i), MPI_COMM_WORLD, &r[n++]);
		}
	return n;
}

static int sends(int turn, MPI_Request *r) {
	int n = 0;
	for (int i = 0; i < POSTED; i++)
		for (int to = 0; to < check_size; to++)
			MPI_Isend(place(out, to, i), length(turn, i), MPI_CHAR, to, tag(turn, i), MPI_COMM_WORLD,
				  &r[n++]);
	return n;
}

static void look(int turn) {
	for (int from = 0; from < check_size; from++)
		for (int i = 0; i < POSTED; i++)
			for (int k = 0; k < length(turn, i); k++)
				if (place(in, from, i)[k] != value(turn, from, check_rank, i, k)) {
					CHECK(0, "turn %d: message %d from %d, of %d bytes, differs at %d", turn, i,
					      from, length(turn, i), k);
					break;
				}
}

static void turn(int t) {
	int n = 0;
	fill(t);
	memset(in, 0, (size_t)check_size * POSTED * MOST);
	if (t % 2 == 0)
		n = receives(t, requests);
	int m = sends(t, requests + n);
	if (t % 2 != 0)
		m += receives(t, requests + m);
	MPI_Waitall(n + m, requests, MPI_STATUSES_IGNORE);
	memset(out, 0x55, (size_t)check_size * POSTED * MOST);
	look(t);
}

/* Sends more data to the last rank than an inbox holds, while the last rank makes no MPI calls. The other ranks wait
 * for their sends. */
static void computes(int size) {
	enum { MESSAGES = BYTES / 64 };
	int last = check_size - 1, n = size < 1024 ? MESSAGES / 16 : BYTES / size;
	char *data = malloc((size_t)n * (size_t)size);
	MPI_Request *r = malloc((size_t)n * sizeof *r);
	int flag = 0;
	if (check_rank == last) {
		struct timespec until = {0, 30000000};
		MPI_Barrier(MPI_COMM_WORLD);
		nanosleep(&until, NULL);
		for (int from = 0; from < last; from++)
			for (int i = 0; i < n; i++) {
				MPI_Recv(data, size, MPI_CHAR, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				CHECK(data[0] == (char)i && data[size - 1] == (char)i,
				      "message %d from %d of %d bytes differs", i, from, size);
			}
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < n; i++) {
			memset(data + (size_t)i * (size_t)size, i, (size_t)size);
			MPI_Isend(data + (size_t)i * (size_t)size, size, MPI_CHAR, last, 5, MPI_COMM_WORLD, &r[i]);
			if (i % 8 == 0)
				MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
		}
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	}
	free(r);
	free(data);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	size_t bytes = (size_t)check_size * POSTED * MOST;
	out = malloc(bytes);
	in = malloc(bytes);
	requests = malloc(2 * (size_t)check_size * POSTED * sizeof *requests);
	for (int t = 0; t < TURNS; t++)
		turn(t);
	for (int i = 0; i < LENGTHS; i++)
		if (lengths[i] > 0)
			computes(lengths[i]);
	/* persistent requests, started again */
	int n = 0;
	for (int to = 0; to < check_size; to++)
		for (int i = 0; i < POSTED; i++) {
			MPI_Recv_init(place(in, to, i), MOST, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[n++]);
			MPI_Send_init(place(out, to, i), length(1, i), MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[n++]);
		}
	for (int t = 0; t < 3; t++) {
		fill(1);
		memset(in, 0, bytes);
		MPI_Startall(n, requests);
		MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
		memset(out, 0x55, bytes);
		look(1);
	}
	for (int i = 0; i < n; i++)
		MPI_Request_free(&requests[i]);
	free(requests);
	free(in);
	free(out);
	return check_end();
}
