/* Proves: two-level collectives (coll/hierarchy.h) of members on several nodes give the result that MPI defines, for
 * any placement of ranks, any root and any sequence of calls. A reduction combines the results of the nodes in node
 * order, and the members of a node in rank order; a scan combines all members in rank order. All members make the same
 * decision whether a large operation uses messages instead. Members with mismatched calls get an error, and later calls
 * work. Invalid data published by a leader gives MPI_ERR_INTERN. If a leader's header (status and length) changes while
 * a member reads it, the member writes no byte beyond its result. */
#include "../network.h"

#include "coll/hierarchy.h"
#include "coll/protocol.h"
#include "compose.h"

enum { MAX_RANKS = 9, CALLS = UNIT_REPEATS(400), LONGEST = 180000 };

static uint64_t max_round_bytes; /* limit of the number of bytes of a collective in a round */

static int n, nodes;
static int32_t node_of[MAX_RANKS], local_rank_of[MAX_RANKS], order[MAX_RANKS]; /* order: ranks by node */
static int max_ranks_per_node;
static int node_size[MAX_RANKS];                            /* number of members on each node */
static char *memory[MAX_RANKS], *barrier_memory[MAX_RANKS]; /* shared memory of each node */
static struct gompi_hierarchy *views[MAX_RANKS];
static gompi_a32 called[MAX_RANKS];

static bool is_reduction(const char *b, unsigned call, uint64_t bytes) {
	for (uint64_t i = 0; i < bytes; i += 2) {
		int last = order[n - 1];
		unsigned char acc[2] = {input(call, last, i), input(call, last, i + 1)};
		for (int k = n - 2; k >= 0; k--) {
			unsigned char left[2] = {input(call, order[k], i), input(call, order[k], i + 1)};
			compose(left, acc, 1);
		}
		if (memcmp(b + i, acc, 2) != 0)
			return false;
	}
	return true;
}

static void one(int me, unsigned call, int kind, int root, uint64_t bytes, int odd) {
	static char in[MAX_RANKS][LONGEST + 8], out[MAX_RANKS][LONGEST + 8];
	static const int kinds[] = {GOMPI_BARRIER, GOMPI_BCAST, GOMPI_REDUCE, GOMPI_ALLREDUCE};
	struct gompi_coll_call c = {.kind = kinds[kind], .root = kind == 3 ? 0 : root, .name = "test"};
	bool in_place = call % 3 == 0, gets = kind == 3 || me == root;
	uint64_t mine = me == odd ? (bytes + max_round_bytes / 3) % max_round_bytes / 2 * 2 : bytes;
	uint64_t max_bytes = max_ranks_per_node > 1 ? 2048 : GOMPI_LEADERS_MAX_BYTES;
	if (max_ranks_per_node == 1 && nodes <= (kind == 1 ? 3 : 2))
		max_bytes = 8 << 20;
	else if (kind != 1 && max_bytes > (48 << 10) / (uint64_t)nodes)
		max_bytes = (48 << 10) / (uint64_t)nodes;
	uint64_t size = kind == 1 && root == odd ? (bytes + max_round_bytes / 3) % max_round_bytes / 2 * 2 : bytes;
	for (uint64_t i = 0; i < mine; i++)
		in[me][i] = (char)input(call, me, i);
	c.bytes = mine, c.in = in[me], c.out = kind == 1 || in_place ? in[me] : out[me];
	c.reduction = (struct gompi_reduction){.size = 2, .kernel = compose};
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
		if (size > max_bytes)
			CHECK(rc == GOMPI_COLL_USE_MESSAGES && c.bytes == size &&
				      (c.mismatch.rank >= 0) == (odd != -1 && me != root && (odd == me || odd == root)),
			      "call %u: a long broadcast returns %d, %d differs", call, rc, c.mismatch.rank);
		else if (odd == me || odd == root)
			CHECK(rc == (me == root ? 0 : GOMPI_COLL_MISMATCH), "call %u: an odd broadcast returns %d",
			      call, rc);
		else
			CHECK(rc == 0, "call %u: a broadcast returns %d", call, rc);
		for (uint64_t i = 0; rc == 0 && i < mine; i++)
			CHECK((unsigned char)in[me][i] == input(call, root, i), "call %u: byte %d of a broadcast", call,
			      (int)i);
		break;
	default:
		if (odd != -1 && gets)
			CHECK(rc == GOMPI_COLL_MISMATCH && c.mismatch.rank != me &&
				      (me == odd || c.mismatch.rank == odd),
			      "call %u: an odd %s returns %d, rank %d differs", call, what, rc, c.mismatch.rank);
		else if (odd != -1)
			CHECK(rc == 0 || rc == GOMPI_COLL_MISMATCH, "call %u: an odd %s returns %d", call, what, rc);
		else
			CHECK(rc == (bytes > max_bytes ? GOMPI_COLL_USE_MESSAGES : 0), "call %u: a %s returns %d", call,
			      what, rc);
		if (rc == 0 && gets)
			CHECK(is_reduction(c.out, call, bytes), "call %u: what a %s gives", call, what);
	}
}

