// Implements barriers by the dissemination algorithm, and exchanges by Bruck's algorithm. In round r, member i sends to
// member i + 2^r and waits for member i - 2^r, modulo n. After ceil(log2 n) rounds, each member has received from every
// other member, directly or indirectly. A broadcast uses a subset of the same sender-receiver pairs. So all records of
// a round come from the same peer, and a record from another peer is invalid.
//
// Calls on a group are numbered (generation). A member in call g may receive records of the next few calls. A
// synchronizing call ends at a member only after all members have begun it. In other calls, such as broadcasts, a
// member need not wait for all members. After MAX_UNSYNCED_CALLS calls of this kind in a row, the members run a
// barrier. Each segment of a stream has a number like a call.
#include "fabric/internode.h"

#include <string.h>

#include "base/abi.h"
#include "base/clock.h"
#include "base/node.h"
#include "fabric/early.h"
#include "fabric/fabric.h"

enum {
	MAX_UNSYNCED_CALLS = 16, // maximum number of consecutive calls that need not synchronize all members
	STREAM_DEPTH = 6,        // maximum number of segments of a stream in progress
};
_Static_assert(STREAM_DEPTH + MAX_UNSYNCED_CALLS + 2 < GOMPI_INTERNODE_MAX_AHEAD &&
		       2 * STREAM_DEPTH < GOMPI_INTERNODE_MAX_AHEAD,
	       "a member could be too far ahead");

// Time (ns) for which the root of a group of two polls for the other member's record before it sends its own.
enum { ROOT_POLL_NS = 100000 };

// --- Rounds

// Ends a call with the result rc and returns rc. Marks the group as failed if rc is an error class. After
// GOMPI_INTERNODE_MISMATCH, which is negative, the group can still be used.
static int finish_group_call(struct gompi_internode *m, int rc) {
	m->has_failed = m->has_failed || rc > 0;
	return rc;
}

// Reserves a record of a round with `bytes` bytes of data, which the caller commits. On error returns NULL and sets
// *class to an error of gompi_early_reserve_credit or gompi_fabric_reserve.
static struct internode_record *reserve_in_call(struct gompi_internode *m, uint32_t generation, int round,
						enum internode_kind kind, size_t bytes,
						const struct gompi_wait_desc *waiting, int *class) {
	struct internode_record *r = NULL;
	uint8_t is_early;
	*class = gompi_early_reserve_credit(m, round, sizeof *r + bytes, waiting, &is_early);
	if (*class == 0)
		r = (void *)gompi_fabric_reserve(m->edge[round].to_peer, FABRIC_INTERNODE, sizeof *r + bytes,
						 FABRIC_WAIT, class);
	if (r != NULL)
		*r = (struct internode_record){.id = m->id,
					       .generation = generation,
					       .round = (uint16_t)round,
					       .kind = (uint8_t)kind,
					       .is_early = is_early};
	return r;
}

static struct internode_record *reserve_in_round(struct gompi_internode *m, int round, enum internode_kind kind,
						 size_t bytes, const struct gompi_wait_desc *waiting, int *class) {
	return reserve_in_call(m, gompi_load(&m->generation), round, kind, bytes, waiting, class);
}

static void commit_in_round(struct gompi_internode *m, int round, size_t bytes) {
	gompi_fabric_commit(m->edge[round].to_peer, sizeof(struct internode_record) + bytes, FABRIC_NOW);
}

struct arrival_wait {
	struct arrival *arrival;
	uint32_t generation;
};

static bool has_arrived(void *arg) {
	struct arrival_wait *w = arg;
	return gompi_load_acquire(&w->arrival->generation) == w->generation; // pairs with the release in store_arrival
}

// Polls for a short time. Returns true if the record that a round of the current call receives has arrived.
static bool poll_for_arrival(struct gompi_internode *m, int round) {
	uint32_t g = gompi_load(&m->generation);
	struct arrival_wait w = {&m->edge[round].arrival[g % GOMPI_INTERNODE_MAX_AHEAD], g};
	const int64_t end = gompi_node.policy.is_oversubscribed ? 0 : gompi_now_ns() + ROOT_POLL_NS;
	do {
		if (has_arrived(&w) || (gompi_fabric_progress() && has_arrived(&w)))
			return true;
	} while (gompi_now_ns() < end);
	return false;
}

