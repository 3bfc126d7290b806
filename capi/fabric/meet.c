// Dissemination: in round r each member sends to the one 2^r behind it and waits for the one 2^r before it, so that
// after ceil(log2 n) rounds each has heard of all. A broadcast takes some of the same edges. So what comes in a round
// is always of the same peer, and anything else is of a stranger.
//
// Calls on a meeting are numbered. Who is in call g may get records of the next few calls: a member goes on from a call
// in which all meet when all have begun with it, and after some broadcasts, in which it waits for nobody, it meets.
#include "fabric/meet.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/mutex.h"
#include "fabric/fabric.h"

enum {
	LOOSE = 4,     // broadcasts in a row without a meeting
	AHEAD = 8,     // more than so many calls no member is ahead of another: a power of two above LOOSE + 2
	UNKNOWN = 64,  // records of one peer that are kept for meetings that are not open here
	BUCKETS = 256, // of meetings by their ids
};

enum meet_kind { MEET_BARRIER, MEET_GATHER, MEET_BCAST, MEET_DIFFERENT, MEET_KINDS };

// A record. Of a kind with data that follows.
struct meet_record {
	uint64_t id;
	uint32_t generation; // number of the call
	uint16_t round;
	uint16_t kind;
	struct meet_said {
		uint64_t what, plan;
		uint32_t bytes; // of a member's data
		int32_t rank;
	} said; // MEET_DIFFERENT: another one follows, which does not go together with it
	char data[];
};

// What has come in a round of a call.
struct arrival {
	gompi_a32 generation; // of the call; stored last
	uint32_t length;      // of record; 0: there was no memory for it
	uint32_t room;
	struct meet_record *record;
};

struct gompi_meeting {
	uint64_t id;
	struct gompi_meeting *next; // of its bucket
	int n, me, rounds;
	gompi_a32 generation; // calls so far
	int loose;
	struct edge {
		int32_t to, from; // peers
		struct arrival arrival[AHEAD];
	} edge[]; // [rounds]
};

// A record for a meeting that is not open here.
struct unknown {
	struct unknown *next;
	int peer;
	uint32_t length;
	struct meet_record record;
};

static struct {
	struct gompi_mutex mu; // of all below, and of arrivals until their generation is stored
	struct gompi_meeting *bucket[BUCKETS];
	struct unknown *unknown;
} desk;

static struct gompi_meeting **meeting_bucket(uint64_t id) {
	return &desk.bucket[(id * 0x9e3779b97f4a7c15u) >> 56 & (BUCKETS - 1)];
}

// --- What arrives

// Puts a record of peer to where the call that it is for looks. What no member sends is dropped. Under desk.mu.
static void take_arrival(struct gompi_meeting *m, int peer, const struct meet_record *r, size_t length) {
	if (r->round >= m->rounds || m->edge[r->round].from != peer)
		return;
	if (r->generation - gompi_load(&m->generation) >= AHEAD)
		return;
	struct arrival *a = &m->edge[r->round].arrival[r->generation % AHEAD];
	if (gompi_load(&a->generation) == r->generation)
		return;
	a->length = (uint32_t)length;
	if (length > a->room) {
		struct meet_record *more = realloc(a->record, length);
		if (more != NULL) {
			a->record = more;
			a->room = (uint32_t)length;
		} else {
			a->length = 0;
		}
	}
	if (a->length != 0)
		memcpy(a->record, r, length);
	gompi_store_release(&a->generation, r->generation); // pairs with the acquire in has_arrived
}

// Keeps a record until its meeting is opened. Under desk.mu.
static void keep_unknown(int peer, const struct meet_record *r, size_t length) {
	struct unknown **end = &desk.unknown;
	int kept = 0;
	for (; *end != NULL; end = &(*end)->next)
		kept += (*end)->peer == peer;
	struct unknown *u = kept < UNKNOWN ? malloc(offsetof(struct unknown, record) + length) : NULL;
	if (u == NULL)
		return;
	u->next = NULL;
	u->peer = peer;
	u->length = (uint32_t)length;
	memcpy(&u->record, r, length);
	*end = u;
}

static void meet_arrives(int peer, const char *data, size_t length) {
	const struct meet_record *r = (const void *)data;
	if (length < sizeof *r || length > sizeof *r + GOMPI_MEET_MOST || r->kind >= MEET_KINDS)
		return;
	gompi_mutex_take(&desk.mu);
	struct gompi_meeting *m = *meeting_bucket(r->id);
	while (m != NULL && m->id != r->id)
		m = m->next;
	if (m != NULL)
		take_arrival(m, peer, r, length);
	else
		keep_unknown(peer, r, length);
	gompi_mutex_give(&desk.mu);
	gompi_wake(&gompi_my_cell()->wait);
}

