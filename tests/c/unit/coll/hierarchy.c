/* Proves: two-level collectives (coll/hierarchy.h) give members on several nodes the result that MPI defines, for any
 * placement of ranks, any root and any sequence of calls. A reduction folds the nodes in order, and the ranks of each
 * node in order; a scan folds the ranks in order. All members agree when a large operation uses messages instead.
 * Members with mismatched calls get an error, and later calls work. Invalid data published by a leader gives
 * MPI_ERR_INTERN. A head that changes while a member reads it does no harm. */
#include "../network.h"

#include "coll/hierarchy.h"
#include "coll/protocol.h"
#include "compose.h"

enum { MOST = 9, CALLS = UNIT_REPEATS(400), LONGEST = 180000 };

static uint64_t longest_here; /* maximum length in a round, split into segments or not */

static int n, nodes;
static int32_t node_of[MOST], place_of[MOST], order[MOST]; /* order: by node, then by rank */
static int most_here;
static int here[MOST];                            /* members of a node */
static char *memory[MOST], *barrier_memory[MOST]; /* of a node */
static struct gompi_hierarchy *views[MOST];
static gompi_a32 called[MOST];

static bool is_reduction(const char *b, unsigned call, uint64_t bytes) {
	for (uint64_t i = 0; i < bytes; i += 2) {
		int last = order[n - 1];
		unsigned char acc[2] = {input(call, last, i), input(call, last, i + 1)};
		for (int k = n - 2; k >= 0; k--) {
			unsigned char left[2] = {input(call, order[k], i), input(call, order[k], i + 1)};
			compose(0, left, acc, 2);
		}
		if (memcmp(b + i, acc, 2) != 0)
			return false;
	}
	return true;
}

static void one(int me, unsigned call, int kind, int root, uint64_t bytes, int odd) {
	static char in[MOST][LONGEST + 8], out[MOST][LONGEST + 8];
	static const int kinds[] = {GOMPI_BARRIER, GOMPI_BCAST, GOMPI_REDUCE, GOMPI_ALLREDUCE};
	struct gompi_slots_call c = {.kind = kinds[kind], .root = kind == 3 ? 0 : root, .name = "test"};
	bool in_place = call % 3 == 0, gets = kind == 3 || me == root;
	uint64_t mine = me == odd ? (bytes + longest_here / 3) % longest_here / 2 * 2 : bytes;
	uint64_t most = most_here > 1 ? 2048 : (64 << 10) + 64;
	if (most_here == 1 && nodes <= (kind == 1 ? 3 : 2))
		most = 8 << 20;
	else if (kind != 1 && most > (48 << 10) / (uint64_t)nodes)
		most = (48 << 10) / (uint64_t)nodes;
	uint64_t size = kind == 1 && root == odd ? (bytes + longest_here / 3) % longest_here / 2 * 2 : bytes;
	for (uint64_t i = 0; i < mine; i++)
		in[me][i] = (char)input(call, me, i);
	c.bytes = mine, c.in = in[me], c.out = kind == 1 || in_place ? in[me] : out[me];
	c.reduction = (struct gompi_reduction){.size = 2, .go = 1};
	gompi_store(&called[me], call);
	int rc = gompi_hierarchy_run(views[me], &c);
	const char *what = kind == 1 ? "broadcast" : kind == 2 ? "reduction" : "reduction to all";
	switch (kind) {
	case 0:
		CHECK(rc == 0, "call %u: a barrier returns %d", call, rc);
		for (int i = 0; i < n; i++)
			CHECK(gompi_load(&called[i]) >= call, "call %u: member %d has not called", call, i);
		break;
	case 1:
		if (size > most)
			CHECK(rc == GOMPI_SLOTS_MESSAGES && c.bytes == size &&
				      (c.differ.rank >= 0) == (odd != -1 && me != root && (odd == me || odd == root)),
			      "call %u: a long broadcast returns %d, %d differs", call, rc, c.differ.rank);
		else if (odd == me || odd == root)
			CHECK(rc == (me == root ? 0 : GOMPI_SLOTS_DIFFER), "call %u: an odd broadcast returns %d", call,
			      rc);
		else
			CHECK(rc == 0, "call %u: a broadcast returns %d", call, rc);
		for (uint64_t i = 0; rc == 0 && i < mine; i++)
			CHECK((unsigned char)in[me][i] == input(call, root, i), "call %u: byte %d of a broadcast", call,
			      (int)i);
		break;
	default:
		if (odd != -1 && gets)
			CHECK(rc == GOMPI_SLOTS_DIFFER && c.differ.rank != me && (me == odd || c.differ.rank == odd),
			      "call %u: an odd %s returns %d, rank %d differs", call, what, rc, c.differ.rank);
		else if (odd != -1)
			CHECK(rc == 0 || rc == GOMPI_SLOTS_DIFFER, "call %u: an odd %s returns %d", call, what, rc);
		else
			CHECK(rc == (bytes > most ? GOMPI_SLOTS_MESSAGES : 0), "call %u: a %s returns %d", call, what,
			      rc);
		if (rc == 0 && gets)
			CHECK(is_reduction(c.out, call, bytes), "call %u: what a %s gives", call, what);
	}
}