// Waits for the record that a round of the current call receives. Stores the record in *r, and the bytes of its data in
// *bytes.
static int await_arrival(struct gompi_internode *m, int round, const struct gompi_wait_desc *waiting,
			 const struct internode_record **r, size_t *bytes) {
	uint32_t g = gompi_load(&m->generation);
	struct arrival_wait w = {&m->edge[round].arrival[g % GOMPI_INTERNODE_MAX_AHEAD], g};
	// The record has probably arrived already, so poll the network at once. A wait would first poll for arrivals
	// from this node.
	if (!has_arrived(&w) && !(gompi_fabric_progress() && has_arrived(&w))) {
		struct gompi_wait_desc on = {.call = waiting->call,
					     .peer = m->edge[round].from_peer,
					     .object = waiting->object,
					     .depends_on_all = true};
		int rc = gompi_await(&gompi_my_cell()->wait, has_arrived, &w, &on);
		if (rc)
			return rc;
	}
	*r = &w.arrival->buffer->record;
	*bytes = w.arrival->length - sizeof **r;
	return 0;
}

static void begin_group_call(struct gompi_internode *m) {
	gompi_early_release(m); // the buffers of the previous call
	gompi_store(&m->generation, gompi_load(&m->generation) + 1);
}

// --- Barrier

static int barrier(struct gompi_internode *m, const struct gompi_wait_desc *waiting) {
	begin_group_call(m);
	m->unsynced_calls = 0;
	for (int round = 0; round < m->rounds; round++) {
		const struct internode_record *r;
		size_t bytes;
		int rc;
		if (reserve_in_round(m, round, INTERNODE_BARRIER, 0, waiting, &rc) == NULL)
			return rc;
		commit_in_round(m, round, 0);
		rc = await_arrival(m, round, waiting, &r, &bytes);
		if (rc)
			return rc;
	}
	m->is_open_everywhere = true;
	return 0;
}

int gompi_internode_barrier(struct gompi_internode *m, const struct gompi_wait_desc *waiting) {
	return finish_group_call(m, barrier(m, waiting));
}

// Begins a call that need not synchronize all members. After MAX_UNSYNCED_CALLS calls of this kind in a row, first runs
// a barrier.
static int begin_unsynced_call(struct gompi_internode *m, const struct gompi_wait_desc *waiting) {
	if (++m->unsynced_calls > MAX_UNSYNCED_CALLS) {
		int rc = barrier(m, waiting);
		if (rc)
			return rc;
		m->unsynced_calls = 1;
	}
	begin_group_call(m);
	return 0;
}

// --- Blocks of several members

enum block_exchange_kind { EXCHANGE_ALLGATHER, EXCHANGE_ALLTOALL, EXCHANGE_GATHER };

// The blocks that a member sends in a round: those with the numbers `first` to `last`. If `bit` is not 0, the member
// sends only numbers with this bit set. In EXCHANGE_ALLGATHER and EXCHANGE_GATHER, block i at member k is the block of
// member k - i, modulo n. In EXCHANGE_ALLTOALL, block i of member k is for member k + i, modulo n. The block is
// forwarded by a distance of 2^r in each round r whose bit is set in i. Each member that receives block i stores it in
// the element of `received` for the member at distance i before it. After the last round, that member is the block's
// original sender.
struct round_blocks {
	int first, last, bit;
};

static int next_block(const struct round_blocks *p, int i) {
	i++;
	return p->bit != 0 && (i & p->bit) == 0 ? i + p->bit : i;
}

static uint32_t block_count(const struct round_blocks *p) {
	uint32_t n = 0;
	for (int i = p->first; i <= p->last; i = next_block(p, i))
		n++;
	return n;
}