void gompi_meet_start(void) {
	static const struct gompi_port_handler handler = {.record = meet_arrives};
	gompi_fabric_listen(FABRIC_MEET, &handler);
}

// --- Opening and closing

struct gompi_meeting *gompi_meeting_open(uint64_t id, int n, int me, const int32_t *peers) {
	int rounds = 0;
	while (rounds < 31 && 1 << rounds < n)
		rounds++;
	struct gompi_meeting *m = calloc(1, sizeof *m + (size_t)rounds * sizeof m->edge[0]);
	if (m == NULL)
		return NULL;
	m->id = id, m->n = n, m->me = me, m->rounds = rounds;
	for (int r = 0; r < rounds; r++) {
		m->edge[r].to = peers[(me + (1LL << r)) % n];
		m->edge[r].from = peers[(me + n - (1LL << r)) % n];
	}
	struct gompi_meeting **bucket = meeting_bucket(id);
	gompi_mutex_take(&desk.mu);
	m->next = *bucket;
	*bucket = m;
	for (struct unknown **at = &desk.unknown; *at != NULL;) {
		struct unknown *u = *at;
		if (u->record.id != id) {
			at = &u->next;
			continue;
		}
		take_arrival(m, u->peer, &u->record, u->length);
		*at = u->next;
		free(u);
	}
	gompi_mutex_give(&desk.mu);
	return m;
}

void gompi_meeting_close(struct gompi_meeting *m) {
	if (m == NULL)
		return;
	gompi_mutex_take(&desk.mu);
	struct gompi_meeting **at = meeting_bucket(m->id);
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	gompi_mutex_give(&desk.mu);
	for (int r = 0; r < m->rounds; r++)
		for (int i = 0; i < AHEAD; i++)
			free(m->edge[r].arrival[i].record);
	free(m);
}

// --- Rounds

// Room for a record of a round with bytes of data, to be committed. NULL: see gompi_fabric_reserve.
static struct meet_record *meet_reserve(struct gompi_meeting *m, int round, enum meet_kind kind, size_t bytes,
					int *class) {
	struct meet_record *r =
		(void *)gompi_fabric_reserve(m->edge[round].to, FABRIC_MEET, sizeof *r + bytes, FABRIC_WAIT, class);
	if (r != NULL)
		*r = (struct meet_record){.id = m->id,
					  .generation = gompi_load(&m->generation),
					  .round = (uint16_t)round,
					  .kind = (uint16_t)kind};
	return r;
}

static void meet_commit(struct gompi_meeting *m, int round, size_t bytes) {
	gompi_fabric_commit(m->edge[round].to, sizeof(struct meet_record) + bytes, FABRIC_NOW);
}

struct arrival_wait {
	struct arrival *arrival;
	uint32_t generation;
};

static bool has_arrived(void *arg) {
	struct arrival_wait *w = arg;
	return gompi_load_acquire(&w->arrival->generation) == w->generation; // pairs with the release in take_arrival
}

// Waits for what comes in a round of the call under way.
static int await_arrival(struct gompi_meeting *m, int round, const struct gompi_waiting *what,
			 const struct meet_record **r, size_t *bytes) {
	uint32_t g = gompi_load(&m->generation);
	struct arrival_wait w = {&m->edge[round].arrival[g % AHEAD], g};
	// The others have sent by now: this looks at once, where a wait first looks for what comes from this node.
	if (!has_arrived(&w) && !(gompi_fabric_progress() && has_arrived(&w))) {
		struct gompi_waiting on = {what->call, m->edge[round].from, what->object};
		int rc = gompi_await(&gompi_my_cell()->wait, has_arrived, &w, &on);
		if (rc)
			return rc;
	}
	if (w.arrival->length == 0)
		return MPI_ERR_NO_MEM;
	*r = w.arrival->record;
	*bytes = w.arrival->length - sizeof **r;
	return 0;
}

static void next_call(struct gompi_meeting *m) { gompi_store(&m->generation, gompi_load(&m->generation) + 1); }

int gompi_meet_begin(struct gompi_meeting *m) {
	int class = 0;
	next_call(m);
	m->loose = 0;
	if (m->rounds == 0)
		return 0;
	if (meet_reserve(m, 0, MEET_BARRIER, 0, &class) == NULL)
		return class;
	meet_commit(m, 0, 0);
	return 0;
}