/* Makes the calls in which all members get the data of all members. */
static void rows(int me, unsigned call, int kind, int root, uint64_t bytes, int odd) {
	enum { ROW = 8 + LONGEST };
	static char in[MOST][MOST * ROW], out[MOST][MOST * ROW];
	static uint64_t sizes[MOST][MOST];
	uint64_t mine = me == odd ? bytes + 2 : bytes, longest = kind == GOMPI_ALLTOALL ? bytes * (uint64_t)n : bytes;
	bool v = kind == GOMPI_ALLGATHER && call % 2, gets = kind != GOMPI_GATHER || me == root;
	struct gompi_slots_call c = {.kind = kind, .root = kind == GOMPI_GATHER ? root : 0, .name = "test"};
	int last = kind == GOMPI_SCAN ? me : kind == GOMPI_EXSCAN ? me - 1 : -1;
	if (v)
		longest = 0;
	for (int i = 0; i < n; i++) {
		sizes[me][i] = bytes * (uint64_t)(i % 3) / 2;
		if (v && sizes[me][i] > longest)
			longest = sizes[me][i];
	}
	uint64_t stride = (8 + longest + 7) / 8 * 8;
	bool little = (uint64_t)n * stride <= 2048 && (uint64_t)(nodes * most_here) * stride <= 4096;
	if (most_here == 1) {
		uint64_t block = kind == GOMPI_ALLTOALL ? bytes : longest, of = nodes < 4 ? 1 : (uint64_t)nodes / 2;
		bool folds = kind == GOMPI_SCAN || kind == GOMPI_EXSCAN;
		little = block + 8 <= ((64 << 10) + 64) / of / 8 * 8 || nodes <= (folds ? 2 : 3);
	}
	if (v)
		mine = sizes[me][me];
	uint64_t all = kind == GOMPI_ALLTOALL ? mine * (uint64_t)n : mine;
	for (uint64_t i = 0; i < all; i++)
		in[me][i] = (char)input(call, me, i);
	memset(out[me], 0, (uint64_t)n * bytes);
	c.bytes = mine, c.in = in[me], c.out = out[me], c.sizes = v ? sizes[me] : NULL;
	c.ins = (struct gompi_blocks){in[me], mine, NULL}, c.outs = (struct gompi_blocks){out[me], bytes + 2, NULL};
	c.reduction = (struct gompi_reduction){.size = 2, .go = 1};
	gompi_store(&called[me], call);
	int rc = gompi_hierarchy_run(views[me], &c);
	if (odd != -1 && !v) {
		CHECK(rc == GOMPI_SLOTS_DIFFER || (!gets && rc == 0), "call %u: an odd call of kind %d returns %d",
		      call, kind, rc);
		return;
	}
	CHECK(rc == (little ? 0 : GOMPI_SLOTS_MESSAGES), "call %u of kind %d, %d bytes: %d", call, kind, (int)bytes,
	      rc);
	if (rc != 0 || !gets)
		return;
	if (last >= 0) {
		for (uint64_t i = 0; i < bytes; i += 2) {
			unsigned char acc[2] = {input(call, last, i), input(call, last, i + 1)};
			for (int k = last - 1; k >= 0; k--) {
				unsigned char left[2] = {input(call, k, i), input(call, k, i + 1)};
				compose(0, left, acc, 2);
			}
			CHECK(memcmp(out[me] + i, acc, 2) == 0, "call %u: a scan", call);
		}
	}
	for (int i = 0; kind != GOMPI_SCAN && kind != GOMPI_EXSCAN && i < n; i++) {
		uint64_t size = v ? sizes[me][i] : bytes, from = kind == GOMPI_ALLTOALL ? (uint64_t)me * bytes : 0;
		for (uint64_t k = 0; k < size; k++)
			CHECK((unsigned char)out[me][(uint64_t)i * (bytes + 2) + k] == input(call, i, from + k),
			      "call %u of kind %d: byte %d of rank %d", call, kind, (int)k, i);
	}
}

static uint64_t communicator;