// Returns the blocks that a member sends in the round in which it sends to the member at distance d.
static struct round_blocks round_blocks_of(int member, int n, enum block_exchange_kind flow, int d, int root) {
	if (flow == EXCHANGE_ALLTOALL)
		return (struct round_blocks){d, n - 1, d};
	const int left = (root - member + n) % n; // distance to the root
	if (flow == EXCHANGE_ALLGATHER)
		return (struct round_blocks){0, (d < n - d ? d : n - d) - 1, 0};
	// Binomial tree: a member sends in the round given by the lowest set bit of its distance to the root. In this
	// round, the member holds the blocks of all members of its subtree.
	if ((left & (2 * d - 1)) != d)
		return (struct round_blocks){0, -1, 0};
	return (struct round_blocks){0, (d < n - left ? d : n - left) - 1, 0};
}

// The state of an exchange. The field local_call is this member's call. If is_mismatch is true, other_call is the call
// of another process that does not match local_call.
struct block_exchange {
	struct gompi_internode *m;
	struct gompi_internode_blocks *b;
	enum block_exchange_kind flow;
	int root;
	struct internode_call_info local_call, other_call;
	bool is_mismatch;
	const struct gompi_wait_desc *waiting;
};

static struct block_exchange begin_exchange(struct gompi_internode *m, const struct gompi_internode_call *call,
					    const struct gompi_internode_call *mismatch,
					    struct gompi_internode_blocks *b, const struct gompi_wait_desc *waiting) {
	struct block_exchange t = {.m = m,
				   .b = b,
				   .waiting = waiting,
				   .local_call = {call->signature, call->format, b->block_bytes, call->rank}};
	t.is_mismatch = mismatch != NULL;
	if (t.is_mismatch)
		t.other_call = (struct internode_call_info){mismatch->signature, mismatch->format, b->block_bytes,
							    mismatch->rank};
	return t;
}

static int end_exchange(const struct block_exchange *t, struct gompi_internode_call *call) {
	if (!t->is_mismatch)
		return 0;
	*call = (struct gompi_internode_call){t->other_call.signature, t->other_call.format, t->other_call.rank};
	return GOMPI_INTERNODE_MISMATCH;
}

static const char **received_from(const struct block_exchange *t, int distance) {
	return &t->b->received[(t->m->me - distance + t->m->n) % t->m->n];
}

// Sends the record of a round: the round's blocks or, after a mismatch, the call that does not match.
static int send_round(struct block_exchange *t, int round) {
	struct gompi_internode *m = t->m;
	const int d = 1 << round;
	const struct round_blocks p = round_blocks_of(m->me, m->n, t->flow, d, t->root);
	const uint32_t bytes = t->b->block_bytes;
	const size_t length = t->is_mismatch ? sizeof t->other_call : (size_t)block_count(&p) * bytes;
	int rc;
	struct internode_record *to = reserve_in_round(m, round, t->is_mismatch ? INTERNODE_MISMATCH : INTERNODE_GATHER,
						       length, t->waiting, &rc);
	if (to == NULL)
		return rc;
	to->call = t->local_call;
	char *at = to->data;
	if (t->is_mismatch)
		memcpy(at, &t->other_call, sizeof t->other_call);
	for (int i = p.first; !t->is_mismatch && bytes > 0 && i <= p.last; i = next_block(&p, i), at += bytes)
		// The condition is true for the blocks that no other member has sent to this member: its own blocks.
		if (t->flow == EXCHANGE_ALLTOALL ? (i & (d - 1)) == 0 : i == 0)
			t->b->fill(t->b->arg, (m->me + i) % m->n, 0, at);
		else
			memcpy(at, *received_from(t, i), bytes);
	commit_in_round(m, round, length);
	return 0;
}

static bool calls_match(const struct internode_call_info *a, const struct internode_call_info *b) {
	return a->signature == b->signature && a->format == b->format && a->bytes == b->bytes;
}

