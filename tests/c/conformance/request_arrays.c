/* Proves: calls on arrays of requests complete requests of every kind together. Kinds: small messages, which complete
 *   at once, and large messages; collectives; generalized requests; active and inactive persistent requests; null
 *   requests. Each request is reported once, with its own status. Inactive and null requests are skipped. When all
 *   requests are complete, the result is MPI_UNDEFINED. MPI-5.0 3.7.5, 3.9, 6.12, 13.2
 * np: 1 2 4
 * args: waitall testall waitany testany waitsome testsome each
 * ref: mpich
 * ref-wrong: testany (MPICH 4.0 leaves the status as it was when none is active)
 * again: GOMPIRMA_NO_CMA=1
 * timeout: 60
 */
#include "../check.h"

enum { LARGE = 50000, ROUNDS = 20, OWN = 1234 };

/* The index of each request in the array. */
enum {
	SMALL_IN,
	NOTHING,
	SMALL_OUT,
	SMALL_OUT_2,
	BARRIER,
	SUM,
	GENERAL,
	IDLE,
	PERSISTENT_OUT,
	PERSISTENT_IN,
	NOTHING_2,
	LARGE_IN,
	LARGE_OUT,
	SMALL_OUT_3,
	N
};

static int query(void *state, MPI_Status *s) {
	MPI_Status_set_elements(s, MPI_INT, 3);
	MPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = *(int *)state;
	s->MPI_TAG = OWN;
	return MPI_SUCCESS;
}
static int release(void *state) {
	(void)state;
	return MPI_SUCCESS;
}
static int cancel(void *state, int complete) {
	(void)state, (void)complete;
	return MPI_SUCCESS;
}

static int left, right, round_;

static void check_status(int i, const MPI_Status *s) {
	int count = -1;
	MPI_Get_count(s, MPI_INT, &count);
	int from = MPI_ANY_SOURCE, tag = MPI_ANY_TAG, length = 0;
	switch (i) {
	case SMALL_IN:
		from = left, tag = round_, length = 2;
		break;
	case LARGE_IN:
		from = left, tag = round_ + 1, length = LARGE;
		break;
	case PERSISTENT_IN:
		from = left, tag = 7777, length = 1;
		break;
	case GENERAL:
		from = check_rank, tag = OWN, length = 3;
		break;
	case NOTHING:
	case NOTHING_2:
	case IDLE:
		break;
	default: /* the standard defines only the cancelled flag for sends and collectives */
		from = s->MPI_SOURCE, tag = s->MPI_TAG, length = count;
	}
	CHECK(s->MPI_SOURCE == from && s->MPI_TAG == tag && count == length,
	      "%s: request %d: from %d, tag %d, %d ints, not %d, %d, %d", check_arg, i, s->MPI_SOURCE, s->MPI_TAG,
	      count, from, tag, length);
	int cancelled = 1;
	MPI_Test_cancelled(s, &cancelled);
	CHECK(!cancelled, "request %d was cancelled", i);
}

static int skipped(int i) { return i == NOTHING || i == NOTHING_2 || i == IDLE; }