static void run(int me) {
	unsigned common = (unsigned)communicator * 977;
	int32_t local[MOST], leaders[MOST], peers[MOST];
	network_self = me, network_seed = 5 + (unsigned)me;
	for (int i = n - 1; i >= 0; i--) {
		leaders[node_of[i]] = network_peer(me, i);
		if (node_of[i] == node_of[me])
			local[place_of[i]] = i;
	}
	for (int i = 0; i < here[node_of[me]]; i++)
		peers[i] = local[i];
	struct gompi_hierarchy v = {.n = n,
				    .me = me,
				    .nodes = nodes,
				    .node = node_of[me],
				    .here = here[node_of[me]],
				    .place = place_of[me],
				    .most_here = most_here,
				    .node_of = node_of,
				    .local = local};
	if (v.here > 1) {
		v.slots = gompi_slots_open(memory[v.node], v.here, v.place, peers, 0);
		v.barrier = (struct gompi_barrier *)barrier_memory[v.node];
	}
	views[me] = gompi_hierarchy_open(&v, network_id(communicator << 4, me), leaders);
	for (unsigned call = 1; call <= CALLS && check_errors == 0; call++) {
		unsigned r = (unsigned)rand_r(&common) / 7, long_one = r % 5 == 0;
		uint64_t bytes = long_one ? r % longest_here / 2 * 2 : r % 64 / 2 * 2;
		int root = (int)((r >> 8) % (unsigned)n),
		    odd = (r >> 12) % 8 == 0 ? (int)((r >> 16) % (unsigned)n) : -1;
		int kind = call / 30 % 3 == 0 ? 1 : (int)((r >> 5) % 4);
		if (call / 30 % 3 == 1)
			kind = (int)((r >> 5) % 2) * 2;
		static const int of_rows[] = {GOMPI_GATHER, GOMPI_ALLGATHER, GOMPI_ALLTOALL, GOMPI_SCAN, GOMPI_EXSCAN};
		if (call / 30 % 3 == 2 && r % 2)
			rows(me, call, of_rows[(r >> 20) % 5], root,
			     bytes % (most_here > 1 ? 400 : longest_here) / 2 * 2, odd);
		else
			one(me, call, kind, root, bytes, kind == 0 ? -1 : odd);
	}
}

/* Places the members on nodes. apart: one member per node. */
static void place(unsigned seed, bool regular, bool apart) {
	nodes = 0;
	memset(here, 0, sizeof here);
	for (int i = 0; i < n; i++) {
		int k = regular ? i * (2 + (int)seed % 2) / n : (int)(rand_r(&seed) / 7 % 4u);
		if (apart)
			k = i;
		node_of[i] = k > nodes ? nodes : k; /* nodes are numbered in the order of their lowest ranks */
		nodes = node_of[i] == nodes ? nodes + 1 : nodes;
		place_of[i] = here[node_of[i]]++;
	}
	most_here = 0;
	for (int k = 0; k < nodes; k++)
		most_here = here[k] > most_here ? here[k] : most_here;
	for (int k = 0, at = 0; k < nodes; k++)
		for (int i = 0; i < n; i++)
			if (node_of[i] == k)
				order[at++] = i;
}

/* --- A leader with damaged memory: member 1 of a node reads what the test writes into the buffer of member 0 */

enum { FAILED = 0xf0, DIFFERS = 0xf1, FEW = 8, MANY = 2000, ROOT = 2 }; /* the root is on the other node */

static struct gompi_slots *hears;
static struct gompi_hierarchy *heard_by;

static void damaged_open(void) {
	static int32_t nodes_of[4] = {0, 0, 1, 1}, local[2] = {0, 1}, peers[2] = {0, 0}, lead[2] = {0, 0};
	hears = gompi_slots_open(unit_memory(2 * sizeof(struct gompi_slots_member)), 2, 1, peers, 0);
	struct gompi_hierarchy v = {.n = 4,
				    .me = 1,
				    .nodes = 2,
				    .here = 2,
				    .place = 1,
				    .most_here = 2,
				    .node_of = nodes_of,
				    .local = local,
				    .slots = hears};
	heard_by = gompi_hierarchy_open(&v, 16, lead);
	if (hears == NULL || heard_by == NULL)
		abort();
}

/* Returns the result of a broadcast for which the leader has published these words. */
static int heard(uint64_t what, uint64_t plan, char *out, int *differs) {
	struct gompi_slots_call c = {.kind = GOMPI_BCAST, .root = ROOT, .name = "test", .bytes = FEW, .out = out};
	struct gompi_slot_head *h = &hears->member[0].head[(hears->seq + 1) % GOMPI_SLOT_HEADS];
	gompi_store(&h->what, what);
	gompi_store(&h->plan, plan);
	memset(h->data, 1, sizeof h->data);
	gompi_store_release(&h->number, hears->seq + 1);
	int rc = gompi_hierarchy_run(heard_by, &c);
	*differs = c.differ.rank;
	return rc;
}