// Waits for the record of a round and stores its blocks. Sets is_mismatch and other_call instead if the record reports
// a mismatch, or belongs to a call that does not match.
static int receive_round(struct block_exchange *t, int round) {
	struct gompi_internode *m = t->m;
	const struct internode_record *r;
	const int d = 1 << round;
	size_t length;
	int rc = await_arrival(m, round, t->waiting, &r, &length);
	if (rc)
		return rc;
	const struct round_blocks p = round_blocks_of((m->me - d + m->n) % m->n, m->n, t->flow, d, t->root);
	const uint32_t bytes = t->b->block_bytes;
	const bool matches = r->kind == INTERNODE_GATHER && calls_match(&r->call, &t->local_call) &&
			     length == (size_t)block_count(&p) * bytes;
	const char *at = r->data;
	for (int i = p.first; matches && !t->is_mismatch && i <= p.last; i = next_block(&p, i), at += bytes)
		*received_from(t, t->flow == EXCHANGE_ALLTOALL ? i : i + d) = at;
	if (!matches && !t->is_mismatch) {
		t->is_mismatch = true;
		t->other_call = r->call;
		if (r->kind == INTERNODE_MISMATCH && length == sizeof t->other_call &&
		    calls_match(&t->other_call, &t->local_call))
			memcpy(&t->other_call, r->data, sizeof t->other_call);
	}
	return 0;
}

// Runs all rounds. Each member sends a record in each round. If the receiver needs no data in a round, the record of
// this round has no data.
static int run_all_rounds(struct block_exchange *t) {
	struct gompi_internode *m = t->m;
	begin_group_call(m);
	m->unsynced_calls = 0;
	for (int round = 0; round < m->rounds; round++) {
		int rc = send_round(t, round);
		if (rc == 0)
			rc = receive_round(t, round);
		if (rc)
			return rc;
	}
	m->is_open_everywhere = true;
	return 0;
}

int gompi_internode_allgather(struct gompi_internode *m, struct gompi_internode_call *call,
			      const struct gompi_internode_call *mismatch, struct gompi_internode_blocks *b,
			      const struct gompi_wait_desc *waiting) {
	struct block_exchange t = begin_exchange(m, call, mismatch, b, waiting);
	int rc = run_all_rounds(&t);
	return finish_group_call(m, rc ? rc : end_exchange(&t, call));
}

int gompi_internode_alltoall(struct gompi_internode *m, struct gompi_internode_call *call,
			     const struct gompi_internode_call *mismatch, struct gompi_internode_blocks *b,
			     const struct gompi_wait_desc *waiting) {
	struct block_exchange t = begin_exchange(m, call, mismatch, b, waiting);
	t.flow = EXCHANGE_ALLTOALL;
	int rc = run_all_rounds(&t);
	return finish_group_call(m, rc ? rc : end_exchange(&t, call));
}

// --- Gather at a root

// Receives the other member's record at the root of a group of two. The root sends a record only if the other member
// waits for a record, or may wait for one. If the other member's record does not arrive soon, that member may be in a
// different call in which it is the root itself. So the root then sends its record first.
static int run_root_of_two(struct block_exchange *t, bool wait_for_root) {
	bool sends_first = t->is_mismatch || !poll_for_arrival(t->m, 0);
	int rc = sends_first ? send_round(t, 0) : 0;
	if (rc == 0)
		rc = receive_round(t, 0);
	if (rc)
		return rc;
	return !sends_first && (wait_for_root || t->is_mismatch) ? send_round(t, 0) : 0;
}

static int run_gather(struct block_exchange *t, bool wait_for_root) {
	struct gompi_internode *m = t->m;
	// Only a group of two members can skip the synchronization, and only after both have opened the group. Before
	// that, the root's record could be an early record (early.h). A member may send an early record only to a
	// receiver that waits for it, and it is not certain that the other member waits for the root's record.
	if (m->n != 2 || !m->is_open_everywhere)
		return run_all_rounds(t);
	int rc = begin_unsynced_call(m, t->waiting);
	if (rc)
		return rc;
	if (m->me == t->root)
		return run_root_of_two(t, wait_for_root);
	rc = send_round(t, 0);
	return rc == 0 && (wait_for_root || t->is_mismatch) ? receive_round(t, 0) : rc;
}

int gompi_internode_gather(struct gompi_internode *m, int root, struct gompi_internode_call *call,
			   const struct gompi_internode_call *mismatch, struct gompi_internode_blocks *b,
			   bool wait_for_root, const struct gompi_wait_desc *waiting) {
	struct block_exchange t = begin_exchange(m, call, mismatch, b, waiting);
	t.flow = EXCHANGE_GATHER;
	t.root = root;
	int rc = run_gather(&t, wait_for_root);
	return finish_group_call(m, rc ? rc : end_exchange(&t, call));
}