/* Completes all requests in r, and checks what the calls report for each request. */
static void complete(MPI_Request r[N]) {
	MPI_Status s[N], *one = &s[0];
	int done[N] = {0}, which, flag, number = 0, list[N];
	const char *how = check_arg;
	memset(s, 0x55, sizeof s);
	if (strcmp(how, "waitall") == 0 || strcmp(how, "testall") == 0) {
		if (*how == 'w')
			MPI_Waitall(N, r, s);
		else
			for (flag = 0; !flag;)
				MPI_Testall(N, r, &flag, s);
		for (int i = 0; i < N; i++)
			check_status(i, &s[i]);
	} else if (strcmp(how, "each") == 0) {
		for (int k = 0; k < N; k++) {
			int i = (k * 5 + round_) % N;
			if (k % 2)
				MPI_Wait(&r[i], one);
			else
				for (flag = 0; !flag;)
					MPI_Test(&r[i], &flag, one);
			check_status(i, one);
		}
	} else if (strcmp(how, "waitany") == 0 || strcmp(how, "testany") == 0) {
		for (int times = 0;;) {
			which = -7, flag = 1;
			if (*how == 'w')
				MPI_Waitany(N, r, &which, one);
			else
				MPI_Testany(N, r, &which, &flag, one);
			if (!flag) {
				CHECK(which == MPI_UNDEFINED, "none is complete, index %d", which);
				continue;
			}
			if (which == MPI_UNDEFINED) {
				check_status(NOTHING, one);
				CHECK(times == N - 3, "%d of %d were told", times, N - 3);
				break;
			}
			CHECK(which >= 0 && which < N && !done[which] && !skipped(which), "index %d", which);
			if (which < 0 || which >= N)
				return;
			done[which] = 1;
			times++;
			check_status(which, one);
		}
	} else {
		for (int times = 0;;) {
			number = -7;
			if (*how == 'w')
				MPI_Waitsome(N, r, &number, list, s);
			else
				MPI_Testsome(N, r, &number, list, s);
			if (number == MPI_UNDEFINED) {
				CHECK(times == N - 3, "%d of %d were told", times, N - 3);
				break;
			}
			CHECK(number >= (*how == 'w') && number <= N - 3 - times, "%d are complete", number);
			for (int k = 0; k < number && number <= N; k++) {
				which = list[k];
				CHECK(which >= 0 && which < N && !done[which] && !skipped(which), "index %d", which);
				if (which < 0 || which >= N)
					return;
				done[which] = 1;
				check_status(which, &s[k]);
			}
			times += number;
		}
	}
	for (int i = 0; i < N; i++)
		CHECK((r[i] == MPI_REQUEST_NULL) == (i != IDLE && i != PERSISTENT_OUT && i != PERSISTENT_IN),
		      "%s: request %d is %s", how, i, r[i] == MPI_REQUEST_NULL ? "null" : "there still");
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	int n = check_size, me = check_rank, small_in[2], sum, twice, got, never, pair[2], *big, *big_in;
	MPI_Request r[N], idle, out, in;
	left = (me + n - 1) % n, right = (me + 1) % n;
	big = malloc(LARGE * sizeof(int)), big_in = malloc(LARGE * sizeof(int));
	MPI_Recv_init(&never, 1, MPI_INT, left, 8888, MPI_COMM_WORLD, &idle);
	MPI_Send_init(&pair[0], 1, MPI_INT, right, 7777, MPI_COMM_WORLD, &out);
	MPI_Recv_init(&got, 1, MPI_INT, left, 7777, MPI_COMM_WORLD, &in);
	for (round_ = 0; round_ < ROUNDS; round_++) {
		pair[0] = me * 1000 + round_, pair[1] = -pair[0];
		for (int i = 0; i < LARGE; i++)
			big[i] = pair[0] + i, big_in[i] = -1;
		small_in[0] = sum = got = -1;
		twice = 2 * round_;
		r[NOTHING] = r[NOTHING_2] = MPI_REQUEST_NULL;
		r[IDLE] = idle, r[PERSISTENT_IN] = in, r[PERSISTENT_OUT] = out;
		MPI_Irecv(small_in, 2, MPI_INT, MPI_ANY_SOURCE, round_, MPI_COMM_WORLD, &r[SMALL_IN]);
		MPI_Isend(pair, 2, MPI_INT, right, round_, MPI_COMM_WORLD, &r[SMALL_OUT]);
		MPI_Isend(pair, 2, MPI_INT, right, 5000, MPI_COMM_WORLD, &r[SMALL_OUT_2]);
		MPI_Isend(pair, 2, MPI_INT, right, 5001, MPI_COMM_WORLD, &r[SMALL_OUT_3]);
		MPI_Ibarrier(MPI_COMM_WORLD, &r[BARRIER]);
		MPI_Iallreduce(&twice, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[SUM]);
		MPI_Grequest_start(query, release, cancel, &check_rank, &r[GENERAL]);
		MPI_Start(&r[PERSISTENT_IN]);
		MPI_Isend(big, LARGE, MPI_INT, right, round_ + 1, MPI_COMM_WORLD, &r[LARGE_OUT]);
		MPI_Start(&r[PERSISTENT_OUT]);
		MPI_Irecv(big_in, LARGE, MPI_INT, left, round_ + 1, MPI_COMM_WORLD, &r[LARGE_IN]);
		MPI_Grequest_complete(r[GENERAL]);
		complete(r);
		for (int k = 0; k < 2; k++) {
			int value[2] = {-1, -1};
			MPI_Recv(value, 2, MPI_INT, left, 5000 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			CHECK(value[0] == left * 1000 + round_ && value[1] == -value[0], "received %d, %d", value[0],
			      value[1]);
		}
		int wrong = 0;
		for (int i = 0; i < LARGE; i++)
			wrong += big_in[i] != left * 1000 + round_ + i;
		CHECK(wrong == 0, "%d of the large message are wrong", wrong);
		CHECK(small_in[0] == left * 1000 + round_ && small_in[1] == -small_in[0], "received %d", small_in[0]);
		CHECK(got == left * 1000 + round_, "the persistent one received %d", got);
		CHECK(sum == 2 * round_ * n, "the sum is %d", sum);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Request_free(&idle);
	MPI_Request_free(&out);
	MPI_Request_free(&in);
	free(big), free(big_in);
	return check_end();
}
