// Implements exchanges by Bruck's algorithm. A barrier is an exchange without data. In round r, member i sends to
// member i + 2^r and waits for member i - 2^r, modulo n. After ceil(log2 n) rounds, each member has received from every
// other member, directly or indirectly. A broadcast uses a subset of the same sender-receiver pairs. So all messages of
// a round come from the same peer, and from this peer come only messages of this round.
//
// The messages are eager. If the receiver is in the call to which a message belongs, or in the call before, the
// network's handler stores it in the edge of its round (gompi_leaders_accept). Earlier arrivals are unexpected messages
// of the group's context. The call moves its message from there to the edge. So a message may arrive before its
// receiver has opened the group.
//
// Calls on a group are numbered (generation). A synchronizing call ends at a member only after all members have begun
// it. In other calls, such as broadcasts, a member need not wait for all members. After MAX_UNSYNCED_CALLS calls of
// this kind in a row, the members run a barrier, which limits the number of unexpected messages. Each segment of a
// stream has a number like a call.
#include "message/leaders.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/node.h"

enum {
	MAX_UNSYNCED_CALLS = 16, // maximum number of consecutive calls that need not synchronize all members
	STREAM_DEPTH = 6,        // maximum number of segments of a stream in progress
};

// Time (ns) for which the root of a group of two polls for the other member's message before it sends its own.
enum { ROOT_POLL_NS = 100000 };

struct gompi_leaders {
	struct gompi_vci *vci;
	uint64_t context;
	int n, me, rounds;
	gompi_a32 generation;    // number of the current call
	int unsynced_calls;      // consecutive calls that need not synchronize all members
	bool is_open_everywhere; // all members have opened the group
	struct leader_edge {
		int32_t to_peer, from_peer; // this member sends to to_peer in the round, and receives from from_peer
		// The messages received in this round: call g uses element g % 2, so a message of the next call can be
		// stored while the current call still uses its message.
		struct leader_arrival {
			gompi_a32 generation;          // number of the call that `message` belongs to; stored last
			struct gompi_message *message; // NULL before the first message
		} arrival[2];
	} edge[]; // [rounds]
};

// --- Opening and closing

struct gompi_leaders *gompi_leaders_open(struct gompi_messages *m, uint64_t context, int n, int me,
					 const int32_t *peers) {
	int rounds = 0;
	while (rounds < 31 && 1 << rounds < n)
		rounds++;
	struct gompi_leaders *g = calloc(1, sizeof *g + (size_t)rounds * sizeof g->edge[0]);
	if (g == NULL)
		return NULL;
	g->vci = gompi_vci_of(m != NULL ? m : gompi_load(&gompi_app_messages), context);
	g->context = context, g->n = n, g->me = me, g->rounds = rounds;
	for (int r = 0; r < rounds; r++) {
		g->edge[r].to_peer = peers[(me + (1LL << r)) % n];
		g->edge[r].from_peer = peers[(me + n - (1LL << r)) % n];
	}
	gompi_vci_lock(g->vci);
	gompi_queue_of(&g->vci->queues, context)->leaders = g;
	gompi_vci_unlock(g->vci);
	return g;
}

void gompi_leaders_close(struct gompi_leaders *g) {
	if (g == NULL)
		return;
	gompi_vci_lock(g->vci);
	for (int i = 0; i < 2 * g->rounds; i++)
		if (g->edge[i / 2].arrival[i % 2].message != NULL)
			gompi_message_release(g->vci, g->edge[i / 2].arrival[i % 2].message);
	struct gompi_queue *q = gompi_queue_find(&g->vci->queues, g->context);
	if (q != NULL) // NULL if the contexts of the communicator have been closed before
		q->leaders = NULL;
	gompi_close_context_locked(g->vci, g->context);
	gompi_vci_unlock(g->vci);
	free(g);
}

// --- Rounds