// --- Streams of segments

// Sends a segment to all other members, in each round directly to one of them. The rounds reach all members, because
// there are at most GOMPI_STREAM_MAX_MEMBERS members.
static int send_stream_segment(struct gompi_internode *m, struct gompi_internode_blocks *b, uint32_t generation,
			       uint64_t segment, const struct gompi_wait_desc *waiting) {
	for (int round = 0; round < m->rounds; round++) {
		int rc;
		struct internode_record *to =
			reserve_in_call(m, generation, round, INTERNODE_GATHER, b->block_bytes, waiting, &rc);
		if (to == NULL)
			return rc;
		to->call = (struct internode_call_info){.bytes = b->block_bytes};
		b->fill(b->arg, (m->me + (1 << round)) % m->n, segment, to->data);
		commit_in_round(m, round, b->block_bytes);
	}
	return 0;
}

static int await_stream_segment(struct gompi_internode *m, struct gompi_internode_blocks *b,
				const struct gompi_wait_desc *waiting) {
	for (int round = 0; round < m->rounds; round++) {
		const struct internode_record *r;
		size_t bytes;
		int rc = await_arrival(m, round, waiting, &r, &bytes);
		if (rc)
			return rc;
		if (r->kind != INTERNODE_GATHER || bytes != b->block_bytes)
			return MPI_ERR_INTERN; // invalid record, which no correct member sends
		b->received[(m->me - (1 << round) + m->n) % m->n] = r->data;
	}
	return 0;
}

static int run_stream(struct gompi_internode *m, struct gompi_internode_blocks *b, uint64_t n,
		      void (*on_segment)(void *arg, uint64_t segment), const struct gompi_wait_desc *waiting) {
	const uint32_t first = gompi_load(&m->generation);
	for (uint64_t segment = 1, sent = 1; segment < n; segment++) {
		int rc = 0;
		for (; sent < n && sent < segment + STREAM_DEPTH && rc == 0; sent++)
			rc = send_stream_segment(m, b, first + (uint32_t)sent, sent, waiting);
		begin_group_call(m);
		if (rc == 0)
			rc = await_stream_segment(m, b, waiting);
		if (rc)
			return rc;
		on_segment(b->arg, segment);
	}
	return 0;
}

int gompi_internode_stream(struct gompi_internode *m, struct gompi_internode_blocks *b, uint64_t n,
			   void (*on_segment)(void *arg, uint64_t segment), const struct gompi_wait_desc *waiting) {
	return finish_group_call(m, run_stream(m, b, n, on_segment, waiting));
}

// --- Broadcast

static int broadcast(struct gompi_internode *m, int root, struct gompi_internode_call *call, const void **data,
		     uint32_t *bytes, const struct gompi_wait_desc *waiting) {
	int relative_rank = (m->me - root + m->n) % m->n, round = 0, rc = begin_unsynced_call(m, waiting);
	if (rc)
		return rc;
	while (round < m->rounds && (relative_rank >> round & 1) == 0)
		round++;
	if (relative_rank != 0) {
		const struct internode_record *r;
		size_t length;
		rc = await_arrival(m, round, waiting, &r, &length);
		if (rc)
			return rc;
		*call = (struct gompi_internode_call){r->call.signature, r->call.format, r->call.rank};
		*data = r->data;
		*bytes = r->kind == INTERNODE_BCAST ? (uint32_t)length : 0;
	}
	while (--round >= 0) {
		if (relative_rank + (1LL << round) >= m->n)
			continue;
		struct internode_record *to = reserve_in_round(m, round, INTERNODE_BCAST, *bytes, waiting, &rc);
		if (to == NULL)
			return rc;
		to->call = (struct internode_call_info){call->signature, call->format, *bytes, call->rank};
		if (*bytes > 0)
			memcpy(to->data, *data, *bytes);
		commit_in_round(m, round, *bytes);
	}
	return 0;
}

int gompi_internode_bcast(struct gompi_internode *m, int root, struct gompi_internode_call *call, const void **data,
			  uint32_t *bytes, const struct gompi_wait_desc *waiting) {
	return finish_group_call(m, broadcast(m, root, call, data, bytes, waiting));
}
