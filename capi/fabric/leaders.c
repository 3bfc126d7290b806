// Dissemination: in round r each member sends to the member 2^r after it, and waits for the one 2^r before it. After
// ceil(log2 n) rounds each has heard of all. A broadcast uses some of the same edges. So the records of a round always
// come from the same peer; a record of another peer is invalid.
//
// Calls on a group are numbered (generation). A member in call g may receive records of the next few calls. A
// synchronizing call ends at a member when all members have begun it. In other calls, such as broadcasts, a member need
// not wait for all. After LOOSE such calls in a row, the members synchronize. Segments of a stream are numbered like
// calls.
#include "fabric/leaders.h"

#include <string.h>

#include "base/abi.h"
#include "base/clock.h"
#include "base/node.h"
#include "fabric/desk.h"
#include "fabric/fabric.h"

enum {
	LOOSE = 16, // consecutive calls that need not synchronize all members
	PIECES = 6, // segments of a stream in progress
};
_Static_assert(PIECES + LOOSE + 2 < GOMPI_LEADERS_AHEAD && 2 * PIECES < GOMPI_LEADERS_AHEAD, "what comes too early");

// How long (ns) the root of two polls for the other member's record before it sends its own.
enum { PATIENCE_NS = 100000 };

// --- Rounds

// Ends a call with rc: 0, an error class, or GOMPI_LEADERS_DIFFER, which is not a failure.
static int end_call(struct gompi_leaders *m, int rc) {
	m->failed = m->failed || rc > 0;
	return rc;
}

// Reserves a record of a round with `bytes` bytes of data; the caller commits it. Returns NULL on error; the errors are
// those of gompi_desk_admit and gompi_fabric_reserve.
static struct leaders_record *reserve_of(struct gompi_leaders *m, uint32_t generation, int round,
					 enum leaders_kind kind, size_t bytes, const struct gompi_waiting *what,
					 int *class) {
	struct leaders_record *r = NULL;
	uint8_t advance;
	*class = gompi_desk_admit(m, round, sizeof *r + bytes, what, &advance);
	if (*class == 0)
		r = (void *)gompi_fabric_reserve(m->edge[round].to, FABRIC_LEADERS, sizeof *r + bytes, FABRIC_WAIT,
						 class);
	if (r != NULL)
		*r = (struct leaders_record){.id = m->id,
					     .generation = generation,
					     .round = (uint16_t)round,
					     .kind = (uint8_t)kind,
					     .advance = advance};
	return r;
}

static struct leaders_record *leaders_reserve(struct gompi_leaders *m, int round, enum leaders_kind kind, size_t bytes,
					      const struct gompi_waiting *what, int *class) {
	return reserve_of(m, gompi_load(&m->generation), round, kind, bytes, what, class);
}

static void leaders_commit(struct gompi_leaders *m, int round, size_t bytes) {
	gompi_fabric_commit(m->edge[round].to, sizeof(struct leaders_record) + bytes, FABRIC_NOW);
}

struct arrival_wait {
	struct arrival *arrival;
	uint32_t generation;
};

static bool has_arrived(void *arg) {
	struct arrival_wait *w = arg;
	return gompi_load_acquire(&w->arrival->generation) == w->generation; // pairs with the release in take_arrival
}

// Returns true if the record of a round of the current call arrives within a short time.
static bool arrives_soon(struct gompi_leaders *m, int round) {
	uint32_t g = gompi_load(&m->generation);
	struct arrival_wait w = {&m->edge[round].arrival[g % GOMPI_LEADERS_AHEAD], g};
	const int64_t end = gompi_node.policy.oversubscribed ? 0 : gompi_now_ns() + PATIENCE_NS;
	do {
		if (has_arrived(&w) || (gompi_fabric_progress() && has_arrived(&w)))
			return true;
	} while (gompi_now_ns() < end);
	return false;
}

// Waits for the record of a round of the current call.
static int await_arrival(struct gompi_leaders *m, int round, const struct gompi_waiting *what,
			 const struct leaders_record **r, size_t *bytes) {
	uint32_t g = gompi_load(&m->generation);
	struct arrival_wait w = {&m->edge[round].arrival[g % GOMPI_LEADERS_AHEAD], g};
	// The record has probably arrived already. Polls the network at once; a wait would first poll for arrivals from
	// this node.
	if (!has_arrived(&w) && !(gompi_fabric_progress() && has_arrived(&w))) {
		struct gompi_waiting on = {
			.call = what->call, .peer = m->edge[round].from, .object = what->object, .all = true};
		int rc = gompi_await(&gompi_my_cell()->wait, has_arrived, &w, &on);
		if (rc)
			return rc;
	}
	*r = &w.arrival->room->record;
	*bytes = w.arrival->length - sizeof **r;
	return 0;
}

