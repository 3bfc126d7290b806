/* Proves: the nonblocking shared-memory collectives (coll/board.h) match the operations that members start, for random
 * sequences of collectives, many of them pending at once. Covers lengths from zero to many segments, memory of other
 * members that can and cannot be read, completion in any order, and fewer cores than members. If members pass different
 * lengths, all calls return, and later collectives work. */
#include "../unit.h"

#include "coll/board.h"
#include "coll/entry.h"
#include "coll/slots.h"
#include "message/messages.h"
#include "message/z_calls.h"

enum { MOST = 6, AT_ONCE = 24, LONGEST = 9000, ROUNDS = UNIT_REPEATS(15), COMM = 0x4001000 };

static int n;
static unsigned seed;
static bool wrong_lengths;
static struct gompi_board *board[MOST];

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

static void begin(int me, struct call *c, unsigned *state) {
	static const int lengths[] = {0, 1, 2, 8, 9, 60, 500, 513, 1100, 2048, 2049, LONGEST};
	c->kind = kinds[draw(state, sizeof kinds / sizeof *kinds)];
	c->count = lengths[draw(state, 12)];
	c->root = (int)draw(state, (unsigned)n);
	unsigned odd = draw(state, (unsigned)n), longer = draw(state, 4);
	if (wrong_lengths && me == (int)odd)
		c->count += longer == 0 ? 1 : longer == 1 ? 3000 : 0;
	size_t room = (size_t)(c->count + 1) * (size_t)n + 1;
	c->in = malloc(room * sizeof(int)), c->out = malloc(room * sizeof(int));
	for (size_t i = 0; i < room; i++)
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
	a.send = (struct gompi_side){.buf = (uintptr_t)c->in, .count = c->count, .type = (uintptr_t)MPI_INT};
	a.recv = (struct gompi_side){.buf = (uintptr_t)c->out, .count = c->count, .type = (uintptr_t)MPI_INT};
	if (bcast && me == c->root)
		a.recv.buf = (uintptr_t)c->in;
	if (v) {
		a.send.counts = (uintptr_t)c->counts, a.send.displs = (uintptr_t)c->starts;
		a.recv.counts = (uintptr_t)c->rcounts, a.recv.displs = (uintptr_t)c->rstarts;
	}
	int rc = gompi_collective_start(&a, &c->request);
	CHECK(rc == MPI_SUCCESS, "kind %d of %d elements is not started: %d", c->kind, c->count, rc);
}

static int wanted(const struct call *c, int me, int i) {
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

static void look(int me, const struct call *c) {
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
		CHECK(c->out[i] == wanted(c, me, i), "kind %d, %d elements, root %d, member %d: [%d] is %d, not %d",
		      c->kind, c->count, c->root, me, i, c->out[i], wanted(c, me, i));
	CHECK(c->out[all] == -1, "kind %d, %d elements: something is behind them", c->kind, c->count);
}

static void member(int me) {
	unsigned state = seed, own = seed + 77U * (unsigned)me;
	static _Thread_local struct call calls[AT_ONCE];
	for (int round = 0, number = 0; round < ROUNDS; round++) {
		int many = 1 + (int)draw(&state, AT_ONCE), order = (int)draw(&own, 3);
		for (int k = 0; k < many; k++) {
			calls[k].number = number++;
			begin(me, &calls[k], &state);
			if (draw(&own, 8) == 0)
				sched_yield();
		}
		for (int k = 0; k < many; k++) {
			struct call *c = &calls[order == 0 ? k : order == 1 ? many - 1 - k : (k * 7 + 3) % many];
			if (order == 2 && many % 7 == 0)
				c = &calls[k];
			int flag = 0, rc = MPI_SUCCESS;
			if (draw(&own, 2) == 0)
				while (rc == MPI_SUCCESS && !flag)
					rc = gompi_test(&c->request, &flag, MPI_STATUS_IGNORE);
			else
				rc = gompi_wait(&c->request, MPI_STATUS_IGNORE);
			CHECK(wrong_lengths || rc == MPI_SUCCESS, "kind %d ended with %d", c->kind, rc);
			if (!wrong_lengths)
				look(me, c);
		}
		for (int k = 0; k < many; k++)
			free(calls[k].in), free(calls[k].out), free(calls[k].counts);
	}
}

static int explain(const struct gompi_slots_differ *differ, char *text) {
	*text = 0;
	return differ->theirs == differ->ours ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE;
}

static int refuse_start(const struct gompi_collective *call, bool persistent, uintptr_t info, uintptr_t request) {
	(void)persistent, (void)info, (void)request;
	CHECK(false, "kind %d is not for the board", call->kind);
	return MPI_ERR_OTHER;
}

static void run(int members, bool cma, bool wrong, bool hurry) {
	enum { RING = 1 << 20 };
	int32_t peers[MOST] = {0}; /* all members are this process */
	n = members, wrong_lengths = wrong, seed = (unsigned)(members * 8 + cma * 4 + wrong * 2 + hurry);
	unit_node(1);
	gompi_up.explain_differ = explain;
	gompi_up.start_collective = refuse_start;
	gompi_node.cma = cma;
	struct gompi_node place = gompi_node;
	place.message_rings = unit_memory(RING), place.message_stride = RING;
	struct gompi_messages *m = gompi_messages_open(&place, true);
	gompi_messages_enter(m);
	gompi_boards_serve();
	char *memory = unit_memory((size_t)n * sizeof(struct gompi_board_member));
	for (int i = 0; i < n; i++) {
		board[i] = gompi_board_open(memory, n, i, peers, 0);
		struct gompi_comm c = {
			.handle = COMM + (uintptr_t)i, .rank = i, .size = n, .id = 16, .board = board[i]};
		c.peers.n = n, c.peers.first = 0, c.peers.stride = 0;
		if (board[i] == NULL || !gompi_comm_open(&c))
			abort();
	}
	unit_hurry = hurry;
	unit_threads(n, member);
	unit_hurry = false;
	for (int i = 0; i < n; i++) {
		CHECK(board[i]->first == NULL, "something is left on the board of member %d", i);
		CHECK(!gompi_board_leave(board[i]), "member %d holds requests", i);
		gompi_comm_close(COMM + (uintptr_t)i);
		gompi_board_close(board[i]);
	}
	gompi_messages_leave();
	gompi_messages_close(m);
}

int main(void) {
	unit_types();
	for (int members = 1; members <= MOST; members++)
		for (int how = 0; how < 4; how++)
			run(members, how % 2 == 0, false, how / 2 == 1);
	run(3, true, true, false);
	run(3, false, true, false);
	run(5, true, true, true);
	return unit_end();
}