// Reserves space for the message of a round with `bytes` bytes of data. The caller writes the message and then calls
// commit_message. On error returns NULL and sets *class to an error of gompi_fabric_reserve. The flags are those of the
// record. The message does not pass through the pending output of its link, so it precedes pending messages of other
// contexts.
static struct gompi_leaders_message *reserve_message(struct gompi_leaders *g, uint32_t generation, int round,
						     enum gompi_leaders_kind kind, unsigned flags, size_t bytes,
						     int *class) {
	const int64_t size = (int64_t)(sizeof(struct gompi_leaders_message) + bytes), length = gompi_record_size(size);
	struct gompi_record *h = (struct gompi_record *)(void *)gompi_fabric_reserve(
		g->edge[round].to_peer, FABRIC_MESSAGES, (size_t)length, FABRIC_WAIT, class);
	if (h == NULL)
		return NULL;
	*h = (struct gompi_record){.valid_flag = (uint64_t)(g->vci - g->vci->messages->vci),
				   .word = gompi_record_word(RECORD_EAGER, flags, length),
				   .context = g->context,
				   .source = g->me,
				   .from = g->vci->messages->node.self,
				   .size = (uint64_t)size};
	struct gompi_leaders_message *r = (struct gompi_leaders_message *)(void *)gompi_record_data(h, size);
	*r = (struct gompi_leaders_message){.generation = generation, .kind = kind};
	*class = 0;
	return r;
}

static void commit_message(struct gompi_leaders *g, int round, size_t bytes) {
	gompi_fabric_commit(g->edge[round].to_peer,
			    (size_t)gompi_record_size((int64_t)(sizeof(struct gompi_leaders_message) + bytes)),
			    FABRIC_NOW);
}

// A wait for the message that a round of the current call receives.
struct leader_wait {
	struct gompi_leaders *g;
	int round;
	uint64_t seen_arrived; // unexpected_arrived of the VCI at the last check
};

// Returns true if an unexpected message is the one that the round expects, or if there was no memory for its data.
static bool is_expected(const struct leader_wait *w, const struct gompi_message *a) {
	if (a->from != w->g->edge[w->round].from_peer || a->rts || a->self_send != NULL ||
	    a->size < (int64_t)sizeof(struct gompi_leaders_message))
		return false;
	return a->fetch_error != MPI_SUCCESS ||
	       ((const struct gompi_leaders_message *)(void *)a->data)->generation == gompi_load(&w->g->generation);
}

// Returns true if the message that the round expects has arrived. If it is among the unexpected messages, moves it to
// the edge, and drops invalid messages before it.
static bool has_arrived(void *arg) {
	struct leader_wait *w = arg;
	struct gompi_leaders *g = w->g;
	struct gompi_vci *l = g->vci;
	const uint32_t generation = gompi_load(&g->generation);
	struct leader_arrival *to = &g->edge[w->round].arrival[generation % 2];
	if (gompi_load_acquire(&to->generation) == generation) // pairs with the release in gompi_leaders_accept
		return true;
	const uint64_t arrived = gompi_load_seq_cst(&l->unexpected_arrived);
	if (arrived == w->seen_arrived || gompi_load(&l->unexpected_count) == 0)
		return false;
	w->seen_arrived = arrived;
	const int from = (int)((g->me + g->n - (1LL << w->round)) % g->n);
	gompi_vci_lock(l);
	struct gompi_message *a;
	while (gompi_load(&to->generation) != generation &&
	       (a = gompi_probe_locked(l, g->context, from, MPI_ANY_TAG)) != NULL) {
		gompi_remove_unexpected(l, gompi_queue_of(&l->queues, g->context), a);
		if (!is_expected(w, a)) {
			gompi_message_drop(l, a);
			continue;
		}
		if (to->message != NULL)
			gompi_message_release(l, to->message);
		to->message = a;
		gompi_store(&to->generation, generation);
	}
	gompi_vci_unlock_progress(l);
	return gompi_load_acquire(&to->generation) == generation;
}

