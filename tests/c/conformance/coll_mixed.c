/* Proves: members of one collective call may describe their data differently: predefined types, derived types with or
 *   without gaps, or the v form of the call, with arrays of counts. Reductions alternate between predefined operations
 *   and functions of the application. Messages, puts and nonblocking collectives run between these calls, on several
 *   communicators of the same processes.
 * np: 2 3 5
 * ref: mpich
 * timeout: 60
 */
#include "../check.h"

enum { MOST = 9000, COMMS = 4 };

static int n, me;
static int data[64 * MOST * 2], result[64 * MOST * 2];
static MPI_Datatype gaps, pair; /* gaps: an int and a gap; pair: two ints */
static MPI_Op left;

/* Returns the left operand unless it is 0. Does not commute. */
static void take_left(void *in, void *inout, int *len, MPI_Datatype *type) {
	(void)type;
	for (int i = 0; i < *len; i++)
		if (((int *)in)[i] != 0)
			((int *)inout)[i] = ((int *)in)[i];
}

static int value(int from, int to, int i, int round) { return from * 1000003 + to * 10007 + i * 3 + round + 1; }

/* How this member describes n ints in this round: the datatype, the count, and the distance between two ints, in
 * ints. */
struct way {
	MPI_Datatype type;
	int count, step;
};

static struct way way_of(int count, int round) {
	switch ((me + round) % 3) {
	case 0:
		return (struct way){gaps, count, 2};
	case 1:
		return (struct way){pair, count / 2, 1};
	}
	return (struct way){MPI_INT, count, 1};
}

static void put_in(int *to, const struct way *w, int count, int from_rank, int to_rank, int round) {
	for (int i = 0; i < count; i++)
		to[i * w->step] = value(from_rank, to_rank, i, round);
}

static void compare(const int *b, const struct way *w, int count, int from_rank, int to_rank, int round,
		    const char *call) {
	for (int i = 0; i < count; i++)
		CHECK(b[i * w->step] == value(from_rank, to_rank, i, round), "%s of %d, round %d: [%d] is %d, not %d",
		      call, count, round, i, b[i * w->step], value(from_rank, to_rank, i, round));
}

static void moves(MPI_Comm comm, int count, int round) {
	int root = round % n;
	struct way s = way_of(count, round), r = way_of(count, round + 1);
	int block_s = count * s.step, block_r = count * r.step;
	memset(data, 0, sizeof data);
	put_in(data, &s, count, root, 0, round);
	if (me != root)
		memset(data, 0, sizeof data);
	MPI_Bcast(data, s.count, s.type, root, comm);
	compare(data, &s, count, root, 0, round, "bcast");

	put_in(data, &s, count, me, 0, round);
	MPI_Gather(data, s.count, s.type, result, r.count, r.type, root, comm);
	for (int k = 0; me == root && k < n; k++)
		compare(result + k * block_r, &r, count, k, 0, round, "gather");
	MPI_Allgather(data, s.count, s.type, result, r.count, r.type, comm);
	for (int k = 0; k < n; k++)
		compare(result + k * block_r, &r, count, k, 0, round, "allgather");

	for (int k = 0; k < n; k++)
		put_in(data + k * block_s, &s, count, me, k, round);
	MPI_Scatter(data, s.count, s.type, result, r.count, r.type, root, comm);
	compare(result, &r, count, root, me, round, "scatter");
	MPI_Alltoall(data, s.count, s.type, result, r.count, r.type, comm);
	for (int k = 0; k < n; k++)
		compare(result + k * block_r, &r, count, k, me, round, "alltoall");

	int counts[64], starts[64];
	put_in(data, &s, count, me, 0, round);
	for (int k = 0; k < n; k++)
		counts[k] = r.count, starts[k] = k * r.count;
	if (round % 2) /* the form is the same at all members, because MPI requires one call */
		MPI_Allgatherv(data, s.count, s.type, result, counts, starts, r.type, comm);
	else
		MPI_Allgather(data, s.count, s.type, result, r.count, r.type, comm);
	for (int k = 0; k < n; k++)
		compare(result + k * block_r, &r, count, k, 0, round, "allgather or allgatherv");
}

/* Runs the reductions, with MPI_SUM if by is 0. Otherwise the operation is take_left, so the result is the value of the
 * lowest rank. */
static void reductions(MPI_Comm comm, int count, int round, int by) {
	MPI_Op op = by ? left : MPI_SUM;
	int root = round % n, in_place = round / 2 % 2;
	for (int kind = 0; kind < 4; kind++) {
		int upto = kind == 2 ? me + 1 : kind == 3 ? me : n;
		for (int i = 0; i < count; i++) {
			data[i] = value(me, 0, i % 100, round);
			result[i] = in_place ? data[i] : -1;
		}
		/* not MPI_IN_PLACE with MPI_Reduce: MPICH crashes for large data at rank 1 */
		const void *in = in_place && kind != 1 ? MPI_IN_PLACE : data;
		if (kind == 0)
			MPI_Allreduce(in, result, count, MPI_INT, op, comm);
		else if (kind == 1)
			MPI_Reduce(in, result, count, MPI_INT, op, root, comm);
		else if (kind == 2)
			MPI_Scan(in, result, count, MPI_INT, op, comm);
		else
			MPI_Exscan(in, result, count, MPI_INT, op, comm);
		if (upto == 0 || (kind == 1 && me != root))
			continue;
		for (int i = 0; i < count; i++) {
			int want = by ? value(0, 0, i % 100, round) : 0;
			for (int k = 0; k < upto && !by; k++)
				want += value(k, 0, i % 100, round);
			CHECK(result[i] == want, "reduction %d of %d, round %d: [%d] is %d, not %d", kind, count, round,
			      i, result[i], want);
		}
	}
}

int main(int argc, char **argv) {
	static const int counts[] = {2, 8, 10, 12, 500, 512, 514, 4096, MOST};
	MPI_Comm comms[COMMS];
	MPI_Request request;
	MPI_Win win;
	static int window[16];
	check_begin(&argc, &argv);
	n = check_size, me = check_rank;
	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
	MPI_Type_commit(&gaps);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(take_left, 0, &left);
	MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	comms[0] = MPI_COMM_WORLD;
	for (int i = 1; i < COMMS; i++)
		MPI_Comm_dup(comms[i - 1], &comms[i]);
	for (int round = 0; round < 36; round++) {
		int count = counts[round % 9], next = (me + 1) % n, before = (me + n - 1) % n, token = me, sum = me,
		    got = -1;
		MPI_Comm comm = comms[round % COMMS];
		MPI_Iallreduce(&token, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
		moves(comm, count, round);
		MPI_Sendrecv(&me, 1, MPI_INT, next, 1, &got, 1, MPI_INT, before, 1, comm, MPI_STATUS_IGNORE);
		CHECK(got == before, "the message is from %d, not %d", got, before);
		reductions(comm, count, round, round / 4 % 2);
		MPI_Win_fence(0, win);
		MPI_Put(&me, 1, MPI_INT, next, 0, 1, MPI_INT, win);
		reductions(comm, count, round, 1 - round / 4 % 2);
		MPI_Win_fence(0, win);
		CHECK(window[0] == before, "the put is from %d, not %d", window[0], before);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(sum == n * (n - 1) / 2, "the sum is %d", sum);
	}
	for (int i = 1; i < COMMS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Win_free(&win);
	MPI_Op_free(&left);
	MPI_Type_free(&pair);
	MPI_Type_free(&gaps);
	return check_end();
}