static void next_call(struct gompi_leaders *m) {
	gompi_desk_drop(m); // the buffers of the previous call
	gompi_store(&m->generation, gompi_load(&m->generation) + 1);
}

// --- Barrier

static int barrier(struct gompi_leaders *m, const struct gompi_waiting *what) {
	next_call(m);
	m->loose = 0;
	for (int round = 0; round < m->rounds; round++) {
		const struct leaders_record *r;
		size_t bytes;
		int rc;
		if (leaders_reserve(m, round, LEADERS_BARRIER, 0, what, &rc) == NULL)
			return rc;
		leaders_commit(m, round, 0);
		rc = await_arrival(m, round, what, &r, &bytes);
		if (rc)
			return rc;
	}
	m->all_open = true;
	return 0;
}

int gompi_leaders_barrier(struct gompi_leaders *m, const struct gompi_waiting *what) {
	return end_call(m, barrier(m, what));
}

// Begins a call that need not synchronize all members. After LOOSE such calls in a row it runs a barrier first.
static int begin_loose(struct gompi_leaders *m, const struct gompi_waiting *what) {
	if (++m->loose > LOOSE) {
		int rc = barrier(m, what);
		if (rc)
			return rc;
		m->loose = 1;
	}
	next_call(m);
	return 0;
}

// --- Blocks of several members

enum leaders_flow { FLOW_ALL, FLOW_EACH, FLOW_ROOT };

// The blocks that travel in a round: numbers first to last; if bit is not 0, only those with that bit set. In FLOW_ALL
// and FLOW_ROOT, block i is that of the member i places before the sender. In FLOW_EACH, block i has to travel i places
// in all; at the end that identifies its sender, so it is stored as if it had come from there directly.
struct passing {
	int first, last, bit;
};

static int next_block(const struct passing *p, int i) {
	i++;
	return p->bit != 0 && (i & p->bit) == 0 ? i + p->bit : i;
}

static uint32_t block_count(const struct passing *p) {
	uint32_t n = 0;
	for (int i = p->first; i <= p->last; i = next_block(p, i))
		n++;
	return n;
}

// Returns the blocks that a member sends in the round of distance d.
static struct passing passing_from(int member, int n, enum leaders_flow flow, int d, int root) {
	if (flow == FLOW_EACH)
		return (struct passing){d, n - 1, d};
	const int left = (root - member + n) % n; // distance to the root
	if (flow == FLOW_ALL)
		return (struct passing){0, (d < n - d ? d : n - d) - 1, 0};
	// Binomial tree: by the round of the lowest set bit of its distance to the root, a member holds the blocks of
	// all members in its subtree. In that round it sends them.
	if ((left & (2 * d - 1)) != d)
		return (struct passing){0, -1, 0};
	return (struct passing){0, (d < n - left ? d : n - left) - 1, 0};
}

// A call of several members in progress: what this member passes, and what a member passes that does not match.
struct leaders_meeting {
	struct gompi_leaders *m;
	struct gompi_leaders_blocks *b;
	enum leaders_flow flow;
	int root;
	struct leaders_said mine, other;
	bool bad;
	const struct gompi_waiting *what;
};

static struct leaders_meeting begin_meeting(struct gompi_leaders *m, const struct gompi_leaders_words *words,
					    const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b,
					    const struct gompi_waiting *what) {
	struct leaders_meeting t = {
		.m = m, .b = b, .what = what, .mine = {words->what, words->plan, b->bytes, words->rank}};
	t.bad = differs != NULL;
	if (t.bad)
		t.other = (struct leaders_said){differs->what, differs->plan, b->bytes, differs->rank};
	return t;
}

static int end_meeting(const struct leaders_meeting *t, struct gompi_leaders_words *words) {
	if (!t->bad)
		return 0;
	*words = (struct gompi_leaders_words){t->other.what, t->other.plan, t->other.rank};
	return GOMPI_LEADERS_DIFFER;
}

static const char **got_from(const struct leaders_meeting *t, int behind) {
	return &t->b->got[(t->m->me - behind + t->m->n) % t->m->n];
}

