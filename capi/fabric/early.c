#include "fabric/early.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/alloc_or_abort.h"
#include "fabric/fabric.h"

enum { BUCKETS = 256 };

// A record for a group that is not open in this process.
struct early_record {
	struct early_record *next; // in its bucket
	struct credit_state *credits;
	uint32_t length;
	struct internode_record record;
};

// A group that was closed after a failed call, when some of its records had not arrived. Early records that still
// arrive for it are acknowledged and dropped.
struct closed_group {
	struct closed_group *next;
	uint64_t id;
};

// Counts of the bytes and queries sent early between this process and a peer, in both directions. This state lives as
// long as the network.
struct credit_state {
	struct credit_state *next; // in its bucket
	int32_t peer;
	uint32_t unacked_bytes;  // bytes sent early that the peer has not acknowledged
	uint32_t stored_bytes;   // bytes of the peer's records in early_state.records
	uint32_t ack_due_bytes;  // bytes of the peer's records that are matched with an open group but not acknowledged
	uint32_t stored_queries; // number of the peer's queries in early_state.records
};

static struct {
	struct gompi_mutex mu; // protects the fields below, and each struct arrival while a record is stored in it
	struct gompi_internode *groups[BUCKETS];
	struct early_record *records[BUCKETS];       // by group id
	struct closed_group *closed_groups[BUCKETS]; // by group id
	struct credit_state *credits[BUCKETS];
	struct arrival_buffer *free_large; // free list of large buffers
	int free_large_count;
} early_state;

// A record of more than LARGE_RECORD_BYTES bytes uses a large buffer, which returns to the free list after use. The
// free list holds at most MAX_FREE_LARGE buffers.
enum { LARGE_RECORD_BYTES = 4 << 10, MAX_FREE_LARGE = 16 };

// Frees the early records, closed groups and credits of a previous network.
static void free_early_state(void) {
	for (int i = 0; i < BUCKETS; i++) {
		for (struct early_record *e; (e = early_state.records[i]) != NULL; free(e))
			early_state.records[i] = e->next;
		for (struct closed_group *c; (c = early_state.closed_groups[i]) != NULL; free(c))
			early_state.closed_groups[i] = c->next;
		for (struct credit_state *a; (a = early_state.credits[i]) != NULL; free(a))
			early_state.credits[i] = a->next;
	}
}

static size_t early_bucket(uint64_t number) { return (number * 0x9e3779b97f4a7c15u) >> 56 & (BUCKETS - 1); }

static struct gompi_internode *find_internode_group(uint64_t id) {
	struct gompi_internode *m = early_state.groups[early_bucket(id)];
	while (m != NULL && m->id != id)
		m = m->next;
	return m;
}

static struct credit_state *credit_state_of(int peer) {
	struct credit_state **first = &early_state.credits[early_bucket((uint32_t)peer)], *a = *first;
	while (a != NULL && a->peer != peer)
		a = a->next;
	if (a == NULL) {
		a = gompi_alloc_or_abort(sizeof *a);
		*a = (struct credit_state){.next = *first, .peer = peer};
		*first = a;
	}
	return a;
}

