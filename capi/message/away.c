#include "message/away.h"

#include <stdlib.h>

// Links are found by a table of a power of two of places; a link is at the first free one from its own on, and stays.
struct gompi_away_peer {
	int32_t world;
	struct gompi_link link[GOMPI_LANES];
};
struct gompi_away_peers {
	uint32_t mask;
	struct gompi_away_peers *before; // others may still look there
	struct gompi_away_peer *_Atomic at[];
};

enum { LEAST = 16 };

static struct gompi_away_peer *_Atomic *place_of(struct gompi_away_peers *t, int world) {
	uint32_t i = (uint32_t)world * 0x9e3779b1U >> 8;
	for (;; i++) {
		struct gompi_away_peer *p =
			gompi_load_acquire(&t->at[i & t->mask]); // pairs with the release in add_peer
		if (p == NULL || p->world == world)
			return &t->at[i & t->mask];
	}
}

// A peer that something has been sent to, or has come from; NULL: there was nothing yet.
static struct gompi_away_peer *find_peer(struct gompi_messages *m, int world) {
	struct gompi_away_peers *t = gompi_load_acquire(&m->peers); // pairs with the release in widen_peers
	return t == NULL ? NULL : gompi_load_acquire(place_of(t, world));
}

static struct gompi_away_peers *widen_peers(struct gompi_messages *m) {
	struct gompi_away_peers *old = gompi_load(&m->peers), *t;
	uint32_t places = old != NULL ? 2 * (old->mask + 1) : LEAST;
	t = gompi_must_have(sizeof *t + places * sizeof t->at[0]);
	t->mask = places - 1;
	t->before = old;
	for (uint32_t i = 0; old != NULL && i <= old->mask; i++) {
		struct gompi_away_peer *p = gompi_load(&old->at[i]);
		if (p != NULL)
			gompi_store(place_of(t, p->world), p);
	}
	gompi_store_release(&m->peers, t);
	return t;
}

static struct gompi_away_peer *add_peer(struct gompi_messages *m, int world) {
	gompi_mutex_take(&m->peers_lock);
	struct gompi_away_peer *p = find_peer(m, world);
	if (p == NULL) {
		struct gompi_away_peers *t = gompi_load(&m->peers);
		if (t == NULL || 2 * m->peers_number > t->mask)
			t = widen_peers(m);
		p = gompi_must_have(sizeof *p);
		p->world = world;
		for (int i = 0; i < GOMPI_LANES; i++) {
			struct gompi_link *k = &p->link[i];
			k->world = world;
			k->process = -1;
			gompi_store(&k->reads, READS_REFUSED);
		}
		m->peers_number++;
		gompi_store_release(place_of(t, world), p);
	}
	gompi_mutex_give(&m->peers_lock);
	return p;
}

struct gompi_link *gompi_away_link(struct gompi_lane *l, int world) {
	struct gompi_away_peer *p = find_peer(l->home, world);
	if (__builtin_expect(p == NULL, 0))
		p = add_peer(l->home, world);
	return &p->link[l - l->home->lane];
}

struct gompi_room gompi_away_reserve(struct gompi_lane *l, struct gompi_link *p, int64_t n, enum gompi_fabric_wait wait,
				     int *class) {
	struct gompi_record *r =
		(struct gompi_record *)(void *)gompi_fabric_reserve(p->world, FABRIC_MESSAGES, (size_t)n, wait, class);
	return (struct gompi_room){r, (uint64_t)(l - l->home->lane)};
}

void gompi_away_send(struct gompi_link *p, struct gompi_room room, uint64_t word, enum gompi_urgency urgency) {
	room.record->seal = room.seal;
	room.record->word = word;
	gompi_fabric_commit(p->world, (size_t)gompi_record_length(word), urgency);
}

// Data of fewer bytes comes in pieces: a read begins later than the first piece, and memory has to be registered. Where
// processors move the data they are better at any size: measured at 64 KiB, they take two thirds of the time of a read.
enum { READ_FROM = 16 << 10 };

bool gompi_away_register(struct gompi_request *r) {
	if (gompi_fabric_device && !r->registered && r->buf.type == NULL && r->buf.size >= READ_FROM)
		r->registered =
			gompi_fabric_register(r->buf.at, (uint64_t)r->buf.size, false, &r->region) == MPI_SUCCESS;
	return r->registered;
}