// Sends the record of a round.
static int meeting_sends(struct leaders_meeting *t, int round) {
	struct gompi_leaders *m = t->m;
	const int d = 1 << round;
	const struct passing p = passing_from(m->me, m->n, t->flow, d, t->root);
	const uint32_t bytes = t->b->bytes;
	const size_t length = t->bad ? sizeof t->other : (size_t)block_count(&p) * bytes;
	int rc;
	struct leaders_record *to =
		leaders_reserve(m, round, t->bad ? LEADERS_DIFFERENT : LEADERS_GATHER, length, t->what, &rc);
	if (to == NULL)
		return rc;
	to->said = t->mine;
	char *at = to->data;
	if (t->bad)
		memcpy(at, &t->other, sizeof t->other);
	for (int i = p.first; !t->bad && bytes > 0 && i <= p.last; i = next_block(&p, i), at += bytes)
		// no other member has sent this block: it is this member's own
		if (t->flow == FLOW_EACH ? (i & (d - 1)) == 0 : i == 0)
			t->b->put(t->b->arg, (m->me + i) % m->n, 0, at);
		else
			memcpy(at, *got_from(t, i), bytes);
	leaders_commit(m, round, length);
	return 0;
}

static bool say_the_same(const struct leaders_said *a, const struct leaders_said *b) {
	return a->what == b->what && a->plan == b->plan && a->bytes == b->bytes;
}

// Waits for the record of a round and stores its blocks.
static int meeting_hears(struct leaders_meeting *t, int round) {
	struct gompi_leaders *m = t->m;
	const struct leaders_record *r;
	const int d = 1 << round;
	size_t length;
	int rc = await_arrival(m, round, t->what, &r, &length);
	if (rc)
		return rc;
	const struct passing p = passing_from((m->me - d + m->n) % m->n, m->n, t->flow, d, t->root);
	const uint32_t bytes = t->b->bytes;
	const bool fits = r->kind == LEADERS_GATHER && say_the_same(&r->said, &t->mine) &&
			  length == (size_t)block_count(&p) * bytes;
	const char *at = r->data;
	for (int i = p.first; fits && !t->bad && i <= p.last; i = next_block(&p, i), at += bytes)
		*got_from(t, t->flow == FLOW_EACH ? i : i + d) = at;
	if (!fits && !t->bad) {
		t->bad = true;
		t->other = r->said;
		if (r->kind == LEADERS_DIFFERENT && length == sizeof t->other && say_the_same(&t->other, &t->mine))
			memcpy(&t->other, r->data, sizeof t->other);
	}
	return 0;
}

// Runs all rounds. Records travel along all edges; edges that need no data carry empty records.
static int meet_all(struct leaders_meeting *t) {
	struct gompi_leaders *m = t->m;
	next_call(m);
	m->loose = 0;
	for (int round = 0; round < m->rounds; round++) {
		int rc = meeting_sends(t, round);
		if (rc == 0)
			rc = meeting_hears(t, round);
		if (rc)
			return rc;
	}
	m->all_open = true;
	return 0;
}

int gompi_leaders_allgather(struct gompi_leaders *m, struct gompi_leaders_words *words,
			    const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b,
			    const struct gompi_waiting *what) {
	struct leaders_meeting t = begin_meeting(m, words, differs, b, what);
	int rc = meet_all(&t);
	return end_call(m, rc ? rc : end_meeting(&t, words));
}

int gompi_leaders_alltoall(struct gompi_leaders *m, struct gompi_leaders_words *words,
			   const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b,
			   const struct gompi_waiting *what) {
	struct leaders_meeting t = begin_meeting(m, words, differs, b, what);
	t.flow = FLOW_EACH;
	int rc = meet_all(&t);
	return end_call(m, rc ? rc : end_meeting(&t, words));
}

// --- Gather at a root

// Receives the other member's record at the root of a group of two. The root sends a record itself only if the other
// member waits for one, or may do so. If the other member is not in this call, it may be in another call, of which it
// is the root.
static int root_of_two(struct leaders_meeting *t, bool verdict) {
	bool says = t->bad || !arrives_soon(t->m, 0);
	int rc = says ? meeting_sends(t, 0) : 0;
	if (rc == 0)
		rc = meeting_hears(t, 0);
	if (rc)
		return rc;
	return !says && (verdict || t->bad) ? meeting_sends(t, 0) : 0;
}

static int meet_at_root(struct leaders_meeting *t, bool verdict) {
	struct gompi_leaders *m = t->m;
	if (m->n != 2 || !m->all_open) // a record that its receiver does not wait for must not be sent in advance
		return meet_all(t);
	int rc = begin_loose(m, t->what);
	if (rc)
		return rc;
	if (m->me == t->root)
		return root_of_two(t, verdict);
	rc = meeting_sends(t, 0);
	return rc == 0 && (verdict || t->bad) ? meeting_hears(t, 0) : rc;
}