bool gompi_leaders_accept(struct gompi_vci *l, const struct gompi_record *h, const char *payload) {
	struct gompi_queue *q = l->queues.last;
	if (q == NULL || q->context != h->context)
		q = gompi_queue_find(&l->queues, h->context);
	if (q == NULL || q->leaders == NULL)
		return (gompi_record_flags(h->word) & RECORD_IF_OPEN) != 0;
	struct gompi_leaders *g = q->leaders;
	const int64_t n = gompi_record_data_size(gompi_record_length(h->word));
	uint32_t generation;
	struct leader_edge *e = g->edge, *end = g->edge + g->rounds;
	while (e < end && e->from_peer != h->from)
		e++;
	if (e == end || n < (int64_t)sizeof(struct gompi_leaders_message))
		return true; // not from a member, or too short
	memcpy(&generation, payload, sizeof generation);
	const int32_t ahead = (int32_t)(generation - gompi_load_acquire(&g->generation));
	struct leader_arrival *to = &e->arrival[generation % 2];
	if (ahead < 0 || gompi_load(&to->generation) == generation)
		return true; // no call expects it
	if (ahead > 1)
		return false;
	if (to->message == NULL)
		to->message = gompi_message_alloc(l);
	if (!gompi_message_reserve(to->message, n))
		return false; // without memory, the message becomes an unexpected message with an error
	gompi_copy_small(to->message->data, payload, (uint64_t)n);
	to->message->fetch_error = MPI_SUCCESS;
	to->message->size = n;
	gompi_store_release(&to->generation, generation); // pairs with the acquire in has_arrived
	l->has_completions = true;
	return true;
}

// Polls until the message of the round arrives, or until the time end_ns. Polls the network at least once: the message
// has probably arrived already, and a wait would first poll for arrivals from this node.
static bool poll_for_arrival(struct leader_wait *w, int64_t end_ns) {
	do {
		if (has_arrived(w) || (gompi_fabric_progress() && has_arrived(w)))
			return true;
	} while (end_ns != 0 && gompi_now_ns() < end_ns);
	return false;
}

// Waits for the message that a round of the current call receives. Stores the message in *r, and the bytes of its data
// in *bytes.
static int await_arrival(struct gompi_leaders *g, int round, const struct gompi_wait_desc *waiting,
			 const struct gompi_leaders_message **r, size_t *bytes) {
	struct leader_wait w = {.g = g, .round = round, .seen_arrived = UINT64_MAX};
	struct gompi_messages *m = g->vci->messages;
	if (!poll_for_arrival(&w, 0)) {
		struct gompi_wait_desc on = {.call = waiting->call,
					     .peer = g->edge[round].from_peer,
					     .object = waiting->object,
					     .depends_on_all = true};
		int rc = gompi_await(&gompi_messages_cell(m, m->node.local_index)->wait, has_arrived, &w, &on);
		if (rc)
			return rc;
	}
	const struct gompi_message *a = g->edge[round].arrival[gompi_load(&g->generation) % 2].message;
	*r = (const struct gompi_leaders_message *)(void *)a->data;
	*bytes = (size_t)a->size - sizeof **r;
	return a->fetch_error;
}

// Begins a call. From here on, arrivals of the next call may replace the messages of the previous call.
static void begin_group_call(struct gompi_leaders *g) {
	gompi_store_release(&g->generation, gompi_load(&g->generation) + 1); // pairs with gompi_leaders_accept
}

// --- Blocks of several members

// The blocks that a member sends in a round: those with the numbers `first` to `last`. If `bit` is not 0, the member
// sends only numbers with this bit set. In LEADERS_ALLGATHER and LEADERS_GATHER, block i at member k is the block of
// member k - i, modulo n. In LEADERS_ALLTOALL, block i of member k is for member k + i, modulo n. The block is
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
static struct round_blocks round_blocks_of(int member, int n, const struct gompi_leaders_blocks *b, int d) {
	if (b->flow == LEADERS_ALLTOALL)
		return (struct round_blocks){d, n - 1, d};
	if (b->flow == LEADERS_ALLGATHER)
		return (struct round_blocks){0, (d < n - d ? d : n - d) - 1, 0};
	// Binomial tree: a member sends in the round given by the lowest set bit of its distance to the root. In this
	// round, the member holds the blocks of all members of its subtree.
	const int left = (b->root - member + n) % n; // distance to the root
	if ((left & (2 * d - 1)) != d)
		return (struct round_blocks){0, -1, 0};
	return (struct round_blocks){0, (d < n - left ? d : n - left) - 1, 0};
}

