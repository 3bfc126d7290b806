/* Proves: a send that is cancelled while its receiver is about to receive it is either received or cancelled, and both
 *   sides agree on which. Covers receives posted before and after the send, probes, and matched probes, in one thread
 *   and in several. A send that a receive or a matched probe has matched completes, even if its receiver then calls no
 *   MPI. MPI_Isendrecv can be cancelled. MPI-5.0 3.7, 3.8.4
 * np: 2 4
 * args: race threads matched probed both
 * ref: none (MPICH and Open MPI do not return from MPI_Wait)
 * again: GOMPIRMA_NO_CMA=1
 * nodes: 1 (the ranks report their progress to each other in shared memory)
 * timeout: 60
 */
#include "../no_progress.h"

#include <pthread.h>

enum { LARGE = 50000, BATCH = 8, TIMES = 150, THREADS = 3, RESULT = 30000 };
static const int counts[] = {0, 1, 700, 2000, 5000, LARGE};

struct state {
	MPI_Comm comm;
	uint64_t random;
	int data[LARGE], got[BATCH][LARGE];
};
static struct state states[THREADS];

static int cancelled(const MPI_Status *s) {
	int flag = -1;
	MPI_Test_cancelled(s, &flag);
	return flag;
}

static void idle(struct state *s) {
	volatile int turns = (int)(check_random(&s->random) % 3000);
	while (turns > 0)
		turns--;
}

static int size_of(int time, int i) { return counts[(time * 5 + i * 7) % 6]; }

static void check_data(const int *got, int n, int time, int i) {
	for (int k = 0; k < n; k++)
		if (got[k] != k) {
			CHECK(0, "time %d, message %d of %d: element %d is %d", time, i, n, k, got[k]);
			return;
		}
}

static int tag_of(int time, int i) { return time * BATCH + i; }

static void sends(struct state *s, int to, int time) {
	MPI_Request r[BATCH];
	MPI_Status st[BATCH];
	int done[BATCH];
	for (int i = 0; i < BATCH; i++) {
		int n = size_of(time, i);
		(n <= 2000 ? MPI_Issend : MPI_Isend)(s->data, n, MPI_INT, to, tag_of(time, i), s->comm, &r[i]);
	}
	idle(s);
	for (int k = 0; k < BATCH; k++) {
		int i = (k * 3 + time) % BATCH;
		MPI_Cancel(&r[i]);
		if (k % 2)
			MPI_Wait(&r[i], &st[i]);
	}
	for (int i = 0; i < BATCH; i++)
		if (r[i] != MPI_REQUEST_NULL)
			MPI_Wait(&r[i], &st[i]);
	for (int i = 0; i < BATCH; i++)
		done[i] = !cancelled(&st[i]);
	MPI_Send(done, BATCH, MPI_INT, to, RESULT, s->comm);
}

static void receives(struct state *s, int from, int time) {
	MPI_Request r[BATCH], result;
	MPI_Message m[BATCH];
	MPI_Status st;
	int has[BATCH] = {0}, probed[BATCH] = {0}, done[BATCH], n;
	MPI_Irecv(done, BATCH, MPI_INT, from, RESULT, s->comm, &result);
	for (int k = 0; k < BATCH; k++) {
		int i = (int)((check_random(&s->random) + (unsigned)k) % BATCH);
		idle(s);
		if (has[i] || probed[i])
			continue;
		switch (check_random(&s->random) % 3) {
		case 0:
			MPI_Irecv(s->got[i], LARGE, MPI_INT, from, tag_of(time, i), s->comm, &r[i]);
			has[i] = 1;
			break;
		case 1:
			MPI_Improbe(from, tag_of(time, i), s->comm, &probed[i], &m[i], MPI_STATUS_IGNORE);
			break;
		}
	}
	for (int i = 0; i < BATCH; i++)
		if (probed[i]) {
			if (check_random(&s->random) % 2)
				MPI_Wait(&result, MPI_STATUS_IGNORE);
			MPI_Imrecv(s->got[i], LARGE, MPI_INT, &m[i], &r[i]);
		}
	MPI_Wait(&result, MPI_STATUS_IGNORE);
	for (int i = 0; i < BATCH; i++) {
		if (!has[i] && !probed[i]) {
			if (!done[i]) {
				MPI_Iprobe(from, tag_of(time, i), s->comm, &n, MPI_STATUS_IGNORE);
				CHECK(!n, "time %d: message %d was cancelled and is here", time, i);
				continue;
			}
			MPI_Irecv(s->got[i], LARGE, MPI_INT, from, tag_of(time, i), s->comm, &r[i]);
		}
		CHECK(done[i] || !probed[i], "time %d: message %d was cancelled though it was matched", time, i);
		if (!done[i])
			MPI_Cancel(&r[i]);
		MPI_Wait(&r[i], &st);
		CHECK(cancelled(&st) == !done[i], "time %d: message %d was sent: %d, received: %d", time, i, done[i],
		      !cancelled(&st));
		if (cancelled(&st))
			continue;
		MPI_Get_count(&st, MPI_INT, &n);
		CHECK(n == size_of(time, i), "time %d, message %d: %d elements, not %d", time, i, n, size_of(time, i));
		check_data(s->got[i], n, time, i);
	}
}

