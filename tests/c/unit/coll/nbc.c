/* Proves: the nonblocking shared-memory collectives (coll/nbc.h) give the right results for random sequences of calls,
 * many of which are pending at once. Covers lengths from zero to many segments, members that can and cannot read each
 * other's memory, completion in any order, and fewer cores than members. If members pass different lengths, all calls
 * return, and later collectives work. */
#include "../unit.h"

#include "coll/nbc.h"
#include "coll/entry.h"
#include "coll/shm_coll.h"
#include "message/messages.h"
#include "message/z_calls.h"

enum { MAX_RANKS = 6, MAX_PENDING = 24, LONGEST = 9000, ROUNDS = UNIT_REPEATS(15), COMM = 0x4001000 };

static int n;
static unsigned seed;
static bool wrong_lengths;
static struct gompi_nbc *nbc[MAX_RANKS];

static int element(int rank, int call, int i) { return rank * 100000 + call * 1000 + i % 977; }

static unsigned draw(unsigned *state, unsigned below) {
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

static int sent(int from, int to, int count) { return (from + to) % 3 == 0 ? 0 : count / (1 + (from + 2 * to) % 3); }

struct call {
	int kind, root, count, number;
	int *in, *out, *counts, *starts, *rcounts, *rstarts;
	MPI_Request request;
};

static const int kinds[] = {GOMPI_BARRIER,   GOMPI_BCAST,    GOMPI_REDUCE,    GOMPI_ALLREDUCE, GOMPI_GATHER,
			    GOMPI_ALLGATHER, GOMPI_ALLTOALL, GOMPI_ALLTOALLV, GOMPI_SCAN,      GOMPI_SCATTER};

static void start_call(int me, struct call *c, unsigned *state) {
	static const int lengths[] = {0, 1, 2, 8, 9, 60, 500, 513, 1100, 2048, 2049, LONGEST};
	c->kind = kinds[draw(state, sizeof kinds / sizeof *kinds)];
	c->count = lengths[draw(state, 12)];
	c->root = (int)draw(state, (unsigned)n);
	unsigned odd_rank = draw(state, (unsigned)n), longer = draw(state, 4);
	if (wrong_lengths && me == (int)odd_rank)
		c->count += longer == 0 ? 1 : longer == 1 ? 3000 : 0;
	size_t capacity = (size_t)(c->count + 1) * (size_t)n + 1;
	c->in = malloc(capacity * sizeof(int)), c->out = malloc(capacity * sizeof(int));
	for (size_t i = 0; i < capacity; i++)
		c->in[i] = element(me, c->number, (int)i), c->out[i] = -1;
	c->counts = calloc(4 * (size_t)n, sizeof(int));
	c->starts = c->counts + n, c->rcounts = c->starts + n, c->rstarts = c->rcounts + n;
	for (int p = 0, s = 0, r = 0; p < n; p++) {
		c->counts[p] = sent(me, p, c->count), c->starts[p] = s, s += c->counts[p];
		c->rcounts[p] = sent(p, me, c->count), c->rstarts[p] = r, r += c->rcounts[p] + 1;
	}
	struct gompi_collective a = {
		.name = "test", .kind = c->kind, .comm = COMM + (uintptr_t)me, .op = (uintptr_t)MPI_SUM};
	bool v = c->kind == GOMPI_ALLTOALLV, bcast = c->kind == GOMPI_BCAST;
	a.root = bcast || c->kind == GOMPI_REDUCE || c->kind == GOMPI_GATHER || c->kind == GOMPI_SCATTER ? c->root : 0;
	a.send = (struct gompi_collective_side){.buf = (uintptr_t)c->in, .count = c->count, .type = (uintptr_t)MPI_INT};
	a.recv =
		(struct gompi_collective_side){.buf = (uintptr_t)c->out, .count = c->count, .type = (uintptr_t)MPI_INT};
	if (bcast && me == c->root)
		a.recv.buf = (uintptr_t)c->in;
	if (v) {
		a.send.counts = (uintptr_t)c->counts, a.send.displs = (uintptr_t)c->starts;
		a.recv.counts = (uintptr_t)c->rcounts, a.recv.displs = (uintptr_t)c->rstarts;
	}
	int rc = gompi_collective_start(&a, &c->request);
	CHECK(rc == MPI_SUCCESS, "kind %d of %d elements is not started: %d", c->kind, c->count, rc);
}

static int expected_element(const struct call *c, int me, int i) {
	int sum = 0, p = c->count > 0 ? i / c->count : 0, k = c->count > 0 ? i % c->count : 0;
	switch (c->kind) {
	case GOMPI_BCAST:
		return element(c->root, c->number, i);
	case GOMPI_GATHER:
	case GOMPI_ALLGATHER:
		return element(p, c->number, k);
	case GOMPI_SCATTER:
		return element(c->root, c->number, me * c->count + i);
	case GOMPI_ALLTOALL:
		return element(p, c->number, me * c->count + k);
	}
	for (p = 0; p < (c->kind == GOMPI_SCAN ? me + 1 : n); p++)
		sum += element(p, c->number, i);
	return sum;
}

static void check_result(int me, const struct call *c) {
	bool mine = me == c->root;
	int all = c->count;
	if (c->kind == GOMPI_ALLTOALLV) {
		for (int p = 0; p < n; p++) {
			int start = 0;
			for (int k = 0; k < me; k++)
				start += sent(p, k, c->count);
			for (int i = 0; i < c->rcounts[p]; i++)
				CHECK(c->out[c->rstarts[p] + i] == element(p, c->number, start + i),
				      "alltoallv: [%d] of %d from %d is %d", i, c->rcounts[p], p,
				      c->out[c->rstarts[p] + i]);
			CHECK(c->out[c->rstarts[p] + c->rcounts[p]] == -1, "alltoallv wrote behind a block");
		}
		return;
	}
	if (c->kind == GOMPI_BARRIER || (c->kind == GOMPI_BCAST && mine) ||
	    ((c->kind == GOMPI_REDUCE || c->kind == GOMPI_GATHER) && !mine))
		all = 0;
	else if (c->kind == GOMPI_GATHER || c->kind == GOMPI_ALLGATHER || c->kind == GOMPI_ALLTOALL)
		all *= n;
	for (int i = 0; i < all; i++)
		CHECK(c->out[i] == expected_element(c, me, i),
		      "kind %d, %d elements, root %d, member %d: [%d] is %d, not %d", c->kind, c->count, c->root, me, i,
		      c->out[i], expected_element(c, me, i));
	CHECK(c->out[all] == -1, "kind %d, %d elements: something is behind them", c->kind, c->count);
}

static void member(int me) {
	unsigned state = seed, state_of_member = seed + 77U * (unsigned)me;
	static _Thread_local struct call calls[MAX_PENDING];
	for (int round = 0, number = 0; round < ROUNDS; round++) {
		int count = 1 + (int)draw(&state, MAX_PENDING), order = (int)draw(&state_of_member, 3);
		for (int k = 0; k < count; k++) {
			calls[k].number = number++;
			start_call(me, &calls[k], &state);
			if (draw(&state_of_member, 8) == 0)
				sched_yield();
		}
		for (int k = 0; k < count; k++) {
			struct call *c = &calls[order == 0 ? k : order == 1 ? count - 1 - k : (k * 7 + 3) % count];
			if (order == 2 && count % 7 == 0)
				c = &calls[k];
			int flag = 0, rc = MPI_SUCCESS;
			if (draw(&state_of_member, 2) == 0)
				while (rc == MPI_SUCCESS && !flag)
					rc = gompi_test(&c->request, &flag, MPI_STATUS_IGNORE);
			else
				rc = gompi_wait(&c->request, MPI_STATUS_IGNORE);
			CHECK(wrong_lengths || rc == MPI_SUCCESS, "kind %d ended with %d", c->kind, rc);
			if (!wrong_lengths)
				check_result(me, c);
		}
		for (int k = 0; k < count; k++)
			free(calls[k].in), free(calls[k].out), free(calls[k].counts);
	}
}

static int explain(const struct gompi_coll_mismatch *differ, char *text) {
	*text = 0;
	return differ->peer_signature == differ->local_signature ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE;
}

static int fail_start(const struct gompi_collective *call, bool persistent, uintptr_t info, uintptr_t request) {
	(void)persistent, (void)info, (void)request;
	CHECK(false, "kind %d does not run in shared memory", call->kind);
	return MPI_ERR_OTHER;
}

static void run(int members, bool cma, bool wrong, bool hurry) {
	enum { RING = 1 << 20 };
	int32_t peers[MAX_RANKS] = {0}; /* this process, number 0, simulates all members */
	n = members, wrong_lengths = wrong, seed = (unsigned)(members * 8 + cma * 4 + wrong * 2 + hurry);
	unit_node(1);
	gompi_go_callbacks.mismatch_text = explain;
	gompi_go_callbacks.start_collective = fail_start;
	gompi_node.has_cma = cma;
	struct gompi_node node = gompi_node;
	node.message_rings = unit_memory(RING), node.message_stride = RING;
	struct gompi_messages *m = gompi_messages_open(&node, true);
	gompi_messages_attach(m);
	gompi_nbc_register_service();
	char *memory = unit_memory((size_t)n * sizeof(struct gompi_nbc_member));
	for (int i = 0; i < n; i++) {
		nbc[i] = gompi_nbc_open(memory, n, i, peers, 0);
		struct gompi_comm c = {.handle = COMM + (uintptr_t)i, .rank = i, .size = n, .id = 16, .nbc = nbc[i]};
		c.peers.n = n, c.peers.first = 0, c.peers.stride = 0;
		if (nbc[i] == NULL || !gompi_comm_open(&c))
			abort();
	}
	unit_hurry = hurry;
	unit_threads(n, member);
	unit_hurry = false;
	for (int i = 0; i < n; i++) {
		CHECK(nbc[i]->first == NULL, "member %d still has a collective", i);
		CHECK(!gompi_nbc_comm_freed(nbc[i]), "member %d holds requests", i);
		gompi_comm_close(COMM + (uintptr_t)i);
		gompi_nbc_close(nbc[i]);
	}
	gompi_messages_detach();
	gompi_messages_close(m);
}

int main(void) {
	unit_types();
	for (int members = 1; members <= MAX_RANKS; members++)
		for (int how = 0; how < 4; how++)
			run(members, how % 2 == 0, false, how / 2 == 1);
	run(3, true, true, false);
	run(3, false, true, false);
	run(5, true, true, true);
	return unit_end();
}
