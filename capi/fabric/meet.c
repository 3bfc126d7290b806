// Dissemination: in round r each member sends to the one 2^r behind it and waits for the one 2^r before it, so that
// after ceil(log2 n) rounds each has heard of all. A broadcast takes some of the same edges. So what comes in a round
// is always of the same peer, and anything else is of a stranger.
//
// Calls on a meeting are numbered. Who is in call g may get records of the next few calls: a member goes on from a call
// in which all meet when all have begun with it, and after some broadcasts, in which it waits for nobody, it meets.
#include "fabric/meet.h"

#include <string.h>

#include "base/abi.h"
#include "fabric/desk.h"
#include "fabric/fabric.h"

enum { LOOSE = 4 }; // broadcasts in a row without a meeting
_Static_assert(LOOSE + 2 < GOMPI_MEET_AHEAD, "what comes for calls to come");

// --- Rounds

// A call has ended with rc, an error class or 0.
static int end_call(struct gompi_meeting *m, int rc) {
	m->failed = m->failed || rc > 0;
	return rc;
}

// Room for a record of a round with bytes of data, to be committed. NULL: see gompi_desk_admit, gompi_fabric_reserve.
static struct meet_record *meet_reserve(struct gompi_meeting *m, int round, enum meet_kind kind, size_t bytes,
					const struct gompi_waiting *what, int *class) {
	struct meet_record *r = NULL;
	uint8_t advance;
	*class = gompi_desk_admit(m, round, sizeof *r + bytes, what, &advance);
	if (*class == 0)
		r = (void *)gompi_fabric_reserve(m->edge[round].to, FABRIC_MEET, sizeof *r + bytes, FABRIC_WAIT, class);
	if (r != NULL)
		*r = (struct meet_record){.id = m->id,
					  .generation = gompi_load(&m->generation),
					  .round = (uint16_t)round,
					  .kind = (uint8_t)kind,
					  .advance = advance};
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
	struct arrival_wait w = {&m->edge[round].arrival[g % GOMPI_MEET_AHEAD], g};
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

static void next_call(struct gompi_meeting *m) { gompi_store(&m->generation, gompi_load(&m->generation) + 1); }

// --- Nothing of all to all

static int barrier(struct gompi_meeting *m, const struct gompi_waiting *what) {
	next_call(m);
	m->loose = 0;
	for (int round = 0; round < m->rounds; round++) {
		const struct meet_record *r;
		size_t bytes;
		int rc;
		if (meet_reserve(m, round, MEET_BARRIER, 0, what, &rc) == NULL)
			return rc;
		meet_commit(m, round, 0);
		rc = await_arrival(m, round, what, &r, &bytes);
		if (rc)
			return rc;
	}
	m->all_open = true;
	return 0;
}

int gompi_meet(struct gompi_meeting *m, const struct gompi_waiting *what) { return end_call(m, barrier(m, what)); }

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

static int all_to_all(struct gompi_meeting *m, struct gompi_meet_words *words, const struct gompi_meet_words *differs,
		      void *all, uint32_t bytes, const struct gompi_waiting *what) {
	struct meet_said mine = {words->what, words->plan, bytes, words->rank}, other = mine;
	bool bad = differs != NULL;
	if (bad)
		other = (struct meet_said){differs->what, differs->plan, bytes, differs->rank};
	next_call(m);
	m->loose = 0;
	for (int round = 0, d = 1; round < m->rounds; round++, d *= 2) {
		int k = d < m->n - d ? d : m->n - d, rc;
		size_t length = bad ? sizeof other : (size_t)k * bytes;
		struct meet_record *to = meet_reserve(m, round, bad ? MEET_DIFFERENT : MEET_GATHER, length, what, &rc);
		if (to == NULL)
			return rc;
		to->said = mine;
		if (bad)
			memcpy(to->data, &other, sizeof other);
		else
			meet_blocks(m, all, to->data, m->me, k, bytes, false);
		meet_commit(m, round, length);
		const struct meet_record *r;
		rc = await_arrival(m, round, what, &r, &length);
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
	m->all_open = true;
	if (!bad)
		return 0;
	*words = (struct gompi_meet_words){other.what, other.plan, other.rank};
	return GOMPI_MEET_DIFFER;
}

int gompi_meet_gather(struct gompi_meeting *m, struct gompi_meet_words *words, const struct gompi_meet_words *differs,
		      void *all, uint32_t bytes, const struct gompi_waiting *what) {
	return end_call(m, all_to_all(m, words, differs, all, bytes, what));
}

// --- Data of one to all

static int broadcast(struct gompi_meeting *m, int root, struct gompi_meet_words *words, const void **data,
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
		struct meet_record *to = meet_reserve(m, round, MEET_BCAST, *bytes, what, &rc);
		if (to == NULL)
			return rc;
		to->said = (struct meet_said){words->what, words->plan, *bytes, words->rank};
		if (*bytes > 0)
			memcpy(to->data, *data, *bytes);
		meet_commit(m, round, *bytes);
	}
	return 0;
}

int gompi_meet_bcast(struct gompi_meeting *m, int root, struct gompi_meet_words *words, const void **data,
		     uint32_t *bytes, const struct gompi_waiting *what) {
	return end_call(m, broadcast(m, root, words, data, bytes, what));
}
