/* Proves: a datatype may be freed as soon as an operation with it has started, and other types created in its place.
 *   The operation works as if the type still existed. A persistent operation does so at every start. Covers small and
 *   large messages, messages to another process and to itself, receives before and after the message, matched probes,
 *   and freed requests. MPI-5.0 5.1.9
 * np: 1 2
 * args: send receive persistent matched freed
 * ref: mpich
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 40000, GAP = 3, ROUNDS = 6, AFTER = 200 };

static int out[MOST * GAP], in[MOST * GAP];

static MPI_Datatype make(int n, int gap) {
	MPI_Datatype t;
	MPI_Type_vector(n, 1, gap, MPI_INT, &t);
	MPI_Type_commit(&t);
	return t;
}

/* Frees t, and then creates other types, one of which may reuse the descriptor of t. */
static void drop(MPI_Datatype *t) {
	MPI_Datatype others[AFTER];
	MPI_Type_free(t);
	for (int i = 0; i < AFTER; i++)
		others[i] = make(5 + i % 20, 1 + i % 4);
	for (int i = 0; i < AFTER; i++)
		MPI_Type_free(&others[i]);
}

static int value(int i, int round) { return i * 7 + round; }

static void fill(int n, int round) {
	for (int i = 0; i < n; i++)
		out[i * GAP] = value(i, round);
	for (int i = 0; i < n * GAP; i++)
		in[i] = -1;
}

static int arrived(int n, int round) { return in[(n - 1) * GAP] == value(n - 1, round) && in[0] == value(0, round); }

static void check(int n, int round) {
	int wrong = 0;
	for (int i = 0; i < n * GAP; i++)
		wrong += in[i] != (i % GAP ? -1 : value(i / GAP, round));
	CHECK(wrong == 0, "%d elements, round %d: %d ints are wrong", n, round, wrong);
}

static void meet(int other) {
	if (other != check_rank)
		MPI_Sendrecv(NULL, 0, MPI_INT, other, 99, NULL, 0, MPI_INT, other, 99, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
}

static void body(int n, int late, int other) {
	MPI_Request r[2];
	MPI_Message m;
	const char *how = check_arg;
	int persistent = strcmp(how, "persistent") == 0, matched = strcmp(how, "matched") == 0;
	MPI_Datatype t;
	if (persistent) {
		t = make(n, GAP);
		MPI_Recv_init(in, 1, t, other, 5, MPI_COMM_WORLD, &r[0]);
		drop(&t);
		t = make(n, GAP);
		MPI_Send_init(out, 1, t, other, 5, MPI_COMM_WORLD, &r[1]);
		drop(&t);
		for (int round = 0; round < ROUNDS; round++) {
			fill(n, round);
			meet(other);
			MPI_Start(&r[late]);
			MPI_Start(&r[!late]);
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
			check(n, round);
			meet(other);
		}
		MPI_Request_free(&r[0]);
		MPI_Request_free(&r[1]);
		return;
	}
	for (int round = 0; round < ROUNDS; round++) {
		fill(n, round);
		meet(other);
		for (int step = 0; step < 2; step++) {
			if (matched ? step == 0 : step != late) { /* if `late` is set, the send precedes the receive */
				t = make(n, GAP);
				MPI_Isend(out, 1, t, other, 5, MPI_COMM_WORLD, &r[1]);
				if (strcmp(how, "receive") != 0)
					drop(&t);
				else
					MPI_Type_free(&t);
				continue;
			}
			t = make(n, GAP);
			if (matched) {
				MPI_Mprobe(other, 5, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
				MPI_Imrecv(in, 1, t, &m, &r[0]);
			} else {
				MPI_Irecv(in, 1, t, other, 5, MPI_COMM_WORLD, &r[0]);
			}
			if (strcmp(how, "send") != 0)
				drop(&t);
			else
				MPI_Type_free(&t);
		}
		meet(other);
		if (strcmp(how, "freed") == 0) {
			MPI_Request_free(&r[0]);
			for (int flag; !arrived(n, round);)
				MPI_Iprobe(other, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
			MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		} else {
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		}
		check(n, round);
		meet(other);
	}
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	static const int sizes[] = {3, 2000, 10000, MOST};
	for (int i = 0; i < 4; i++)
		for (int late = 0; late < 2; late++) {
			body(sizes[i], late, check_rank);
			if (check_size == 2)
				body(sizes[i], late, 1 - check_rank);
		}
	return check_end();
}
