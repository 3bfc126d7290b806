/* Proves: MPI_Wait and MPI_Test of a cancelled send return although no rank receives the message and the receiver
 *   computes or sleeps. A cancelled message never arrives; an uncancelled message arrives once and in order. Covers
 *   sends of all modes, small and large, in one segment and in many, to other ranks and to this rank. Covers persistent
 *   sends. Also cancels some of many sends that have the same envelope. MPI-5.0 3.8.4
 * np: 2 4
 * args: read computing self
 * ref: none (MPICH and Open MPI do not return from MPI_Wait)
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * timeout: 30
 */
#include "../no_progress.h"

enum { LARGE = 60000, ROUNDS = 3 };
static const MPI_Comm W = MPI_COMM_WORLD;
static double data[2 * LARGE], got[2 * LARGE];
static MPI_Datatype strided;
static const int counts[] = {1, 100, 3000, LARGE};

static int cancelled(const MPI_Status *s) {
	int flag = -1;
	MPI_Test_cancelled(s, &flag);
	return flag;
}

static MPI_Status finish(MPI_Request *r, int how) {
	MPI_Status s[2];
	int flag = 0, number, list[2];
	memset(s, 0x55, sizeof s);
	MPI_Request two[2] = {MPI_REQUEST_NULL, *r};
	switch (how % 4) {
	case 0:
		MPI_Wait(r, s);
		return s[0];
	case 1:
		while (!flag)
			MPI_Test(r, &flag, s);
		return s[0];
	case 2:
		MPI_Waitall(2, two, s);
		*r = two[1];
		return s[1];
	default:
		MPI_Waitsome(2, two, &number, list, s);
		*r = two[1];
		return s[0];
	}
}

/* Cancels sends that the library must be able to cancel: synchronous sends, and large messages, whose data stays at the
 * sender. A small message of another mode may already have been sent. */
static void alone(int to, int tag) {
	static int (*const send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Isend,
													  MPI_Issend};
	static int (*const init[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
				   MPI_Request *) = {MPI_Send_init, MPI_Ssend_init};
	for (int mode = 0; mode < 2; mode++)
		for (int k = 0; k < 4; k++)
			for (int vector = 0; vector < 2; vector++) {
				MPI_Datatype type = vector ? strided : MPI_DOUBLE;
				MPI_Request r;
				MPI_Status s;
				if (mode == 0 && counts[k] != LARGE)
					continue;
				for (int how = 0; how < 4; how++) {
					send[mode](data, counts[k], type, to, tag, W, &r);
					MPI_Cancel(&r);
					if (how == 2)
						MPI_Cancel(&r); /* a second cancel changes nothing */
					s = finish(&r, how);
					CHECK(cancelled(&s) && r == MPI_REQUEST_NULL,
					      "mode %d, %d elements, type %d, way %d: not cancelled", mode, counts[k],
					      vector, how);
				}
				init[mode](data, counts[k], type, to, tag, W, &r);
				for (int how = 0; how < 4; how++) {
					MPI_Start(&r);
					MPI_Cancel(&r);
					s = finish(&r, how);
					CHECK(cancelled(&s) && r != MPI_REQUEST_NULL,
					      "persistent, mode %d, %d elements, type %d, way %d: not cancelled", mode,
					      counts[k], vector, how);
				}
				MPI_Request_free(&r);
				send[mode](data, counts[k], type, to, tag, W, &r);
				MPI_Cancel(&r);
				MPI_Request_free(&r);
			}
	/* A message that has already been sent cannot be cancelled, and arrives. */
	MPI_Request r;
	MPI_Status s;
	MPI_Isend(data, 1, MPI_DOUBLE, to, tag + 1, W, &r);
	MPI_Cancel(&r);
	s = finish(&r, 0);
	if (cancelled(&s))
		MPI_Send(data, 1, MPI_DOUBLE, to, tag + 1, W);
}

/* Sends SEVERAL messages with one envelope and cancels those with odd numbers. Exactly these are removed from the
 * queue. */
enum { SEVERAL = 40 };
static MPI_Request several[SEVERAL];

static void many(int to, int tag) {
	for (int i = 0; i < SEVERAL; i++)
		MPI_Issend(&data[i], i % 3 ? 1 : LARGE, MPI_DOUBLE, to, tag, W, &several[i]);
	for (int i = 1; i < SEVERAL; i += 2) {
		MPI_Cancel(&several[i]);
		MPI_Status s = finish(&several[i], i / 2);
		CHECK(cancelled(&s), "%d of several: not cancelled", i);
	}
}

static void check_many(int from, int tag) {
	MPI_Status s;
	int n, flag;
	for (int i = 0; i < SEVERAL; i += 2) {
		memset(got, 0xff, sizeof got);
		MPI_Recv(got, LARGE, MPI_DOUBLE, from, tag, W, &s);
		MPI_Get_count(&s, MPI_DOUBLE, &n);
		CHECK(n == (i % 3 ? 1 : LARGE), "%d of several from %d: %d elements", i, from, n);
		for (int k = 0; k < n; k++)
			if (got[k] != i + k) {
				CHECK(0, "%d of several from %d: element %d is %g", i, from, k, got[k]);
				break;
			}
	}
	MPI_Iprobe(from, tag, W, &flag, &s);
	CHECK(!flag, "there are more from %d", from);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	double one = -1;
	int how = strcmp(check_arg, "computing") == 0 ? AWAY_COMPUTE : AWAY_READ, flag;
	for (int i = 0; i < 2 * LARGE; i++)
		data[i] = i;
	MPI_Type_vector(1, 1, 2, MPI_DOUBLE, &strided); /* elements with gaps between them */
	MPI_Type_create_resized(strided, 0, 2 * sizeof(double), &strided);
	MPI_Type_commit(&strided);
	away_begin();
	for (int round = 0; round < ROUNDS; round++) {
		if (strcmp(check_arg, "self") == 0) {
			away_watch("cancelled sends to this rank");
			alone(check_rank, 1);
			many(check_rank, 5);
			check_many(check_rank, 5);
			MPI_Recv(&one, 1, MPI_DOUBLE, check_rank, 2, W, MPI_STATUS_IGNORE);
			MPI_Waitall(SEVERAL, several, MPI_STATUSES_IGNORE);
			alarm(0);
			MPI_Iprobe(check_rank, MPI_ANY_TAG, W, &flag, MPI_STATUS_IGNORE);
			CHECK(!flag && one == 0, "something is left, or %g is not 0", one);
			continue;
		}
		MPI_Barrier(W);
		if (check_rank == 0) {
			away_until(how, check_size - 1);
			for (int i = 1; i < check_size; i++) {
				MPI_Recv(&one, 1, MPI_DOUBLE, i, 2, W, MPI_STATUS_IGNORE);
				CHECK(one == 0, "got %g", one);
				check_many(i, 5);
				MPI_Iprobe(i, MPI_ANY_TAG, W, &flag, MPI_STATUS_IGNORE);
				CHECK(!flag, "something is left");
			}
		} else {
			away_watch("cancelled sends to a rank that is away");
			alone(0, 1);
			many(0, 5);
			away_call(how);
			MPI_Waitall(SEVERAL, several, MPI_STATUSES_IGNORE);
		}
	}
	MPI_Type_free(&strided);
	away_end();
	return check_end();
}