// The state of an exchange. The field local_call is this member's call. If is_mismatch is true, other_call is the call
// of another process that does not match local_call.
struct block_exchange {
	struct gompi_leaders *g;
	struct gompi_leaders_blocks *b;
	struct gompi_leaders_call_info local_call, other_call;
	bool is_mismatch;
	const struct gompi_wait_desc *waiting;
};

static const char **received_from(const struct block_exchange *t, int distance) {
	return &t->b->received[(t->g->me - distance + t->g->n) % t->g->n];
}

// Sends the message of a round: the round's blocks or, after a mismatch, the call that does not match.
static int send_round(struct block_exchange *t, int round, unsigned flags) {
	struct gompi_leaders *g = t->g;
	const int d = 1 << round;
	const struct round_blocks p = round_blocks_of(g->me, g->n, t->b, d);
	const uint32_t bytes = t->b->block_bytes;
	const size_t length = t->is_mismatch ? sizeof t->other_call : (size_t)block_count(&p) * bytes;
	int rc;
	struct gompi_leaders_message *to =
		reserve_message(g, gompi_load(&g->generation), round,
				t->is_mismatch ? LEADERS_OTHER_CALL : LEADERS_BLOCKS, flags, length, &rc);
	if (to == NULL)
		return rc;
	to->call = t->local_call;
	char *at = to->data;
	if (t->is_mismatch)
		memcpy(at, &t->other_call, sizeof t->other_call);
	for (int i = p.first; !t->is_mismatch && bytes > 0 && i <= p.last; i = next_block(&p, i), at += bytes)
		// The condition is true for the blocks that no other member has sent to this member: its own blocks.
		if (t->b->flow == LEADERS_ALLTOALL ? (i & (d - 1)) == 0 : i == 0)
			t->b->fill(t->b->arg, (g->me + i) % g->n, 0, at);
		else
			gompi_copy_small(at, *received_from(t, i), bytes);
	commit_message(g, round, length);
	return 0;
}

static bool calls_match(const struct gompi_leaders_call_info *a, const struct gompi_leaders_call_info *b) {
	return a->signature == b->signature && a->format == b->format && a->bytes == b->bytes;
}

// Waits for the message of a round and stores the addresses of its blocks. Sets is_mismatch and other_call instead if
// the message reports a mismatch, or belongs to a call that does not match.
static int receive_round(struct block_exchange *t, int round) {
	struct gompi_leaders *g = t->g;
	const struct gompi_leaders_message *r;
	const int d = 1 << round;
	size_t length;
	int rc = await_arrival(g, round, t->waiting, &r, &length);
	if (rc)
		return rc;
	const struct round_blocks p = round_blocks_of((g->me - d + g->n) % g->n, g->n, t->b, d);
	const uint32_t bytes = t->b->block_bytes;
	const bool matches = r->kind == LEADERS_BLOCKS && calls_match(&r->call, &t->local_call) &&
			     length == (size_t)block_count(&p) * bytes;
	const char *at = r->data;
	for (int i = p.first; t->b->received != NULL && matches && !t->is_mismatch && i <= p.last;
	     i = next_block(&p, i), at += bytes)
		*received_from(t, t->b->flow == LEADERS_ALLTOALL ? i : i + d) = at;
	if (!matches && !t->is_mismatch) {
		t->is_mismatch = true;
		t->other_call = r->call;
		if (r->kind == LEADERS_OTHER_CALL && length == sizeof t->other_call &&
		    calls_match(&t->other_call, &t->local_call))
			memcpy(&t->other_call, r->data, sizeof t->other_call);
	}
	return 0;
}