int gompi_leaders_gather(struct gompi_leaders *m, int root, struct gompi_leaders_words *words,
			 const struct gompi_leaders_words *differs, struct gompi_leaders_blocks *b, bool verdict,
			 const struct gompi_waiting *what) {
	struct leaders_meeting t = begin_meeting(m, words, differs, b, what);
	t.flow = FLOW_ROOT;
	t.root = root;
	int rc = meet_at_root(&t, verdict);
	return end_call(m, rc ? rc : end_meeting(&t, words));
}

// --- Streams of segments

// Sends a segment to all other members. With at most GOMPI_LEADERS_FEW members, each of them is the peer of one round.
static int send_stream_piece(struct gompi_leaders *m, struct gompi_leaders_blocks *b, uint32_t generation,
			     uint64_t piece, const struct gompi_waiting *what) {
	for (int round = 0; round < m->rounds; round++) {
		int rc;
		struct leaders_record *to = reserve_of(m, generation, round, LEADERS_GATHER, b->bytes, what, &rc);
		if (to == NULL)
			return rc;
		to->said = (struct leaders_said){.bytes = b->bytes};
		b->put(b->arg, (m->me + (1 << round)) % m->n, piece, to->data);
		leaders_commit(m, round, b->bytes);
	}
	return 0;
}

static int await_stream_piece(struct gompi_leaders *m, struct gompi_leaders_blocks *b,
			      const struct gompi_waiting *what) {
	for (int round = 0; round < m->rounds; round++) {
		const struct leaders_record *r;
		size_t bytes;
		int rc = await_arrival(m, round, what, &r, &bytes);
		if (rc)
			return rc;
		if (r->kind != LEADERS_GATHER || bytes != b->bytes)
			return MPI_ERR_INTERN; // no member sends this
		b->got[(m->me - (1 << round) + m->n) % m->n] = r->data;
	}
	return 0;
}

static int stream(struct gompi_leaders *m, struct gompi_leaders_blocks *b, uint64_t n,
		  void (*taken)(void *arg, uint64_t piece), const struct gompi_waiting *what) {
	const uint32_t first = gompi_load(&m->generation);
	for (uint64_t piece = 1, sent = 1; piece < n; piece++) {
		int rc = 0;
		for (; sent < n && sent < piece + PIECES && rc == 0; sent++)
			rc = send_stream_piece(m, b, first + (uint32_t)sent, sent, what);
		next_call(m);
		if (rc == 0)
			rc = await_stream_piece(m, b, what);
		if (rc)
			return rc;
		taken(b->arg, piece);
	}
	return 0;
}

int gompi_leaders_stream(struct gompi_leaders *m, struct gompi_leaders_blocks *b, uint64_t n,
			 void (*taken)(void *arg, uint64_t piece), const struct gompi_waiting *what) {
	return end_call(m, stream(m, b, n, taken, what));
}

// --- Broadcast

static int broadcast(struct gompi_leaders *m, int root, struct gompi_leaders_words *words, const void **data,
		     uint32_t *bytes, const struct gompi_waiting *what) {
	int place = (m->me - root + m->n) % m->n, round = 0, rc = begin_loose(m, what);
	if (rc)
		return rc;
	while (round < m->rounds && (place >> round & 1) == 0)
		round++;
	if (place != 0) {
		const struct leaders_record *r;
		size_t length;
		rc = await_arrival(m, round, what, &r, &length);
		if (rc)
			return rc;
		*words = (struct gompi_leaders_words){r->said.what, r->said.plan, r->said.rank};
		*data = r->data;
		*bytes = r->kind == LEADERS_BCAST ? (uint32_t)length : 0;
	}
	while (--round >= 0) {
		if (place + (1LL << round) >= m->n)
			continue;
		struct leaders_record *to = leaders_reserve(m, round, LEADERS_BCAST, *bytes, what, &rc);
		if (to == NULL)
			return rc;
		to->said = (struct leaders_said){words->what, words->plan, *bytes, words->rank};
		if (*bytes > 0)
			memcpy(to->data, *data, *bytes);
		leaders_commit(m, round, *bytes);
	}
	return 0;
}

int gompi_leaders_bcast(struct gompi_leaders *m, int root, struct gompi_leaders_words *words, const void **data,
			uint32_t *bytes, const struct gompi_waiting *what) {
	return end_call(m, broadcast(m, root, words, data, bytes, what));
}