static struct closed_group **find_closed_group(uint64_t id) {
	struct closed_group **at = &early_state.closed_groups[early_bucket(id)];
	while (*at != NULL && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

// --- Replies

// A reply to a record that has arrived. It is created under early_state.mu, and sent after the mutex is released.
struct early_reply {
	int peer;
	struct internode_record record;
};

static void send_early_reply(const struct early_reply *a) {
	int class;
	char *to = gompi_fabric_reserve(a->peer, FABRIC_INTERNODE, sizeof a->record, FABRIC_ANSWER, &class);
	if (to == NULL && class == MPI_ERR_NO_MEM)
		gompi_abort_out_of_memory(sizeof a->record); // without the reply, the peer would wait forever
	if (to == NULL)
		return; // the peer has failed
	memcpy(to, &a->record, sizeof a->record);
	gompi_fabric_commit(a->peer, sizeof a->record, FABRIC_NOW);
}

static uint32_t claim_ack_bytes(struct credit_state *a) {
	uint32_t ack_bytes = a->ack_due_bytes;
	a->ack_due_bytes = 0;
	return ack_bytes;
}

static struct early_reply make_open_reply(struct credit_state *a, const struct internode_record *question) {
	return (struct early_reply){a->peer,
				    {.id = question->id,
				     .round = question->round,
				     .kind = INTERNODE_IS_OPEN,
				     .call.bytes = claim_ack_bytes(a)}};
}

// Notes that a record of `length` bytes from the peer of `a` has been matched with a group. Returns true if the caller
// must send *answer, which acknowledges the bytes matched so far. This happens when a quarter of GOMPI_EARLY_MAX_BYTES
// has been matched.
static bool add_matched_bytes(struct credit_state *a, size_t length, struct early_reply *answer) {
	a->ack_due_bytes += (uint32_t)length + GOMPI_EARLY_OVERHEAD;
	if (a->ack_due_bytes < GOMPI_EARLY_MAX_BYTES / 4)
		return false;
	*answer = (struct early_reply){a->peer, {.kind = INTERNODE_ACK, .call.bytes = claim_ack_bytes(a)}};
	return true;
}

static void release_early_credit(struct credit_state *a, uint32_t bytes) {
	a->unacked_bytes -= bytes < a->unacked_bytes ? bytes : a->unacked_bytes;
}

// --- Arrivals

static bool is_member(const struct gompi_internode *m, int peer, const struct internode_record *r) {
	return r->round < m->rounds && m->edge[r->round].from_peer == peer;
}

static struct arrival_buffer *get_small_buffer(struct arrival *a, size_t length) {
	if (length > a->small_bytes) {
		free(a->small);
		a->small = gompi_alloc_or_abort(offsetof(struct arrival_buffer, record) + length);
		a->small_bytes = (uint32_t)length;
	}
	return a->small;
}

static struct arrival_buffer *get_large_buffer(struct arrival *a) {
	if (a->large == NULL && (a->large = early_state.free_large) != NULL) {
		early_state.free_large = a->large->next;
		early_state.free_large_count--;
	}
	if (a->large == NULL)
		a->large = gompi_alloc_or_abort(sizeof *a->large + GOMPI_INTERNODE_MAX_BYTES);
	return a->large;
}

// Returns the large buffer of an arrival to the free list. The caller holds the lock.
static void release_large_buffer(struct arrival *a) {
	struct arrival_buffer *buffer = a->large;
	a->large = NULL;
	if (buffer == NULL)
		return;
	if (early_state.free_large_count == MAX_FREE_LARGE) {
		free(buffer);
		return;
	}
	early_state.free_large_count++;
	buffer->next = early_state.free_large;
	early_state.free_large = buffer;
}

void gompi_early_release(struct gompi_internode *m) {
	const uint32_t g = gompi_load(&m->generation);
	for (int r = 0; r < m->rounds; r++) {
		struct arrival *a = &m->edge[r].arrival[g % GOMPI_INTERNODE_MAX_AHEAD];
		// acquire: pairs with the release in store_arrival
		if (gompi_load_acquire(&a->generation) != g || a->large == NULL)
			continue;
		gompi_mutex_lock(&early_state.mu);
		release_large_buffer(a);
		gompi_mutex_unlock(&early_state.mu);
	}
}

// Stores a record in the struct arrival on which the record's call waits. Drops records that no correct member sends.
static void store_arrival(struct gompi_internode *m, int peer, const struct internode_record *r, size_t length) {
	if (!is_member(m, peer, r) || r->generation - gompi_load(&m->generation) >= GOMPI_INTERNODE_MAX_AHEAD)
		return;
	struct arrival *a = &m->edge[r->round].arrival[r->generation % GOMPI_INTERNODE_MAX_AHEAD];
	if (gompi_load(&a->generation) == r->generation)
		return;
	a->length = (uint32_t)length;
	a->buffer = length > LARGE_RECORD_BYTES ? get_large_buffer(a) : get_small_buffer(a, length);
	memcpy(&a->buffer->record, r, length);
	gompi_store_release(&a->generation, r->generation); // pairs with the acquire in has_arrived
}

// Handles a record for an open group. Returns true if the caller must send *answer.
static bool accept_for_open_group(struct gompi_internode *m, struct credit_state *a, const struct internode_record *r,
				  size_t length, struct early_reply *answer) {
	if (r->kind != INTERNODE_QUERY_OPEN) {
		store_arrival(m, a->peer, r, length);
		return r->is_early != 0 && add_matched_bytes(a, length, answer);
	}
	if (!is_member(m, a->peer, r))
		return false;
	*answer = make_open_reply(a, r);
	return true;
}

// Stores a record until its group is opened. Drops records beyond the limits, which no correct member exceeds.
static void store_early_record(struct credit_state *a, const struct internode_record *r, size_t length) {
	bool is_query = r->kind == INTERNODE_QUERY_OPEN;
	size_t cost = length + GOMPI_EARLY_OVERHEAD;
	if (is_query ? length != sizeof *r || a->stored_queries >= GOMPI_EARLY_MAX_QUERIES
		     : a->stored_bytes + cost > GOMPI_EARLY_MAX_BYTES)
		return;
	*(is_query ? &a->stored_queries : &a->stored_bytes) += is_query ? 1 : (uint32_t)cost;
	struct early_record *e = gompi_alloc_or_abort(offsetof(struct early_record, record) + length), **to;
	e->credits = a;
	e->length = (uint32_t)length;
	memcpy(&e->record, r, length);
	to = &early_state.records[early_bucket(r->id)];
	e->next = *to;
	*to = e;
}

// Removes an early record of the group from the table and returns it. Returns NULL if the table has no record of the
// group. The caller frees the record.
static struct early_record *dequeue_early_record(uint64_t id) {
	struct early_record **at = &early_state.records[early_bucket(id)], *e;
	while ((e = *at) != NULL && e->record.id != id)
		at = &e->next;
	if (e == NULL)
		return NULL;
	*at = e->next;
	if (e->record.kind == INTERNODE_QUERY_OPEN)
		e->credits->stored_queries--;
	else
		e->credits->stored_bytes -= e->length + GOMPI_EARLY_OVERHEAD;
	return e;
}

// Notes that a peer has opened the group. The record `r` is the peer's reply to a query.
static void mark_peer_open(int peer, const struct internode_record *r) {
	struct gompi_internode *m = find_internode_group(r->id);
	if (m != NULL && r->round < m->rounds && m->edge[r->round].to_peer == peer)
		gompi_store(&m->edge[r->round].is_open, 1);
}

static void on_internode_record(int peer, const char *data, size_t length) {
	const struct internode_record *r = (const void *)data;
	if (length < sizeof *r || length > sizeof *r + GOMPI_INTERNODE_MAX_BYTES || r->kind >= INTERNODE_KINDS)
		return;
	struct early_reply answer;
	bool has_reply = false;
	gompi_mutex_lock(&early_state.mu);
	if (r->kind == INTERNODE_IS_OPEN || r->kind == INTERNODE_ACK) {
		release_early_credit(credit_state_of(peer), r->call.bytes);
		if (r->kind == INTERNODE_IS_OPEN)
			mark_peer_open(peer, r);
	} else {
		struct gompi_internode *m = find_internode_group(r->id);
		if (m != NULL && r->kind != INTERNODE_QUERY_OPEN && r->is_early == 0) {
			store_arrival(m, peer, r, length);
		} else if (m != NULL) {
			has_reply = accept_for_open_group(m, credit_state_of(peer), r, length, &answer);
		} else if (r->kind == INTERNODE_QUERY_OPEN || r->is_early != 0) {
			struct credit_state *a = credit_state_of(peer);
			if (*find_closed_group(r->id) == NULL)
				store_early_record(a, r, length);
			else if (r->kind != INTERNODE_QUERY_OPEN)
				has_reply = add_matched_bytes(a, length, &answer);
			else
				has_reply = true, answer = make_open_reply(a, r);
		}
	}
	gompi_mutex_unlock(&early_state.mu);
	if (has_reply)
		send_early_reply(&answer);
	gompi_wake(&gompi_my_cell()->wait);
}

void gompi_internode_start(void) {
	static const struct gompi_port_handler handler = {.on_record = on_internode_record};
	free_early_state();
	gompi_fabric_set_handler(FABRIC_INTERNODE, &handler);
}

// --- Opening and closing

struct gompi_internode *gompi_internode_open(uint64_t id, int n, int me, const int32_t *peers) {
	int rounds = 0;
	while (rounds < 31 && 1 << rounds < n)
		rounds++;
	struct gompi_internode *m = calloc(1, sizeof *m + (size_t)rounds * sizeof m->edge[0]);
	if (m == NULL)
		return NULL;
	m->id = id, m->n = n, m->me = me, m->rounds = rounds;
	for (int r = 0; r < rounds; r++) {
		m->edge[r].to_peer = peers[(me + (1LL << r)) % n];
		m->edge[r].from_peer = peers[(me + n - (1LL << r)) % n];
	}
	struct gompi_internode **bucket = &early_state.groups[early_bucket(id)];
	gompi_mutex_lock(&early_state.mu);
	m->next = *bucket;
	*bucket = m;
	struct closed_group **closed_at = find_closed_group(id), *closed_before = *closed_at;
	if (closed_before != NULL)
		*closed_at = closed_before->next; // the id is in use again, so its records must not be dropped
	free(closed_before);
	for (struct early_record *e; (e = dequeue_early_record(id)) != NULL; free(e)) {
		struct early_reply answer;
		if (!accept_for_open_group(m, e->credits, &e->record, e->length, &answer))
			continue;
		gompi_mutex_unlock(&early_state.mu);
		send_early_reply(&answer);
		gompi_mutex_lock(&early_state.mu);
	}
	gompi_mutex_unlock(&early_state.mu);
	return m;
}

void gompi_internode_close(struct gompi_internode *m) {
	if (m == NULL)
		return;
	struct closed_group *c = m->has_failed ? gompi_alloc_or_abort(sizeof *c) : NULL;
	gompi_mutex_lock(&early_state.mu);
	struct gompi_internode **at = &early_state.groups[early_bucket(m->id)];
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	for (int r = 0; r < m->rounds; r++)
		for (int i = 0; i < GOMPI_INTERNODE_MAX_AHEAD; i++)
			release_large_buffer(&m->edge[r].arrival[i]);
	if (c != NULL) {
		struct closed_group **first = &early_state.closed_groups[early_bucket(m->id)];
		*c = (struct closed_group){*first, m->id};
		*first = c;
	}
	gompi_mutex_unlock(&early_state.mu);
	for (int r = 0; r < m->rounds; r++)
		for (int i = 0; i < GOMPI_INTERNODE_MAX_AHEAD; i++)
			free(m->edge[r].arrival[i].small);
	free(m);
}

// --- Sending early

static bool peer_has_opened(void *arg) { return gompi_load(&((struct edge *)arg)->is_open) != 0; }

// Queries whether the receiver of a round has opened the group, and waits until it has. Returns 0 or an error class.
static int wait_for_peer_open(struct gompi_internode *m, int round, const struct gompi_wait_desc *waiting) {
	struct edge *e = &m->edge[round];
	int class = 0;
	char *to = gompi_fabric_reserve(e->to_peer, FABRIC_INTERNODE, sizeof(struct internode_record), FABRIC_WAIT,
					&class);
	if (to == NULL)
		return class;
	const struct internode_record r = {.id = m->id, .round = (uint16_t)round, .kind = INTERNODE_QUERY_OPEN};
	memcpy(to, &r, sizeof r);
	gompi_fabric_commit(e->to_peer, sizeof r, FABRIC_NOW);
	struct gompi_wait_desc on = {
		.call = waiting->call, .peer = e->to_peer, .object = waiting->object, .depends_on_all = true};
	return gompi_await(&gompi_my_cell()->wait, peer_has_opened, e, &on);
}

// Charges `cost` bytes to the credit of the receiver of e. Returns false, without charging, if the credit is not
// sufficient.
static bool try_early_credit(const struct edge *e, uint32_t cost) {
	gompi_mutex_lock(&early_state.mu);
	struct credit_state *a = credit_state_of(e->to_peer);
	bool has_credit = a->unacked_bytes + cost <= GOMPI_EARLY_MAX_BYTES;
	if (has_credit)
		a->unacked_bytes += cost;
	gompi_mutex_unlock(&early_state.mu);
	return has_credit;
}

int gompi_early_reserve_credit(struct gompi_internode *m, int round, size_t length,
			       const struct gompi_wait_desc *waiting, uint8_t *is_early) {
	struct edge *e = &m->edge[round];
	const uint32_t cost = (uint32_t)length + GOMPI_EARLY_OVERHEAD;
	*is_early = 0;
	if (m->is_open_everywhere || peer_has_opened(e))
		return 0;
	*is_early = try_early_credit(e, cost) || (gompi_fabric_progress() && try_early_credit(e, cost));
	return *is_early ? 0 : wait_for_peer_open(m, round, waiting);
}
