/* Proves: messages of 4 to 20 KiB, which the receiver may copy while their sender writes them, arrive whole and in
 *   order. The receive is blocking or nonblocking, has wildcards, a longer or a shorter buffer or a strided datatype,
 *   or is for another message than the one that arrives first. Both ranks may send 8 KiB before they receive, on
 *   which programs rely. MPI-5.0 3.2, 3.5, 3.7
 * np: 2 4
 * ref: mpich
 * nodes: 2
 * timeout: 60
 */
#include "../check.h"

enum { ROUNDS = 120, MAX_BYTES = 40960, SHORT = 4000 };

static char out[MAX_BYTES], in[2 * MAX_BYTES], first[MAX_BYTES];

static char value_at(int round, int i) { return (char)(round * 31 + i * 7 + i / 256); }

static void fill(int round, int bytes) {
	for (int i = 0; i < bytes; i++)
		out[i] = value_at(round, i);
}

static void check_data(const char *what, int round, int bytes, int stride) {
	for (int i = 0; i < bytes; i++)
		if (in[i * stride] != value_at(round, i)) {
			CHECK(0, "%s, round %d: byte %d of %d is %d, not %d", what, round, i, bytes, in[i * stride],
			      value_at(round, i));
			return;
		}
}

static void check_count(const char *what, int round, MPI_Status *status, int bytes) {
	int count = -1;
	MPI_Get_count(status, MPI_CHAR, &count);
	CHECK(count == bytes && status->MPI_TAG == round, "%s, round %d: %d bytes with tag %d", what, round, count,
	      status->MPI_TAG);
}

static void receive(int round, int bytes, int from) {
	static const char *const names[] = {"blocking", "wildcards", "nonblocking", "strided", "short", "two"};
	const int how = round % 6;
	MPI_Status status[2];
	MPI_Request request[2];
	MPI_Datatype strided;
	memset(in, 0x55, sizeof in);
	switch (how) {
	case 0:
		MPI_Recv(in, bytes, MPI_CHAR, from, round, MPI_COMM_WORLD, &status[0]);
		break;
	case 1:
		MPI_Recv(in, MAX_BYTES, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status[0]);
		break;
	case 2:
		MPI_Irecv(in, MAX_BYTES, MPI_CHAR, from, round, MPI_COMM_WORLD, &request[0]);
		MPI_Wait(&request[0], &status[0]);
		break;
	case 3:
		MPI_Type_vector(MAX_BYTES, 1, 2, MPI_CHAR, &strided);
		MPI_Type_commit(&strided);
		MPI_Recv(in, 1, strided, from, round, MPI_COMM_WORLD, &status[0]);
		MPI_Type_free(&strided);
		break;
	case 4:
		CHECK_CLASS(MPI_Recv(in, SHORT, MPI_CHAR, from, round, MPI_COMM_WORLD, &status[0]), MPI_ERR_TRUNCATE);
		CHECK(in[SHORT] == 0x55, "round %d: the byte after the buffer was written", round);
		return;
	default: /* the thread waits for the message that is sent second */
		MPI_Irecv(first, MAX_BYTES, MPI_CHAR, from, ROUNDS, MPI_COMM_WORLD, &request[1]);
		MPI_Irecv(in, MAX_BYTES, MPI_CHAR, from, round, MPI_COMM_WORLD, &request[0]);
		MPI_Wait(&request[0], &status[0]);
		MPI_Wait(&request[1], &status[1]);
		for (int i = 0; i < bytes; i++)
			if (first[i] != value_at(round, i)) {
				CHECK(0, "round %d: byte %d of the first message is %d", round, i, first[i]);
				break;
			}
	}
	check_count(names[how], round, &status[0], bytes);
	check_data(names[how], round, bytes, how == 3 ? 2 : 1);
	for (int i = how == 3 ? 2 * bytes : bytes; i < 2 * MAX_BYTES; i++)
		if (in[i] != 0x55) {
			CHECK(0, "%s, round %d: byte %d after the message was written", names[how], round, i);
			break;
		}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	const int other = check_rank ^ 1;
	for (int round = 0; round < ROUNDS; round++) {
		const int bytes = 4096 + round * 7919 % (MAX_BYTES - 4096);
		fill(round, bytes);
		for (int turn = 0; turn < 2; turn++) {
			if (turn != check_rank % 2) {
				receive(round, bytes, other);
				continue;
			}
			if (round % 6 == 5)
				MPI_Send(out, bytes, MPI_CHAR, other, ROUNDS, MPI_COMM_WORLD);
			if (round % 4 == 0)
				MPI_Ssend(out, bytes, MPI_CHAR, other, round, MPI_COMM_WORLD);
			else
				MPI_Send(out, bytes, MPI_CHAR, other, round, MPI_COMM_WORLD);
		}
	}
	enum { BUFFERED = 8 << 10 };
	fill(ROUNDS, BUFFERED);
	MPI_Send(out, BUFFERED, MPI_CHAR, other, 0, MPI_COMM_WORLD);
	MPI_Recv(in, BUFFERED, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	check_data("both send first", ROUNDS, BUFFERED, 1);
	return check_end();
}