static void damaged_outcomes(void) {
	static const struct {
		uint64_t plan;
		int rc;
	} failed[] = {{MPI_ERR_NO_MEM, MPI_ERR_NO_MEM},
		      {MPI_SUCCESS, MPI_ERR_INTERN},
		      {12345678, MPI_ERR_INTERN},
		      {1ULL << 32 | MPI_ERR_NO_MEM, MPI_ERR_INTERN},
		      {(uint64_t)GOMPI_SLOTS_DIFFER, MPI_ERR_INTERN},
		      {(uint64_t)GOMPI_SLOTS_MESSAGES, MPI_ERR_INTERN}};
	char out[FEW];
	int rank;
	for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
		int rc = heard((uint64_t)FAILED << 56, failed[i].plan, out, &rank);
		CHECK(rc == failed[i].rc, "a leader's error class %llx gives %d, not %d",
		      (unsigned long long)failed[i].plan, rc, failed[i].rc);
	}
	for (uint32_t at = 0; at < 6; at++) {
		const uint32_t ranks[] = {0, 3, 4, 1000000, INT32_MAX, UINT32_MAX};
		bool exists = ranks[at] < 4;
		int rc = heard((uint64_t)DIFFERS << 56, (uint64_t)ranks[at] << 32 | ranks[at], out, &rank);
		CHECK(rc == (exists ? GOMPI_SLOTS_DIFFER : MPI_ERR_INTERN) && rank == (exists ? (int)ranks[at] : -1),
		      "rank %u differs: %d, rank %d", ranks[at], rc, rank);
	}
}

static gompi_a32 over;

/* Changes the length in thread 1, as another process would, while a member reads the head. */
static void changing(int i) {
	uint64_t plans[2] = {gompi_plan(FEW, 1), gompi_plan(MANY, 1)};
	for (uint64_t k = 0; i == 1 && gompi_load(&over) == 0; k++)
		for (int h = 0; h < GOMPI_SLOT_HEADS; h++)
			gompi_store(&hears->member[0].head[h].plan, plans[k % 2]);
	char out[MANY];
	for (int k = 0; i == 0 && k < 8000; k++) {
		int rank, written = FEW;
		memset(out, 0, sizeof out);
		heard(gompi_what(GOMPI_BCAST, ROOT, FEW), plans[k % 2], out, &rank);
		while (written < MANY && out[written] == 0)
			written++;
		CHECK(written == MANY, "a broadcast of %d bytes wrote byte %d", FEW, written);
		for (int b = 0; b < GOMPI_SLOT_BODIES; b++) /* data behind a length that is too large */
			memset(hears->member[0].body[b], 2, GOMPI_SLOT_SMALL);
	}
	gompi_store(&over, 1);
}

int main(void) {
	unit_node(1);
	gompi_up.combine = compose;
	damaged_open();
	damaged_outcomes();
	unit_threads(2, changing);
	gompi_hierarchy_close(heard_by);
	gompi_slots_close(hears);
	network_start();
	for (unsigned round = 0; round < 18 && check_errors == 0; round++) {
		n = 2 + (int)(round * 5 % (MOST - 1));
		if (round >= 14)
			n = round == 17 ? 7 : (int)round - 12;
		place(round, round % 2, round >= 14);
		if (nodes < 2)
			continue;
		longest_here = most_here == 1 && nodes <= 3 ? LONGEST : most_here == 1 ? 40000 : 30000;
		network_members = n;
		gompi_node.policy.oversubscribed = round % 4 == 3;
		communicator++;
		for (int k = 0; k < nodes; k++) {
			memory[k] = unit_memory((size_t)here[k] * sizeof(struct gompi_slots_member));
			barrier_memory[k] = unit_memory(GOMPI_BARRIER_SIZE((size_t)here[k]));
		}
		for (int i = 0; i < n; i++)
			gompi_store(&called[i], 0);
		unit_threads(n, run);
		for (int i = 0; i < n; i++) { /* the last member does not wait, but others may wait for its records */
			if (views[i]->slots != NULL)
				gompi_slots_close(views[i]->slots);
			gompi_hierarchy_close(views[i]);
		}
		while (mail_serve()) { /* a record of the root of two members may have no receiver */
		}
		CHECK(network_empty() || check_errors > 0, "round %u: somebody has not got all", round);
	}
	CHECK(gompi_load(&network_strangers) > 50, "%u strange records", gompi_load(&network_strangers));
	return unit_end();
}