// Runs all rounds. Each member sends a message in each round. If the receiver needs no data in a round, the message of
// this round has no data.
static int run_all_rounds(struct block_exchange *t) {
	struct gompi_leaders *g = t->g;
	begin_group_call(g);
	g->unsynced_calls = 0;
	for (int round = 0; round < g->rounds; round++) {
		int rc = send_round(t, round, 0);
		if (rc == 0)
			rc = receive_round(t, round);
		if (rc)
			return rc;
	}
	g->is_open_everywhere = true;
	return 0;
}

int gompi_leaders_barrier(struct gompi_leaders *g, const struct gompi_wait_desc *waiting) {
	struct gompi_leaders_blocks none = {.flow = LEADERS_ALLGATHER};
	struct block_exchange t = {.g = g, .b = &none, .waiting = waiting};
	return run_all_rounds(&t);
}

// Begins a call that need not synchronize all members. After MAX_UNSYNCED_CALLS calls of this kind in a row, first runs
// a barrier.
static int begin_unsynced_call(struct gompi_leaders *g, const struct gompi_wait_desc *waiting) {
	if (++g->unsynced_calls > MAX_UNSYNCED_CALLS) {
		int rc = gompi_leaders_barrier(g, waiting);
		if (rc)
			return rc;
		g->unsynced_calls = 1;
	}
	begin_group_call(g);
	return 0;
}

// Runs a gather at the root of a group of two. The root sends a message only if the other member waits for one, or may
// wait for one. If the other member's message does not arrive soon, that member may be in a different call in which it
// is the root itself. So the root then sends its message first. If the other member does not wait for this message, its
// network handler drops it, even if that member has closed the group meanwhile (RECORD_IF_OPEN).
static int run_root_of_two(struct block_exchange *t) {
	struct leader_wait w = {.g = t->g, .seen_arrived = UINT64_MAX};
	const int64_t end = gompi_node.policy.is_oversubscribed ? 0 : gompi_now_ns() + ROOT_POLL_NS;
	bool sends_first = t->is_mismatch || !poll_for_arrival(&w, end);
	int rc = sends_first ? send_round(t, 0, RECORD_IF_OPEN) : 0;
	if (rc == 0)
		rc = receive_round(t, 0);
	if (rc)
		return rc;
	return !sends_first && (t->b->wait_for_root || t->is_mismatch) ? send_round(t, 0, RECORD_IF_OPEN) : 0;
}

// Runs a gather in a group of two. It can skip the synchronization only if both members have opened the group, because
// a record with RECORD_IF_OPEN could be lost before.
static int run_gather_of_two(struct block_exchange *t) {
	struct gompi_leaders *g = t->g;
	int rc = begin_unsynced_call(g, t->waiting);
	if (rc)
		return rc;
	if (g->me == t->b->root)
		return run_root_of_two(t);
	rc = send_round(t, 0, 0);
	return rc == 0 && (t->b->wait_for_root || t->is_mismatch) ? receive_round(t, 0) : rc;
}

int gompi_leaders_exchange(struct gompi_leaders *g, struct gompi_leaders_call *call,
			   const struct gompi_leaders_call *mismatch, struct gompi_leaders_blocks *b,
			   const struct gompi_wait_desc *waiting) {
	struct block_exchange t = {.g = g,
				   .b = b,
				   .is_mismatch = mismatch != NULL,
				   .waiting = waiting,
				   .local_call = {call->signature, call->format, b->block_bytes, call->rank}};
	if (mismatch != NULL)
		t.other_call = (struct gompi_leaders_call_info){mismatch->signature, mismatch->format, b->block_bytes,
								mismatch->rank};
	int rc = b->flow == LEADERS_GATHER && g->n == 2 && g->is_open_everywhere ? run_gather_of_two(&t)
										 : run_all_rounds(&t);
	if (rc || !t.is_mismatch)
		return rc;
	*call = (struct gompi_leaders_call){t.other_call.signature, t.other_call.format, t.other_call.rank};
	return GOMPI_LEADERS_MISMATCH;
}