void gompi_away_unregister(struct gompi_request *r) {
	r->registered = false;
	gompi_fabric_unregister(&r->region);
}

void gompi_away_region(struct gompi_message *m, const char *payload, int64_t length) {
	if (length != sizeof m->region || gompi_messages_process(m->lane->home, m->from) >= 0)
		return;
	memcpy(&m->region, payload, sizeof m->region);
	m->readable = m->region.key != 0;
}

// A read of a message's data.
struct gompi_read {
	struct gompi_transfer transfer;
	struct gompi_request *request;
	struct gompi_read *next;
};

static void give_read(struct gompi_lane *l, struct gompi_read *d) {
	d->next = l->spare_read;
	l->spare_read = d;
}

// Gives a lane back after what the network has brought. Here nothing is copied, waited for or done in another thread's
// place, since all that arrives would have to wait for it: operations of several messages that may go on, data that is
// to be copied, and what another thread found the lock taken for are the affair of those who wait, or of the progress
// thread.
static void end_served(struct gompi_lane *l) {
	struct gompi_messages *m = l->home;
	if (__builtin_expect(l->must_flush, 0)) {
		l->must_flush = false;
		gompi_flush_behind(l);
	}
	bool more = l->work != NULL;
	if (__builtin_expect(more, 0))
		l->completed = true; // so that who sleeps is woken
	gompi_lane_let_go(l);
	if (__builtin_expect(more || gompi_load(&l->missed) != 0 || gompi_load(&m->stepped) != 0, 0))
		gompi_doorbell(gompi_messages_cell(m, m->node.me));
}

static void read_done(struct gompi_transfer *t, int class) {
	struct gompi_read *d = (struct gompi_read *)(void *)t;
	struct gompi_request *r = d->request;
	struct gompi_lane *l = r->lane;
	gompi_lane_take(l);
	give_read(l, d);
	if (class == MPI_SUCCESS || class == MPI_ERR_PROC_ABORTED)
		gompi_end_pull(l, r, class);
	else
		gompi_ask_for_pieces(l, r);
	end_served(l);
}

void gompi_away_read(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_read *d = l->spare_read;
	if (d != NULL)
		l->spare_read = d->next;
	else
		d = gompi_must_have(sizeof *d);
	d->request = r;
	d->transfer = (struct gompi_transfer){.done = read_done,
					      .local = r->buf.at,
					      .bytes = (uint64_t)r->want,
					      .region = r->matched->region,
					      .peer = r->matched->from};
	if (l->reads == NULL)
		gompi_add_total(&l->backlog, 1); // so that whoever looks finds something to do
	d->next = l->reads;
	l->reads = d;
	l->must_flush = true;
}

// Takes the read at *at out of those to be started.
static struct gompi_read *take_read(struct gompi_lane *l, struct gompi_read **at) {
	struct gompi_read *d = *at;
	*at = d->next;
	if (l->reads == NULL)
		gompi_sub_total(&l->backlog, 1);
	return d;
}

bool gompi_away_start_reads(struct gompi_lane *l) {
	if (__builtin_expect(l->reads == NULL, 1))
		return false;
	while (l->reads != NULL) {
		struct gompi_read *d = take_read(l, &l->reads);
		gompi_lane_let_go(l); // it may be done at once
		gompi_fabric_transfer(&d->transfer);
		gompi_lane_take(l);
	}
	return true;
}

bool gompi_away_abandon(struct gompi_lane *l, struct gompi_request *r) {
	for (struct gompi_read **at = &l->reads; *at != NULL; at = &(*at)->next)
		if ((*at)->request == r) {
			give_read(l, take_read(l, at));
			return true;
		}
	return false;
}

static void ask_flow_of(struct gompi_lane *l, struct gompi_link *p, enum gompi_flow flow) {
	p->told = flow == FLOW_KEEP;
	gompi_post(l, p,
		   &(struct gompi_pending){.record = {.word = gompi_record_word(RECORD_FLOW, 0, 0),
						      .from = l->home->node.self,
						      .size = flow}});
}

void gompi_away_flow(struct gompi_lane *l, const struct gompi_record *h) {
	if (gompi_messages_process(l->home, h->from) < 0)
		gompi_store(&gompi_away_link(l, h->from)->keep, h->size != FLOW_ALONG ? FLOW_KEEP : FLOW_ALONG);
}

