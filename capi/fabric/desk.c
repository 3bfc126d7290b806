#include "fabric/desk.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/must_have.h"
#include "fabric/fabric.h"

enum { BUCKETS = 256 };

// A record for a group that is not open here.
struct early {
	struct early *next; // in its bucket
	struct account *of;
	uint32_t length;
	struct leaders_record record;
};

// A group that has been closed before all of its records had arrived.
struct closed {
	struct closed *next;
	uint64_t id;
};

// Bytes and questions sent in advance between this process and a peer. It lives as long as the network.
struct account {
	struct account *next; // in its bucket
	int32_t peer;
	uint32_t ahead;     // bytes sent in advance that the peer has not acknowledged
	uint32_t kept;      // bytes of the peer's that are kept in early records here
	uint32_t settled;   // bytes of the peer's that are matched with an open group but not acknowledged
	uint32_t questions; // of the peer's that are kept here
};

static struct {
	struct gompi_mutex mu; // protects all below, and arrivals until their generation is stored
	struct gompi_leaders *leaders[BUCKETS];
	struct early *early[BUCKETS];   // by the ids of their groups
	struct closed *closed[BUCKETS]; // by id
	struct account *account[BUCKETS];
	struct arrival_room *spare; // free list of large buffers
	int spares;
} desk;

// Records of more than MUCH bytes do not keep their buffers. Up to SPARES large buffers stay in the free list.
enum { MUCH = 4 << 10, SPARES = 16 };

// Frees the records and groups of a previous network.
static void forget_groups(void) {
	for (int i = 0; i < BUCKETS; i++) {
		for (struct early *e; (e = desk.early[i]) != NULL; free(e))
			desk.early[i] = e->next;
		for (struct closed *c; (c = desk.closed[i]) != NULL; free(c))
			desk.closed[i] = c->next;
		for (struct account *a; (a = desk.account[i]) != NULL; free(a))
			desk.account[i] = a->next;
	}
}

static size_t desk_bucket(uint64_t number) { return (number * 0x9e3779b97f4a7c15u) >> 56 & (BUCKETS - 1); }

static struct gompi_leaders *find_leaders(uint64_t id) {
	struct gompi_leaders *m = desk.leaders[desk_bucket(id)];
	while (m != NULL && m->id != id)
		m = m->next;
	return m;
}

static struct account *account_with(int peer) {
	struct account **first = &desk.account[desk_bucket((uint32_t)peer)], *a = *first;
	while (a != NULL && a->peer != peer)
		a = a->next;
	if (a == NULL) {
		a = gompi_must_have(sizeof *a);
		*a = (struct account){.next = *first, .peer = peer};
		*first = a;
	}
	return a;
}