// --- Streams of segments

// Sends a segment to all other members, in each round directly to one of them. The rounds reach all members, because
// there are at most GOMPI_STREAM_MAX_MEMBERS members.
static int send_stream_segment(struct gompi_leaders *g, struct gompi_leaders_blocks *b, uint32_t generation,
			       uint64_t segment) {
	for (int round = 0; round < g->rounds; round++) {
		int rc;
		struct gompi_leaders_message *to =
			reserve_message(g, generation, round, LEADERS_BLOCKS, 0, b->block_bytes, &rc);
		if (to == NULL)
			return rc;
		to->call = (struct gompi_leaders_call_info){.bytes = b->block_bytes};
		b->fill(b->arg, (g->me + (1 << round)) % g->n, segment, to->data);
		commit_message(g, round, b->block_bytes);
	}
	return 0;
}

static int await_stream_segment(struct gompi_leaders *g, struct gompi_leaders_blocks *b,
				const struct gompi_wait_desc *waiting) {
	for (int round = 0; round < g->rounds; round++) {
		const struct gompi_leaders_message *r;
		size_t bytes;
		int rc = await_arrival(g, round, waiting, &r, &bytes);
		if (rc)
			return rc;
		if (r->kind != LEADERS_BLOCKS || bytes != b->block_bytes)
			return MPI_ERR_INTERN; // invalid message, which no correct member sends
		b->received[(g->me - (1 << round) + g->n) % g->n] = r->data;
	}
	return 0;
}

int gompi_leaders_stream(struct gompi_leaders *g, struct gompi_leaders_blocks *b, uint64_t n,
			 void (*on_segment)(void *arg, uint64_t segment), const struct gompi_wait_desc *waiting) {
	const uint32_t first = gompi_load(&g->generation);
	for (uint64_t segment = 1, sent = 1; segment < n; segment++) {
		int rc = 0;
		for (; sent < n && sent < segment + STREAM_DEPTH && rc == 0; sent++)
			rc = send_stream_segment(g, b, first + (uint32_t)sent, sent);
		begin_group_call(g);
		if (rc == 0)
			rc = await_stream_segment(g, b, waiting);
		if (rc)
			return rc;
		on_segment(b->arg, segment);
	}
	return 0;
}

// --- Broadcast

int gompi_leaders_bcast(struct gompi_leaders *g, int root, struct gompi_leaders_call *call, const void **data,
			uint32_t *bytes, const struct gompi_wait_desc *waiting) {
	int relative_rank = (g->me - root + g->n) % g->n, round = 0, rc = begin_unsynced_call(g, waiting);
	if (rc)
		return rc;
	while (round < g->rounds && (relative_rank >> round & 1) == 0)
		round++;
	if (relative_rank != 0) {
		const struct gompi_leaders_message *r;
		size_t length;
		rc = await_arrival(g, round, waiting, &r, &length);
		if (rc)
			return rc;
		*call = (struct gompi_leaders_call){r->call.signature, r->call.format, r->call.rank};
		*data = r->data;
		*bytes = r->kind == LEADERS_BCAST ? (uint32_t)length : 0;
	}
	while (--round >= 0) {
		if (relative_rank + (1LL << round) >= g->n)
			continue;
		struct gompi_leaders_message *to =
			reserve_message(g, gompi_load(&g->generation), round, LEADERS_BCAST, 0, *bytes, &rc);
		if (to == NULL)
			return rc;
		to->call = (struct gompi_leaders_call_info){call->signature, call->format, *bytes, call->rank};
		if (*bytes > 0)
			gompi_copy_between(to->data, *data, *bytes);
		commit_message(g, round, *bytes);
	}
	return 0;
}
