// Dissemination: in round r each member sends to the one 2^r behind it and waits for the one 2^r before it, so that
// after ceil(log2 n) rounds each has heard of all. A broadcast takes some of the same edges. So what comes in a round
// is always of the same peer, and anything else is of a stranger.
//
// Calls on a group are numbered. Who is in call g may get records of the next few calls: a member goes on from a call
// in which all meet when all have begun with it, and after some broadcasts, in which it waits for nobody, it meets.
#include "fabric/leaders.h"

#include <string.h>

#include "base/abi.h"
#include "fabric/desk.h"
#include "fabric/fabric.h"

enum { LOOSE = 4 }; // broadcasts in a row without a group
_Static_assert(LOOSE + 2 < GOMPI_LEADERS_AHEAD, "what comes for calls to come");

// --- Rounds

// A call has ended with rc, an error class or 0.
static int end_call(struct gompi_leaders *m, int rc) {
	m->failed = m->failed || rc > 0;
	return rc;
}

// Room for a record of a round with bytes of data, to be committed. NULL: see gompi_desk_admit, gompi_fabric_reserve.
static struct leaders_record *leaders_reserve(struct gompi_leaders *m, int round, enum leaders_kind kind, size_t bytes,
					      const struct gompi_waiting *what, int *class) {
	struct leaders_record *r = NULL;
	uint8_t advance;
	*class = gompi_desk_admit(m, round, sizeof *r + bytes, what, &advance);
	if (*class == 0)
		r = (void *)gompi_fabric_reserve(m->edge[round].to, FABRIC_LEADERS, sizeof *r + bytes, FABRIC_WAIT,
						 class);
	if (r != NULL)
		*r = (struct leaders_record){.id = m->id,
					     .generation = gompi_load(&m->generation),
					     .round = (uint16_t)round,
					     .kind = (uint8_t)kind,
					     .advance = advance};
	return r;
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

// Waits for what comes in a round of the call under way.
static int await_arrival(struct gompi_leaders *m, int round, const struct gompi_waiting *what,
			 const struct leaders_record **r, size_t *bytes) {
	uint32_t g = gompi_load(&m->generation);
	struct arrival_wait w = {&m->edge[round].arrival[g % GOMPI_LEADERS_AHEAD], g};
	// The others have sent by now: this looks at once, where a wait first looks for what comes from this node.
	if (!has_arrived(&w) && !(gompi_fabric_progress() && has_arrived(&w))) {
		struct gompi_waiting on = {
			.call = what->call, .peer = m->edge[round].from, .object = what->object, .all = true};
		int rc = gompi_await(&gompi_my_cell()->wait, has_arrived, &w, &on);
		if (rc)
			return rc;
	}
	*r = w.arrival->record;
	*bytes = w.arrival->length - sizeof **r;
	return 0;
}

static void next_call(struct gompi_leaders *m) { gompi_store(&m->generation, gompi_load(&m->generation) + 1); }

// --- Nothing of all to all

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

// --- Data of all to all

static bool say_the_same(const struct leaders_said *a, const struct leaders_said *b) {
	return a->what == b->what && a->plan == b->plan && a->bytes == b->bytes;
}

// Copies k blocks that end with last, in the order of members, between all and a record. The first member comes after
// the last one.
static void leaders_blocks(struct gompi_leaders *m, char *all, char *packed, int last, int k, size_t bytes, bool in) {
	int first = (last + m->n - k + 1) % m->n, head = first + k <= m->n ? k : m->n - first;
	char *from = all + (size_t)first * bytes;
	size_t heads = (size_t)head * bytes, rest = (size_t)(k - head) * bytes;
	memcpy(in ? from : packed, in ? packed : from, heads);
	memcpy(in ? all : packed + heads, in ? packed + heads : all, rest);
}

static int all_to_all(struct gompi_leaders *m, struct gompi_leaders_words *words,
		      const struct gompi_leaders_words *differs, void *all, uint32_t bytes,
		      const struct gompi_waiting *what) {
	struct leaders_said mine = {words->what, words->plan, bytes, words->rank}, other = mine;
	bool bad = differs != NULL;
	if (bad)
		other = (struct leaders_said){differs->what, differs->plan, bytes, differs->rank};
	next_call(m);
	m->loose = 0;
	for (int round = 0, d = 1; round < m->rounds; round++, d *= 2) {
		int k = d < m->n - d ? d : m->n - d, rc;
		size_t length = bad ? sizeof other : (size_t)k * bytes;
		struct leaders_record *to =
			leaders_reserve(m, round, bad ? LEADERS_DIFFERENT : LEADERS_GATHER, length, what, &rc);
		if (to == NULL)
			return rc;
		to->said = mine;
		if (bad)
			memcpy(to->data, &other, sizeof other);
		else
			leaders_blocks(m, all, to->data, m->me, k, bytes, false);
		leaders_commit(m, round, length);
		const struct leaders_record *r;
		rc = await_arrival(m, round, what, &r, &length);
		if (rc)
			return rc;
		bool fits = r->kind == LEADERS_GATHER && say_the_same(&r->said, &mine) && length == (size_t)k * bytes;
		if (fits && !bad) {
			leaders_blocks(m, all, (char *)r->data, (m->me + m->n - d) % m->n, k, bytes, true);
		} else if (!fits && !bad) {
			bad = true;
			other = r->said;
			if (r->kind == LEADERS_DIFFERENT && length == sizeof other && say_the_same(&other, &mine))
				memcpy(&other, r->data, sizeof other);
		}
	}
	m->all_open = true;
	if (!bad)
		return 0;
	*words = (struct gompi_leaders_words){other.what, other.plan, other.rank};
	return GOMPI_LEADERS_DIFFER;
}

int gompi_leaders_allgather(struct gompi_leaders *m, struct gompi_leaders_words *words,
			    const struct gompi_leaders_words *differs, void *all, uint32_t bytes,
			    const struct gompi_waiting *what) {
	return end_call(m, all_to_all(m, words, differs, all, bytes, what));
}

// --- Data of one to all

static int broadcast(struct gompi_leaders *m, int root, struct gompi_leaders_words *words, const void **data,
		     uint32_t *bytes, const struct gompi_waiting *what) {
	if (++m->loose > LOOSE) {
		int rc = barrier(m, what);
		if (rc)
			return rc;
		m->loose = 1;
	}
	next_call(m);
	int place = (m->me - root + m->n) % m->n, round = 0, rc = 0;
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