int gompi_meet_end(struct gompi_meeting *m, const struct gompi_waiting *what) {
	for (int round = 0; round < m->rounds; round++) {
		const struct meet_record *r;
		size_t bytes;
		int rc = await_arrival(m, round, what, &r, &bytes), class = 0;
		if (rc)
			return rc;
		if (round + 1 == m->rounds)
			break;
		if (meet_reserve(m, round + 1, MEET_BARRIER, 0, &class) == NULL)
			return class;
		meet_commit(m, round + 1, 0);
	}
	return 0;
}

int gompi_meet(struct gompi_meeting *m, const struct gompi_waiting *what) {
	int rc = gompi_meet_begin(m);
	return rc ? rc : gompi_meet_end(m, what);
}

// --- Data of all to all

static bool say_the_same(const struct meet_said *a, const struct meet_said *b) {
	return a->what == b->what && a->plan == b->plan && a->bytes == b->bytes;
}

// Copies k blocks that end with last, in the order of members, between all and a record. The first member comes after
// the last one.
static void meet_blocks(struct gompi_meeting *m, char *all, char *packed, int last, int k, size_t bytes, bool in) {
	int first = (last + m->n - k + 1) % m->n, head = first + k <= m->n ? k : m->n - first;
	char *from = all + (size_t)first * bytes;
	size_t heads = (size_t)head * bytes, rest = (size_t)(k - head) * bytes;
	memcpy(in ? from : packed, in ? packed : from, heads);
	memcpy(in ? all : packed + heads, in ? packed + heads : all, rest);
}

int gompi_meet_gather(struct gompi_meeting *m, struct gompi_meet_words *words, const struct gompi_meet_words *differs,
		      void *all, uint32_t bytes, const struct gompi_waiting *what) {
	struct meet_said mine = {words->what, words->plan, bytes, words->rank}, other = mine;
	bool bad = differs != NULL;
	if (bad)
		other = (struct meet_said){differs->what, differs->plan, bytes, differs->rank};
	next_call(m);
	m->loose = 0;
	for (int round = 0, d = 1; round < m->rounds; round++, d *= 2) {
		int k = d < m->n - d ? d : m->n - d, class = 0;
		size_t length = bad ? sizeof other : (size_t)k * bytes;
		struct meet_record *to = meet_reserve(m, round, bad ? MEET_DIFFERENT : MEET_GATHER, length, &class);
		if (to == NULL)
			return class;
		to->said = mine;
		if (bad)
			memcpy(to->data, &other, sizeof other);
		else
			meet_blocks(m, all, to->data, m->me, k, bytes, false);
		meet_commit(m, round, length);
		const struct meet_record *r;
		int rc = await_arrival(m, round, what, &r, &length);
		if (rc)
			return rc;
		bool fits = r->kind == MEET_GATHER && say_the_same(&r->said, &mine) && length == (size_t)k * bytes;
		if (fits && !bad) {
			meet_blocks(m, all, (char *)r->data, (m->me + m->n - d) % m->n, k, bytes, true);
		} else if (!fits && !bad) {
			bad = true;
			other = r->said;
			if (r->kind == MEET_DIFFERENT && length == sizeof other && say_the_same(&other, &mine))
				memcpy(&other, r->data, sizeof other);
		}
	}
	if (!bad)
		return 0;
	*words = (struct gompi_meet_words){other.what, other.plan, other.rank};
	return GOMPI_MEET_DIFFER;
}

// --- Data of one to all

int gompi_meet_bcast(struct gompi_meeting *m, int root, struct gompi_meet_words *words, const void **data,
		     uint32_t *bytes, const struct gompi_waiting *what) {
	if (++m->loose > LOOSE) {
		int rc = gompi_meet(m, what);
		if (rc)
			return rc;
		m->loose = 1;
	}
	next_call(m);
	int place = (m->me - root + m->n) % m->n, round = 0, rc = 0;
	while (round < m->rounds && (place >> round & 1) == 0)
		round++;
	if (place != 0) {
		const struct meet_record *r;
		size_t length;
		rc = await_arrival(m, round, what, &r, &length);
		if (rc)
			return rc;
		*words = (struct gompi_meet_words){r->said.what, r->said.plan, r->said.rank};
		*data = r->data;
		*bytes = r->kind == MEET_BCAST ? (uint32_t)length : 0;
	}
	while (--round >= 0) {
		if (place + (1LL << round) >= m->n)
			continue;
		struct meet_record *to = meet_reserve(m, round, MEET_BCAST, *bytes, &rc);
		if (to == NULL)
			return rc;
		to->said = (struct meet_said){words->what, words->plan, *bytes, words->rank};
		if (*bytes > 0)
			memcpy(to->data, *data, *bytes);
		meet_commit(m, round, *bytes);
	}
	return 0;
}
