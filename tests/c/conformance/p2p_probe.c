/* Proves: MPI_Probe and MPI_Iprobe return source, tag and size and leave the message in the queue, with and without
 *   wildcards. The next receive gets that message. Iprobe returns false if no message has arrived. Probes see large
 *   messages. MPI-5.0 3.8.1
 * np: 1 2 4
 * ref: mpich
 * timeout: 30
 */
#include "../check.h"

enum { TIMES = 40, MOST = 50000 };

static int length(int i) { return i % 4 == 0 ? MOST : i % 4 == 1 ? 0 : i * 3; }

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, right = (me + 1) % n, left = (me + n - 1) % n, flag = 1, count, again;
	int *out = malloc(MOST * sizeof(int)), *in = malloc(MOST * sizeof(int));
	MPI_Status status, second;
	MPI_Request request;
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
	CHECK(!flag, "there is a message before any was sent");
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < MOST; i++)
		out[i] = me + i;
	for (int i = 0; i < TIMES; i++) {
		MPI_Isend(out, length(i), MPI_INT, right, i, MPI_COMM_WORLD, &request);
		MPI_Iprobe(left, 9999, MPI_COMM_WORLD, &flag, &status);
		CHECK(!flag, "there is a message with tag 9999");
		if (i % 2)
			for (flag = 0; !flag;)
				MPI_Iprobe(i % 4 == 1 ? MPI_ANY_SOURCE : left, i % 3 ? i : MPI_ANY_TAG, MPI_COMM_WORLD,
					   &flag, &status);
		else
			MPI_Probe(i % 4 == 0 ? MPI_ANY_SOURCE : left, i % 3 ? i : MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_INT, &count);
		CHECK(status.MPI_SOURCE == left && status.MPI_TAG == i && count == length(i),
		      "probe: from %d, tag %d, %d elements, not %d, %d, %d", status.MPI_SOURCE, status.MPI_TAG, count,
		      left, i, length(i));
		MPI_Probe(left, i, MPI_COMM_WORLD, &second); /* the message is still queued */
		MPI_Get_count(&second, MPI_INT, &again);
		CHECK(again == count, "the second probe says %d elements, not %d", again, count);
		MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
		for (int k = 0; k < count; k += 1 + count / 100)
			CHECK(in[k] == left + k, "element %d is %d, not %d", k, in[k], left + k);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Iprobe(left, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		CHECK(!flag, "message %d is there twice", i);
	}
	free(out);
	free(in);
	return check_end();
}