/* Makes the calls that collect a block (a row) from each member: gather, allgather, alltoall, scan and exscan. The
 * member `odd`, or none if `odd` is -1, passes a different length. */
static void run_rows_call(int me, unsigned call, int kind, int root, uint64_t bytes, int odd) {
	enum { ROW = 8 + LONGEST };
	static char in[MAX_RANKS][MAX_RANKS * ROW], out[MAX_RANKS][MAX_RANKS * ROW];
	static uint64_t sizes[MAX_RANKS][MAX_RANKS];
	uint64_t mine = me == odd ? bytes + 2 : bytes, longest = kind == GOMPI_ALLTOALL ? bytes * (uint64_t)n : bytes;
	bool v = kind == GOMPI_ALLGATHER && call % 2, gets = kind != GOMPI_GATHER || me == root;
	struct gompi_coll_call c = {.kind = kind, .root = kind == GOMPI_GATHER ? root : 0, .name = "test"};
	int last = kind == GOMPI_SCAN ? me : kind == GOMPI_EXSCAN ? me - 1 : -1;
	if (v)
		longest = 0;
	for (int i = 0; i < n; i++) {
		sizes[me][i] = bytes * (uint64_t)(i % 3) / 2;
		if (v && sizes[me][i] > longest)
			longest = sizes[me][i];
	}
	uint64_t stride = (8 + longest + 7) / 8 * 8;
	bool fits = (uint64_t)n * stride <= 2048 && (uint64_t)(nodes * max_ranks_per_node) * stride <= 4096;
	if (max_ranks_per_node == 1) {
		uint64_t block = kind == GOMPI_ALLTOALL ? bytes : longest, of = nodes < 4 ? 1 : (uint64_t)nodes / 2;
		bool folds = kind == GOMPI_SCAN || kind == GOMPI_EXSCAN;
		fits = block + 8 <= GOMPI_LEADERS_MAX_BYTES / of / 8 * 8 || nodes <= (folds ? 2 : 3);
	}
	if (v)
		mine = sizes[me][me];
	uint64_t all = kind == GOMPI_ALLTOALL ? mine * (uint64_t)n : mine;
	for (uint64_t i = 0; i < all; i++)
		in[me][i] = (char)input(call, me, i);
	memset(out[me], 0, (uint64_t)n * bytes);
	c.bytes = mine, c.in = in[me], c.out = out[me], c.sizes = v ? sizes[me] : NULL;
	c.ins = (struct gompi_blocks){in[me], mine, NULL}, c.outs = (struct gompi_blocks){out[me], bytes + 2, NULL};
	c.reduction = (struct gompi_reduction){.size = 2, .kernel = compose};
	gompi_store(&called[me], call);
	int rc = gompi_hierarchy_run(views[me], &c);
	if (odd != -1 && !v) {
		CHECK(rc == GOMPI_COLL_MISMATCH || (!gets && rc == 0), "call %u: an odd call of kind %d returns %d",
		      call, kind, rc);
		return;
	}
	CHECK(rc == (fits ? 0 : GOMPI_COLL_USE_MESSAGES), "call %u of kind %d, %d bytes: %d", call, kind, (int)bytes,
	      rc);
	if (rc != 0 || !gets)
		return;
	if (last >= 0) {
		for (uint64_t i = 0; i < bytes; i += 2) {
			unsigned char acc[2] = {input(call, last, i), input(call, last, i + 1)};
			for (int k = last - 1; k >= 0; k--) {
				unsigned char left[2] = {input(call, k, i), input(call, k, i + 1)};
				compose(left, acc, 1);
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
	int32_t local[MAX_RANKS], leaders[MAX_RANKS], peers[MAX_RANKS];
	network_self = me, network_seed = 5 + (unsigned)me;
	for (int i = n - 1; i >= 0; i--) {
		leaders[node_of[i]] = i;
		if (node_of[i] == node_of[me])
			local[local_rank_of[i]] = i;
	}
	for (int i = 0; i < node_size[node_of[me]]; i++)
		peers[i] = local[i];
	struct gompi_hierarchy v = {.n = n,
				    .me = me,
				    .nodes = nodes,
				    .node = node_of[me],
				    .local_size = node_size[node_of[me]],
				    .local_rank = local_rank_of[me],
				    .max_ranks_per_node = max_ranks_per_node,
				    .node_of = node_of,
				    .local_ranks = local};
	if (v.local_size > 1) {
		v.shm_coll = gompi_shm_coll_open(memory[v.node], v.local_size, v.local_rank, peers, 0);
		v.barrier = (struct gompi_barrier *)barrier_memory[v.node];
	}
	views[me] = gompi_hierarchy_open(&v, network_messages[me], communicator << 4, leaders);
	for (unsigned call = 1; call <= CALLS && check_errors == 0; call++) {
		unsigned r = (unsigned)rand_r(&common) / 7, long_one = r % 5 == 0;
		uint64_t bytes = long_one ? r % max_round_bytes / 2 * 2 : r % 64 / 2 * 2;
		int root = (int)((r >> 8) % (unsigned)n),
		    odd = (r >> 12) % 8 == 0 ? (int)((r >> 16) % (unsigned)n) : -1;
		int kind = call / 30 % 3 == 0 ? 1 : (int)((r >> 5) % 4);
		if (call / 30 % 3 == 1)
			kind = (int)((r >> 5) % 2) * 2;
		static const int of_rows[] = {GOMPI_GATHER, GOMPI_ALLGATHER, GOMPI_ALLTOALL, GOMPI_SCAN, GOMPI_EXSCAN};
		if (call / 30 % 3 == 2 && r % 2)
			run_rows_call(me, call, of_rows[(r >> 20) % 5], root,
				      bytes % (max_ranks_per_node > 1 ? 400 : max_round_bytes) / 2 * 2, odd);
		else
			one(me, call, kind, root, bytes, kind == 0 ? -1 : odd);
	}
}

/* Chooses the node of each member: one member per node, or few nodes with ascending ranks (`regular`) or random
 * ranks. */
static void place(unsigned seed, bool regular, bool one_per_node) {
	nodes = 0;
	memset(node_size, 0, sizeof node_size);
	for (int i = 0; i < n; i++) {
		int k = regular ? i * (2 + (int)seed % 2) / n : (int)(rand_r(&seed) / 7 % 4u);
		if (one_per_node)
			k = i;
		node_of[i] = k > nodes ? nodes : k; /* nodes are numbered in the order of their lowest ranks */
		nodes = node_of[i] == nodes ? nodes + 1 : nodes;
		local_rank_of[i] = node_size[node_of[i]]++;
	}
	max_ranks_per_node = 0;
	for (int k = 0; k < nodes; k++)
		max_ranks_per_node = node_size[k] > max_ranks_per_node ? node_size[k] : max_ranks_per_node;
	for (int k = 0, at = 0; k < nodes; k++)
		for (int i = 0; i < n; i++)
			if (node_of[i] == k)
				order[at++] = i;
}

/* --- Invalid data of a leader: member 0 of a node is the leader, and member 1 reads its buffer. The test writes
 * invalid data into this buffer */

/* FAILED, DIFFERS: a leader publishes them in its signature to report an error or mismatched calls (HIERARCHY_FAILED
 * and HIERARCHY_MISMATCH in coll/hierarchy.c). ROOT is a member on the other node. */
enum { FAILED = 0xf0, DIFFERS = 0xf1, SMALL_BYTES = 8, LARGE_BYTES = 2000, ROOT = 2 };

static struct gompi_shm_coll *damaged_shm;
static struct gompi_hierarchy *damaged_view;

static void damaged_open(void) {
	static int32_t nodes_of[4] = {0, 0, 1, 1}, local[2] = {0, 1}, peers[2] = {0, 0}, lead[2] = {0, 0};
	damaged_shm = gompi_shm_coll_open(unit_memory(2 * sizeof(struct gompi_shm_member)), 2, 1, peers, 0);
	struct gompi_hierarchy v = {.n = 4,
				    .me = 1,
				    .nodes = 2,
				    .local_size = 2,
				    .local_rank = 1,
				    .max_ranks_per_node = 2,
				    .node_of = nodes_of,
				    .local_ranks = local,
				    .shm_coll = damaged_shm};
	damaged_view = gompi_hierarchy_open(&v, NULL, 16, lead);
	if (damaged_shm == NULL || damaged_view == NULL)
		abort();
}

/* Runs a broadcast in member 1 after the leader has published `signature` and `format`. Returns the error class. */
static int read_damaged(uint64_t signature, uint64_t format, char *out, int *differs) {
	struct gompi_coll_call c = {
		.kind = GOMPI_BCAST, .root = ROOT, .name = "test", .bytes = SMALL_BYTES, .out = out};
	struct gompi_shm_header *h = &damaged_shm->member[0].header[(damaged_shm->seq + 1) % GOMPI_SHM_HEADERS];
	gompi_store(&h->signature, signature);
	gompi_store(&h->format, format);
	memset(h->data, 1, sizeof h->data);
	gompi_store_release(&h->number, damaged_shm->seq + 1);
	int rc = gompi_hierarchy_run(damaged_view, &c);
	*differs = c.mismatch.rank;
	return rc;
}

static void test_damaged_status(void) {
	static const struct {
		uint64_t format;
		int rc;
	} failed[] = {{MPI_ERR_NO_MEM, MPI_ERR_NO_MEM},
		      {MPI_SUCCESS, MPI_ERR_INTERN},
		      {12345678, MPI_ERR_INTERN},
		      {1ULL << 32 | MPI_ERR_NO_MEM, MPI_ERR_INTERN},
		      {(uint64_t)GOMPI_COLL_MISMATCH, MPI_ERR_INTERN},
		      {(uint64_t)GOMPI_COLL_USE_MESSAGES, MPI_ERR_INTERN}};
	char out[SMALL_BYTES];
	int rank;
	for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
		int rc = read_damaged((uint64_t)FAILED << 56, failed[i].format, out, &rank);
		CHECK(rc == failed[i].rc, "a leader's error class %llx gives %d, not %d",
		      (unsigned long long)failed[i].format, rc, failed[i].rc);
	}
	for (uint32_t at = 0; at < 6; at++) {
		const uint32_t ranks[] = {0, 3, 4, 1000000, INT32_MAX, UINT32_MAX};
		bool exists = ranks[at] < 4;
		int rc = read_damaged((uint64_t)DIFFERS << 56, (uint64_t)ranks[at] << 32 | ranks[at], out, &rank);
		CHECK(rc == (exists ? GOMPI_COLL_MISMATCH : MPI_ERR_INTERN) && rank == (exists ? (int)ranks[at] : -1),
		      "rank %u differs: %d, rank %d", ranks[at], rc, rank);
	}
}

static gompi_a32 reader_done;

/* Changes the length in the leader's header in thread 1, as another process could, while thread 0 runs broadcasts. */
static void test_changing_header(int i) {
	uint64_t formats[2] = {gompi_format_word(SMALL_BYTES, 1), gompi_format_word(LARGE_BYTES, 1)};
	for (uint64_t k = 0; i == 1 && gompi_load(&reader_done) == 0; k++)
		for (int h = 0; h < GOMPI_SHM_HEADERS; h++)
			gompi_store(&damaged_shm->member[0].header[h].format, formats[k % 2]);
	char out[LARGE_BYTES];
	for (int k = 0; i == 0 && k < 8000; k++) {
		int rank, written = SMALL_BYTES;
		memset(out, 0, sizeof out);
		read_damaged(gompi_signature_word(GOMPI_BCAST, ROOT, SMALL_BYTES), formats[k % 2], out, &rank);
		while (written < LARGE_BYTES && out[written] == 0)
			written++;
		CHECK(written == LARGE_BYTES, "a broadcast of %d bytes wrote byte %d", SMALL_BYTES, written);
		for (int b = 0; b < GOMPI_SHM_BODIES; b++) /* nonzero, so that `out` shows excess copied bytes */
			memset(damaged_shm->member[0].body[b], 2, GOMPI_SHM_SMALL_BYTES);
	}
	gompi_store(&reader_done, 1);
}

int main(void) {
	unit_node(1);
	damaged_open();
	test_damaged_status();
	unit_threads(2, test_changing_header);
	gompi_hierarchy_close(damaged_view);
	gompi_shm_coll_close(damaged_shm);
	network_start();
	for (unsigned round = 0; round < 18 && check_errors == 0; round++) {
		n = 2 + (int)(round * 5 % (MAX_RANKS - 1));
		if (round >= 14)
			n = round == 17 ? 7 : (int)round - 12;
		place(round, round % 2, round >= 14);
		if (nodes < 2)
			continue;
		max_round_bytes = max_ranks_per_node == 1 && nodes <= 3 ? LONGEST
				  : max_ranks_per_node == 1             ? 40000
									: 30000;
		network_members = n;
		gompi_node.policy.is_oversubscribed = round % 4 == 3;
		communicator++;
		for (int k = 0; k < nodes; k++) {
			memory[k] = unit_memory((size_t)node_size[k] * sizeof(struct gompi_shm_member));
			barrier_memory[k] = unit_memory(GOMPI_BARRIER_SIZE((size_t)node_size[k]));
		}
		for (int i = 0; i < n; i++)
			gompi_store(&called[i], 0);
		unit_threads(n, run);
		/* Closes only after all calls have ended, because a call may wait for another member's records. */
		for (int i = 0; i < n; i++) {
			if (views[i]->shm_coll != NULL)
				gompi_shm_coll_close(views[i]->shm_coll);
			gompi_hierarchy_close(views[i]);
		}
		/* Deliver the remaining records: with two members, no call had to wait for the root's last record. */
		while (mail_serve()) {
		}
		CHECK(network_empty() || check_errors > 0, "round %u: some records were not received", round);
	}
	CHECK(gompi_load(&network_strangers) > 50, "%u strange records", gompi_load(&network_strangers));
	return unit_end();
}