static void *race(void *arg) {
	struct state *s = arg;
	for (int time = 0; time < TIMES; time++)
		if (check_rank % 2 == 0)
			sends(s, check_rank + 1, time);
		else
			receives(s, check_rank - 1, time);
	return NULL;
}

/* Cancels sends to rank 0 that are matched already, while rank 0 makes no MPI calls. */
static void away(void) {
	struct state *s = &states[0];
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Status st;
	int probed = strcmp(check_arg, "probed") == 0, n;
	away_begin();
	for (int k = 0; k < 6; k++) {
		if (check_rank == 0) {
			static int got[4][LARGE];
			MPI_Request r[4];
			MPI_Message m[4];
			for (int i = 1; i < check_size; i++)
				if (!probed)
					MPI_Irecv(got[i], LARGE, MPI_INT, i, k, W, &r[i]);
			MPI_Barrier(W);
			for (int i = 1; i < check_size; i++)
				if (probed)
					MPI_Mprobe(i, k, W, &m[i], MPI_STATUS_IGNORE);
			MPI_Barrier(W);
			away_until(AWAY_READ, check_size - 1);
			for (int i = 1; i < check_size; i++) {
				if (probed)
					MPI_Imrecv(got[i], LARGE, MPI_INT, &m[i], &r[i]);
				MPI_Wait(&r[i], &st);
				MPI_Get_count(&st, MPI_INT, &n);
				CHECK(st.MPI_SOURCE == i && st.MPI_TAG == k && n == counts[k],
				      "message %d: from %d, tag %d, %d elements", k, st.MPI_SOURCE, st.MPI_TAG, n);
				check_data(got[i], n, 0, k);
			}
		} else {
			MPI_Request r;
			MPI_Barrier(W);
			MPI_Issend(s->data, counts[k], MPI_INT, 0, k, W, &r);
			MPI_Barrier(W);
			away_watch("a send that was matched and then cancelled");
			MPI_Cancel(&r);
			MPI_Wait(&r, &st);
			CHECK(!cancelled(&st), "message %d was cancelled though it was matched", k);
			away_call(AWAY_READ);
		}
	}
	/* repeats these operations with messages of a rank to itself */
	for (int k = 0; k < 6; k++) {
		MPI_Request r;
		MPI_Message m;
		MPI_Issend(s->data, counts[k], MPI_INT, check_rank, k, W, &r);
		MPI_Mprobe(check_rank, k, W, &m, MPI_STATUS_IGNORE);
		away_watch("a send to this rank that was matched and then cancelled");
		MPI_Cancel(&r);
		MPI_Wait(&r, &st);
		alarm(0);
		CHECK(!cancelled(&st), "message %d to this rank was cancelled though it was matched", k);
		MPI_Mrecv(s->got[0], LARGE, MPI_INT, &m, &st);
		MPI_Get_count(&st, MPI_INT, &n);
		CHECK(n == counts[k], "message %d to this rank: %d elements", k, n);
		check_data(s->got[0], n, 0, k);
	}
	away_end();
}

/* Cancels an MPI_Isendrecv whose send and receive have no match. */
static void both(void) {
	struct state *s = &states[0];
	MPI_Request r;
	MPI_Status st;
	away_begin();
	if (check_rank == 0) {
		away_until(AWAY_READ, check_size - 1);
		int flag;
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &st);
		CHECK(!flag, "a message that was cancelled");
	} else {
		away_watch("a send and a receive that were cancelled");
		MPI_Isendrecv(s->data, LARGE, MPI_INT, 0, 1, s->got[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r);
		MPI_Cancel(&r);
		MPI_Wait(&r, &st);
		CHECK(cancelled(&st), "not cancelled");
		away_call(AWAY_READ);
	}
	away_end();
}

int main(int argc, char **argv) {
	pthread_t t[THREADS];
	check_begin_threads(&argc, &argv);
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &states[i].comm);
		states[i].random = (uint64_t)(1000 * check_rank + i);
		for (int k = 0; k < LARGE; k++)
			states[i].data[k] = k;
	}
	if (strcmp(check_arg, "race") == 0) {
		race(&states[0]);
	} else if (strcmp(check_arg, "threads") == 0) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, race, &states[i]);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	} else if (strcmp(check_arg, "both") == 0) {
		both();
	} else {
		away();
	}
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&states[i].comm);
	return check_end();
}