static struct closed **find_closed(uint64_t id) {
	struct closed **at = &desk.closed[desk_bucket(id)];
	while (*at != NULL && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

// --- Answers

// An answer, sent after the lock is released.
struct answer {
	int peer;
	struct leaders_record record;
};

static void answer_peer(const struct answer *a) {
	int class;
	char *to = gompi_fabric_reserve(a->peer, FABRIC_LEADERS, sizeof a->record, FABRIC_ANSWER, &class);
	if (to == NULL && class == MPI_ERR_NO_MEM)
		gompi_no_memory(sizeof a->record); // the peer would wait forever
	if (to == NULL)
		return; // the peer has failed
	memcpy(to, &a->record, sizeof a->record);
	gompi_fabric_commit(a->peer, sizeof a->record, FABRIC_NOW);
}

static uint32_t take_settled(struct account *a) {
	uint32_t settled = a->settled;
	a->settled = 0;
	return settled;
}

static struct answer go_ahead(struct account *a, const struct leaders_record *question) {
	return (struct answer){
		a->peer,
		{.id = question->id, .round = question->round, .kind = LEADERS_GO, .said.bytes = take_settled(a)}};
}

// Records that length bytes of a's peer have found their group. Returns true if *answer must be sent to acknowledge
// them: at a quarter of the limit.
static bool settle_with(struct account *a, size_t length, struct answer *answer) {
	a->settled += (uint32_t)length + GOMPI_ADVANCE_MORE;
	if (a->settled < GOMPI_ADVANCE / 4)
		return false;
	*answer = (struct answer){a->peer, {.kind = LEADERS_SETTLED, .said.bytes = take_settled(a)}};
	return true;
}

static void is_settled(struct account *a, uint32_t bytes) { a->ahead -= bytes < a->ahead ? bytes : a->ahead; }

// --- Arrivals

static bool is_member(const struct gompi_leaders *m, int peer, const struct leaders_record *r) {
	return r->round < m->rounds && m->edge[r->round].from == peer;
}

static struct arrival_room *room_for_little(struct arrival *a, size_t length) {
	if (length > a->bytes) {
		free(a->little);
		a->little = gompi_must_have(offsetof(struct arrival_room, record) + length);
		a->bytes = (uint32_t)length;
	}
	return a->little;
}

static struct arrival_room *room_for_much(struct arrival *a) {
	if (a->much == NULL && (a->much = desk.spare) != NULL) {
		desk.spare = a->much->next;
		desk.spares--;
	}
	if (a->much == NULL)
		a->much = gompi_must_have(sizeof *a->much + GOMPI_LEADERS_MOST);
	return a->much;
}

// Returns the large buffer of an arrival to the free list. The caller holds the lock.
static void give_room(struct arrival *a) {
	struct arrival_room *room = a->much;
	a->much = NULL;
	if (room == NULL)
		return;
	if (desk.spares == SPARES) {
		free(room);
		return;
	}
	desk.spares++;
	room->next = desk.spare;
	desk.spare = room;
}

void gompi_desk_drop(struct gompi_leaders *m) {
	const uint32_t g = gompi_load(&m->generation);
	for (int r = 0; r < m->rounds; r++) {
		struct arrival *a = &m->edge[r].arrival[g % GOMPI_LEADERS_AHEAD];
		if (gompi_load_acquire(&a->generation) != g ||
		    a->much == NULL) // pairs with the release in take_arrival
			continue;
		gompi_mutex_take(&desk.mu);
		give_room(a);
		gompi_mutex_give(&desk.mu);
	}
}

// Stores a record where its call waits for it. Drops records that no member sends.
static void take_arrival(struct gompi_leaders *m, int peer, const struct leaders_record *r, size_t length) {
	if (!is_member(m, peer, r) || r->generation - gompi_load(&m->generation) >= GOMPI_LEADERS_AHEAD)
		return;
	struct arrival *a = &m->edge[r->round].arrival[r->generation % GOMPI_LEADERS_AHEAD];
	if (gompi_load(&a->generation) == r->generation)
		return;
	a->length = (uint32_t)length;
	a->room = length > MUCH ? room_for_much(a) : room_for_little(a, length);
	memcpy(&a->room->record, r, length);
	gompi_store_release(&a->generation, r->generation); // pairs with the acquire in has_arrived
}

// Handles a record for an open group. Returns true if *answer must be sent.
static bool take_for_open(struct gompi_leaders *m, struct account *a, const struct leaders_record *r, size_t length,
			  struct answer *answer) {
	if (r->kind != LEADERS_ASK) {
		take_arrival(m, a->peer, r, length);
		return r->advance != 0 && settle_with(a, length, answer);
	}
	if (!is_member(m, a->peer, r))
		return false;
	*answer = go_ahead(a, r);
	return true;
}

// Keeps a record until its group is opened. A correct member stays within the limits; records beyond them are dropped.
static void keep_for_later(struct account *a, const struct leaders_record *r, size_t length) {
	bool asks = r->kind == LEADERS_ASK;
	size_t cost = length + GOMPI_ADVANCE_MORE;
	if (asks ? length != sizeof *r || a->questions >= GOMPI_QUESTIONS : a->kept + cost > GOMPI_ADVANCE)
		return;
	*(asks ? &a->questions : &a->kept) += asks ? 1 : (uint32_t)cost;
	struct early *e = gompi_must_have(offsetof(struct early, record) + length), **to;
	e->of = a;
	e->length = (uint32_t)length;
	memcpy(&e->record, r, length);
	to = &desk.early[desk_bucket(r->id)];
	e->next = *to;
	*to = e;
}

// Removes a kept record of the group from the table, and returns it. Returns NULL if there is none. The caller frees
// it.
static struct early *take_early(uint64_t id) {
	struct early **at = &desk.early[desk_bucket(id)], *e;
	while ((e = *at) != NULL && e->record.id != id)
		at = &e->next;
	if (e == NULL)
		return NULL;
	*at = e->next;
	if (e->record.kind == LEADERS_ASK)
		e->of->questions--;
	else
		e->of->kept -= e->length + GOMPI_ADVANCE_MORE;
	return e;
}

// Records that a peer has opened the group, in answer to a question.
static void take_go(int peer, const struct leaders_record *r) {
	struct gompi_leaders *m = find_leaders(r->id);
	if (m != NULL && r->round < m->rounds && m->edge[r->round].to == peer)
		gompi_store(&m->edge[r->round].open, 1);
}

static void leaders_arrives(int peer, const char *data, size_t length) {
	const struct leaders_record *r = (const void *)data;
	if (length < sizeof *r || length > sizeof *r + GOMPI_LEADERS_MOST || r->kind >= LEADERS_KINDS)
		return;
	struct answer answer;
	bool answers = false;
	gompi_mutex_take(&desk.mu);
	if (r->kind == LEADERS_GO || r->kind == LEADERS_SETTLED) {
		is_settled(account_with(peer), r->said.bytes);
		if (r->kind == LEADERS_GO)
			take_go(peer, r);
	} else {
		struct gompi_leaders *m = find_leaders(r->id);
		if (m != NULL && r->kind != LEADERS_ASK && r->advance == 0) {
			take_arrival(m, peer, r, length);
		} else if (m != NULL) {
			answers = take_for_open(m, account_with(peer), r, length, &answer);
		} else if (r->kind == LEADERS_ASK || r->advance != 0) {
			struct account *a = account_with(peer);
			if (*find_closed(r->id) == NULL)
				keep_for_later(a, r, length);
			else if (r->kind != LEADERS_ASK)
				answers = settle_with(a, length, &answer);
			else
				answers = true, answer = go_ahead(a, r);
		}
	}
	gompi_mutex_give(&desk.mu);
	if (answers)
		answer_peer(&answer);
	gompi_wake(&gompi_my_cell()->wait);
}

void gompi_leaders_start(void) {
	static const struct gompi_port_handler handler = {.record = leaders_arrives};
	forget_groups();
	gompi_fabric_listen(FABRIC_LEADERS, &handler);
}

// --- Opening and closing

struct gompi_leaders *gompi_leaders_open(uint64_t id, int n, int me, const int32_t *peers) {
	int rounds = 0;
	while (rounds < 31 && 1 << rounds < n)
		rounds++;
	struct gompi_leaders *m = calloc(1, sizeof *m + (size_t)rounds * sizeof m->edge[0]);
	if (m == NULL)
		return NULL;
	m->id = id, m->n = n, m->me = me, m->rounds = rounds;
	for (int r = 0; r < rounds; r++) {
		m->edge[r].to = peers[(me + (1LL << r)) % n];
		m->edge[r].from = peers[(me + n - (1LL << r)) % n];
	}
	struct gompi_leaders **bucket = &desk.leaders[desk_bucket(id)];
	gompi_mutex_take(&desk.mu);
	m->next = *bucket;
	*bucket = m;
	struct closed **before = find_closed(id), *gone = *before;
	if (gone != NULL)
		*before = gone->next; // the id is used again
	free(gone);
	for (struct early *e; (e = take_early(id)) != NULL; free(e)) {
		struct answer answer;
		if (!take_for_open(m, e->of, &e->record, e->length, &answer))
			continue;
		gompi_mutex_give(&desk.mu);
		answer_peer(&answer);
		gompi_mutex_take(&desk.mu);
	}
	gompi_mutex_give(&desk.mu);
	return m;
}

void gompi_leaders_close(struct gompi_leaders *m) {
	if (m == NULL)
		return;
	struct closed *c = m->failed ? gompi_must_have(sizeof *c) : NULL;
	gompi_mutex_take(&desk.mu);
	struct gompi_leaders **at = &desk.leaders[desk_bucket(m->id)];
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	for (int r = 0; r < m->rounds; r++)
		for (int i = 0; i < GOMPI_LEADERS_AHEAD; i++)
			give_room(&m->edge[r].arrival[i]);
	if (c != NULL) {
		struct closed **first = &desk.closed[desk_bucket(m->id)];
		*c = (struct closed){*first, m->id};
		*first = c;
	}
	gompi_mutex_give(&desk.mu);
	for (int r = 0; r < m->rounds; r++)
		for (int i = 0; i < GOMPI_LEADERS_AHEAD; i++)
			free(m->edge[r].arrival[i].little);
	free(m);
}

// --- Sending in advance

static bool is_open(void *arg) { return gompi_load(&((struct edge *)arg)->open) != 0; }

// Asks the peer of a round whether it has opened the group, and waits until it has.
static int ask_peer_to_open(struct gompi_leaders *m, int round, const struct gompi_waiting *what) {
	struct edge *e = &m->edge[round];
	int class = 0;
	char *to = gompi_fabric_reserve(e->to, FABRIC_LEADERS, sizeof(struct leaders_record), FABRIC_WAIT, &class);
	if (to == NULL)
		return class;
	const struct leaders_record r = {.id = m->id, .round = (uint16_t)round, .kind = LEADERS_ASK};
	memcpy(to, &r, sizeof r);
	gompi_fabric_commit(e->to, sizeof r, FABRIC_NOW);
	struct gompi_waiting on = {.call = what->call, .peer = e->to, .object = what->object, .all = true};
	return gompi_await(&gompi_my_cell()->wait, is_open, e, &on);
}

// Returns true, and charges cost, if a record may be sent in advance to the peer of a round.
static bool in_advance(const struct edge *e, uint32_t cost) {
	gompi_mutex_take(&desk.mu);
	struct account *a = account_with(e->to);
	bool may = a->ahead + cost <= GOMPI_ADVANCE;
	if (may)
		a->ahead += cost;
	gompi_mutex_give(&desk.mu);
	return may;
}

int gompi_desk_admit(struct gompi_leaders *m, int round, size_t length, const struct gompi_waiting *what,
		     uint8_t *advance) {
	struct edge *e = &m->edge[round];
	const uint32_t cost = (uint32_t)length + GOMPI_ADVANCE_MORE;
	*advance = 0;
	if (m->all_open || is_open(e))
		return 0;
	*advance = in_advance(e, cost) || (gompi_fabric_progress() && in_advance(e, cost));
	return *advance ? 0 : ask_peer_to_open(m, round, what);
}
