/* Proves: messages from one rank to another do not overtake each other, whatever their sizes. Receives may or may
 *   not name source and tag. Sends may be blocking, nonblocking, synchronous or buffered. MPI-5.0 3.5
 * np: 1 2 4
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { TIMES = 200, MOST = 40000 };

static int length(int i) {
	static const int lengths[] = {1, 3, 2000, 0, 40000, 2, 9000, 5};
	return lengths[i * 5 % 8 ^ (i / 8 % 2)];
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, right = (check_rank + 1) % n, left = (check_rank + n - 1) % n, count;
	int *out[TIMES], *in = malloc(MOST * sizeof(int)), room = 64 * 1024 * 1024;
	char *buffer = malloc(room);
	MPI_Request requests[TIMES];
	MPI_Status status;
	MPI_Buffer_attach(buffer, room);
	for (int i = 0; i < TIMES; i++) {
		out[i] = malloc((length(i) + 1) * sizeof(int));
		for (int k = 0; k < length(i); k++)
			out[i][k] = check_rank * 1000000 + i * 1000 + k % 1000;
		requests[i] = MPI_REQUEST_NULL;
		if (i % 3 == 2)
			MPI_Bsend(out[i], length(i), MPI_INT, right, i % 5 == 0, MPI_COMM_WORLD);
		else
			MPI_Isend(out[i], length(i), MPI_INT, right, i % 5 == 0, MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 0; i < TIMES; i++) {
		int source = i % 2 ? MPI_ANY_SOURCE : left, tag = i % 7 ? MPI_ANY_TAG : i % 5 == 0;
		MPI_Recv(in, MOST, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_INT, &count);
		CHECK(count == length(i) && status.MPI_TAG == (i % 5 == 0),
		      "message %d has %d elements, tag %d, not %d, %d", i, count, status.MPI_TAG, length(i),
		      i % 5 == 0);
		for (int k = 0; k < count && count == length(i); k++)
			if (in[k] != left * 1000000 + i * 1000 + k % 1000) {
				CHECK(0, "message %d, element %d is %d, not %d", i, k, in[k],
				      left * 1000000 + i * 1000 + k % 1000);
				break;
			}
	}
	MPI_Waitall(TIMES, requests, MPI_STATUSES_IGNORE);
	MPI_Buffer_detach(&buffer, &room);
	for (int i = 0; i < TIMES; i++)
		free(out[i]);
	free(in);
	free(buffer);
	return check_end();
}