void gompi_away_go_along(struct gompi_lane *l) {
	for (struct gompi_link *p = l->told; p != NULL; p = p->told_next)
		ask_flow_of(l, p, FLOW_ALONG);
	l->told = NULL;
}

bool gompi_away_is_last(struct gompi_lane *l, const struct gompi_record *h) {
	struct gompi_messages *m = l->home;
	if (gompi_load(&gompi_messages_cell(m, m->node.me)->state) >= FINISHING)
		return true;
	struct gompi_pending *w = l->spare_pending;
	if (w != NULL)
		l->spare_pending = w->next;
	else
		w = gompi_must_have(sizeof *w);
	*w = (struct gompi_pending){.next = l->questions, .record = *h};
	l->questions = w;
	return false;
}

void gompi_away_answer_last(struct gompi_lane *l) {
	for (struct gompi_pending *w; (w = l->questions) != NULL;) {
		const struct gompi_record *h = &w->record;
		l->questions = w->next;
		gompi_withdraw(l, h->context, h->source, h->tag, gompi_is_record_of, h);
		w->next = l->spare_pending;
		l->spare_pending = w;
	}
}

// The port's handler.

void gompi_away_arrived(struct gompi_messages *m, int peer, const char *data, size_t length) {
	struct gompi_record h;
	const uint32_t n = (uint32_t)gompi_processes_n(m->node.processes);
	if (length < sizeof h || length > RECORD_LINE + AWAY_MOST_DATA || (uint32_t)peer >= n ||
	    gompi_messages_process(m, peer) >= 0)
		return;
	memcpy(&h, data, sizeof h);
	h.from = peer;
	enum gompi_record_kind kind = gompi_record_kind(h.word);
	if (gompi_record_length(h.word) != (int64_t)length || h.seal >= GOMPI_LANES ||
	    ((kind == RECORD_EAGER || kind == RECORD_RTS) && (uint32_t)h.source >= n))
		return;
	struct gompi_lane *l = &m->lane[h.seal];
	gompi_lane_take(l);
	gompi_do_record(
		l, &h,
		gompi_record_data((struct gompi_record *)(uintptr_t)data, gompi_record_data_size((int64_t)length)));
	if (__builtin_expect(l->flow == FLOW_KEEP, 0) && kind == RECORD_EAGER) {
		struct gompi_link *p = gompi_away_link(l, peer);
		if (!p->told) {
			p->told_next = l->told;
			l->told = p;
			ask_flow_of(l, p, FLOW_KEEP);
		}
	}
	end_served(l);
}

void gompi_away_room(struct gompi_messages *m, int peer) {
	struct gompi_away_peer *to = find_peer(m, peer);
	for (int i = 0; to != NULL && i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		if (gompi_load(&to->link[i].waiting) == 0)
			continue;
		gompi_lane_take(l);
		gompi_flush_link(l, &to->link[i]);
		end_served(l);
	}
}

static void hear_record(int peer, const char *data, size_t length) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m != NULL)
		gompi_away_arrived(m, peer, data, length);
}

static void hear_room(int peer) {
	struct gompi_messages *m = gompi_load_acquire(&gompi_messages_here);
	if (m != NULL)
		gompi_away_room(m, peer);
}

void gompi_away_open(struct gompi_messages *m) {
	static const struct gompi_port_handler port = {hear_record, hear_room};
	for (int i = m->node.processes->in_order; i < gompi_processes_n(m->node.processes); i++)
		if (gompi_process_index(m->node.processes, i) < 0) {
			gompi_or(&m->hooks, HOOK_NETWORK);
			gompi_fabric_listen(FABRIC_MESSAGES, &port);
			return;
		}
}

void gompi_away_close(struct gompi_messages *m) {
	struct gompi_away_peers *t = gompi_load(&m->peers);
	for (uint32_t i = 0; t != NULL && i <= t->mask; i++)
		free(gompi_load(&t->at[i]));
	for (struct gompi_away_peers *before; t != NULL; t = before) {
		before = t->before;
		free(t);
	}
	for (int i = 0; i < GOMPI_LANES; i++) {
		for (struct gompi_read *d = m->lane[i].spare_read, *next; d != NULL; d = next) {
			next = d->next;
			free(d);
		}
		for (struct gompi_pending *w = m->lane[i].questions, *next; w != NULL; w = next) {
			next = w->next;
			free(w);
		}
	}
}
