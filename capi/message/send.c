// Sending: at once where that is possible, else when there is room, or when the receiver has taken the data.
#include "message/away.h"

#include <stdlib.h>

// Returns true if the peer asks for messages to be kept by their senders.
static bool congested(const struct gompi_link *p) { return gompi_load(&p->box->flow) == FLOW_KEEP; }

void gompi_publish(struct gompi_link *p, struct gompi_room room, uint64_t word, enum gompi_notice notice) {
	gompi_inbox_publish(room, word);
	gompi_wake(&p->cell->wait);
	if (__builtin_expect(notice == NOTICE_CALL, 0))
		gompi_doorbell(p->cell);
}

// Writes an eager record but for its seal and its word.
static inline __attribute__((always_inline)) void write_eager(struct gompi_record *room, const struct gompi_request *r,
							      uint64_t id) {
	room->context = r->context;
	room->source = r->source;
	room->tag = r->tag;
	room->from = r->lane->home->node.self;
	room->class = 0;
	room->size = (uint64_t)r->buf.size;
	room->id = id;
	gompi_buffer_pack(&r->buf, gompi_record_data(room, r->buf.size), 0, r->buf.size);
}

// Sends an eager record; false: there is no room.
static inline bool put_eager(struct gompi_link *p, const struct gompi_request *r, uint64_t id, unsigned flags) {
	int64_t n = gompi_record_size(r->buf.size);
	struct gompi_room at = gompi_inbox_reserve(p->box, &p->head, n);
	struct gompi_record *room = at.record;
	if (room == NULL)
		return false;
	write_eager(room, r, id);
	gompi_publish(p, at, gompi_record_word(RECORD_EAGER, flags, n), r->urgent ? NOTICE_CALL : NOTICE_QUIET);
	return true;
}

// The same to another node. 0; MPI_ERR_PENDING: there is no room; another class: it can never be sent.
static int put_eager_away(struct gompi_link *p, const struct gompi_request *r, uint64_t id, unsigned flags) {
	int64_t n = gompi_record_size(r->buf.size);
	int class;
	struct gompi_room at = gompi_away_reserve(r->lane, p, n, FABRIC_TRY, &class);
	if (at.record == NULL)
		return class;
	write_eager(at.record, r, id);
	gompi_away_send(p, at, gompi_record_word(RECORD_EAGER, flags, n), gompi_away_urgency(r));
	return MPI_SUCCESS;
}

bool gompi_eager(struct gompi_link *p, const struct gompi_request *r) {
	if (r->buf.size > RECORD_MOST_DATA || r->mode == MODE_SYNCHRONOUS || gompi_load(&p->waiting) != 0 ||
	    congested(p))
		return false;
	return put_eager(p, r, 0, 0);
}

bool gompi_eager_away(struct gompi_link *p, const struct gompi_request *r) {
	return r->buf.size <= AWAY_MOST_DATA && r->mode != MODE_SYNCHRONOUS && gompi_load(&p->waiting) == 0 &&
	       gompi_load(&p->keep) == FLOW_ALONG && put_eager_away(p, r, 0, 0) == MPI_SUCCESS;
}

// RECORD_CALL if somebody other than a thread that waits for it depends on the end of this send: an operation that it
// is a step of, or the next buffered sends.
static unsigned call_flag(const struct gompi_request *r) {
	return r->urgent || r->mode == MODE_BUFFERED ? RECORD_CALL : 0;
}

static void take_number(struct gompi_lane *l, struct gompi_request *r) {
	if (r->id == 0)
		r->id = gompi_number_add(&l->sends, r);
}

// Copies the fixed part of a record but for its seal and its word.
static void copy_fixed(struct gompi_record *to, const struct gompi_record *from) {
	const size_t skipped = offsetof(struct gompi_record, context);
	memcpy((char *)to + skipped, (const char *)from + skipped, sizeof *to - skipped);
}

// Announces a message to a process of this node.
static int put_rts(struct gompi_lane *l, struct gompi_link *p, const struct gompi_record *h, struct gompi_request *r) {
	struct iovec where[GOMPI_SEGMENTS + 1];
	int n = 0;
	unsigned flags = call_flag(r) | (r->blocking ? RECORD_WAIT : 0);
	if (!l->home->no_cma && r->buf.size > 0) {
		n = gompi_buffer_runs(&r->buf, 0, where, GOMPI_SEGMENTS + 1);
		if (n > GOMPI_SEGMENTS)
			n = 0;
		else
			flags |= RECORD_ADDR;
	}
	int64_t data = n * (int64_t)sizeof where[0], size = gompi_record_size(data);
	struct gompi_room room = gompi_inbox_reserve(p->box, &p->head, size);
	if (room.record == NULL)
		return MPI_ERR_PENDING;
	copy_fixed(room.record, h);
	if (n > 0)
		memcpy(gompi_record_data(room.record, data), where, (size_t)data);
	gompi_publish(p, room, gompi_record_word(RECORD_RTS, flags, size), r->urgent ? NOTICE_CALL : NOTICE_QUIET);
	return MPI_SUCCESS;
}

// The same to one of another node.
static int put_rts_away(struct gompi_lane *l, struct gompi_link *p, const struct gompi_record *h,
			struct gompi_request *r) {
	unsigned flags = call_flag(r);
	int64_t data = 0;
	if (gompi_away_register(r)) {
		flags |= RECORD_REGION;
		data = sizeof r->region;
	}
	int64_t size = gompi_record_size(data);
	int class;
	struct gompi_room room = gompi_away_reserve(l, p, size, FABRIC_TRY, &class);
	if (room.record == NULL)
		return class;
	copy_fixed(room.record, h);
	if (data > 0)
		memcpy(gompi_record_data(room.record, data), &r->region, (size_t)data);
	gompi_away_send(p, room, gompi_record_word(RECORD_RTS, flags, size), gompi_away_urgency(r));
	return MPI_SUCCESS;
}

// Sends a record without data. An answer to what a process on another node has sent needs no room there.
static int put_fixed(struct gompi_lane *l, struct gompi_link *p, const struct gompi_pending *w,
		     enum gompi_record_kind kind) {
	int class = MPI_ERR_PENDING;
	struct gompi_room room =
		gompi_is_away(p) ? gompi_away_reserve(l, p, RECORD_SIZE,
						      gompi_away_is_answer(kind) ? FABRIC_ANSWER : FABRIC_TRY, &class)
				 : gompi_inbox_reserve(p->box, &p->head, RECORD_SIZE);
	if (room.record == NULL) // none is given up for want of memory
		return class == MPI_ERR_NO_MEM ? MPI_ERR_PENDING : class;
	copy_fixed(room.record, &w->record);
	uint64_t word = gompi_record_word(kind, gompi_record_flags(w->record.word), RECORD_SIZE);
	if (gompi_is_away(p))
		gompi_away_send(p, room, word, FABRIC_NOW);
	else
		gompi_publish(p, room, word, w->notice);
	return MPI_SUCCESS;
}

// Sends a record, or ends the send that it is of because it never can be sent; false: there is no room.
static bool put_record(struct gompi_lane *l, struct gompi_link *p, struct gompi_pending *w) {
	struct gompi_request *r = w->send;
	enum gompi_record_kind kind = gompi_record_kind(w->record.word);
	bool away = gompi_is_away(p);
	int class;
	if (kind == RECORD_EAGER && (away ? gompi_load(&p->keep) == FLOW_KEEP : congested(p))) {
		take_number(l, r); // the data stays here, after all
		w->record.id = r->id;
		w->record.word = gompi_record_word(kind = RECORD_RTS, 0, 0);
	}
	if (kind == RECORD_EAGER) {
		unsigned flags = r->id != 0 ? RECORD_SYNC | call_flag(r) : 0;
		class = away                            ? put_eager_away(p, r, r->id, flags)
			: put_eager(p, r, r->id, flags) ? MPI_SUCCESS
							: MPI_ERR_PENDING;
		if (class == MPI_SUCCESS && flags == 0)
			gompi_send_finish(l, r, MPI_SUCCESS);
	} else if (kind == RECORD_RTS) {
		class = away ? put_rts_away(l, p, &w->record, r) : put_rts(l, p, &w->record, r);
	} else {
		class = put_fixed(l, p, w, kind);
	}
	if (__builtin_expect(class == MPI_ERR_PENDING, 0))
		return false;
	if (__builtin_expect(class != MPI_SUCCESS && r != NULL, 0))
		gompi_send_finish(l, r, class);
	return true;
}

void gompi_send_locked(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_messages *m = l->home;
	if (r->world == m->node.self) {
		gompi_send_self(l, r);
		return;
	}
	struct gompi_link *p = gompi_link_to(l, r->world);
	r->to = p;
	bool small = r->buf.size <= (gompi_is_away(p) ? AWAY_MOST_DATA : RECORD_MOST_DATA) && !r->stays;
	if (!small || r->mode == MODE_SYNCHRONOUS)
		take_number(l, r);
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(small ? RECORD_EAGER : RECORD_RTS, 0, 0),
			   .context = r->context,
			   .source = r->source,
			   .tag = r->tag,
			   .from = m->node.self,
			   .size = (uint64_t)r->buf.size,
			   .id = r->id},
		.send = r,
	};
	gompi_post(l, p, &w);
}

// Returns true if anything has left, and whether it has stopped with room left.
static bool flush_link(struct gompi_lane *l, struct gompi_link *p, bool *more);

void gompi_post(struct gompi_lane *l, struct gompi_link *p, const struct gompi_pending *w) {
	struct gompi_pending now = *w;
	if ((gompi_load(&p->waiting) == 0 || gompi_away_passes(p, w)) && put_record(l, p, &now))
		return;
	if (now.send != NULL)
		now.send->behind = true;
	struct gompi_pending *later = l->spare_pending;
	if (later != NULL)
		l->spare_pending = later->next;
	else
		later = gompi_must_have(sizeof *later);
	*later = now;
	later->next = NULL;
	if (p->last != NULL)
		p->last->next = later;
	else
		p->first = later;
	p->last = later;
	gompi_waits(l, p, 1);
	gompi_flush_link(l, p);
}

void gompi_waits(struct gompi_lane *l, struct gompi_link *p, int by) {
	int now = gompi_add_total(&p->waiting, by) + by;
	if (by > 0 && now == by) {
		gompi_add_total(&l->backlog, 1);
		p->behind = l->behind;
		l->behind = p;
	} else if (by < 0 && now == 0) {
		gompi_sub_total(&l->backlog, 1);
		struct gompi_link **at = &l->behind;
		while (*at != p)
			at = &(*at)->behind;
		*at = p->behind;
	}
}

// Sends one record, or one piece of each stream. Returns true if there was room for it.
static bool send_some(struct gompi_lane *l, struct gompi_link *p) {
	struct gompi_pending *w = p->first;
	if (w == NULL)
		return gompi_send_pieces(l, p);
	struct gompi_request *r = w->send; // which may be gone once its record has left
	if (r != NULL)
		r->behind = false;
	if (!put_record(l, p, w)) {
		if (r != NULL)
			r->behind = true;
		return false;
	}
	p->first = w->next;
	if (p->first == NULL)
		p->last = NULL;
	w->next = l->spare_pending;
	l->spare_pending = w;
	gompi_waits(l, p, -1);
	return true;
}

enum { AT_ONCE = 32 }; // records or pieces that are sent without giving the lock away

static bool flush_link(struct gompi_lane *l, struct gompi_link *p, bool *more) {
	bool sent = false, asked = false;
	*more = false;
	for (int n = 0; gompi_load(&p->waiting) > 0; n++) {
		if (n == AT_ONCE) {
			*more = true;
			return sent;
		}
		if (send_some(l, p)) {
			sent = true;
			asked = false;
			continue;
		}
		// The peer says when there is room; of another node, the network.
		if (gompi_is_away(p) || asked || !gompi_inbox_want(p->box, l->home->node.me))
			break;
		gompi_doorbell(p->cell);
		asked = true;
	}
	if (sent && gompi_is_away(p))
		gompi_fabric_push(p->world);
	return sent;
}

void gompi_flush_link(struct gompi_lane *l, struct gompi_link *p) {
	bool more;
	flush_link(l, p, &more);
	if (more)
		l->must_flush = true;
}

bool gompi_flush_behind(struct gompi_lane *l) {
	bool worked = gompi_away_start_reads(l), more;
	for (struct gompi_link *p = l->behind, *next; p != NULL; p = next) {
		next = p->behind;
		worked = flush_link(l, p, &more) || worked;
		if (more) {
			gompi_lane_let_go(l);
			gompi_lane_take(l);
			next = l->behind; // which has changed
		}
	}
	return worked;
}

void gompi_send_finish(struct gompi_lane *l, struct gompi_request *r, int class) {
	if (r->id != 0) {
		gompi_number_remove(&l->sends, r->id);
		r->id = 0;
		if (__builtin_expect(r->registered, 0))
			gompi_away_unregister(r);
	}
	gompi_complete(l, r, class);
}

void gompi_acknowledged(struct gompi_lane *l, const struct gompi_record *h) {
	struct gompi_request *r = gompi_number_get(&l->sends, h->id);
	if (r == NULL || r->to == NULL || r->to->world != h->from || r->want != 0 || r->behind)
		return;
	int class = h->class;
	if (class < 0 || class > MPI_ERR_LASTCODE)
		class = MPI_ERR_OTHER;
	gompi_send_finish(l, r, class);
}

// Gives a small message of this process to its receive, or to where it waits for it; false: it is not small, or nothing
// has been posted and the send is synchronous.
static bool give(struct gompi_lane *l, struct gompi_queue *q, const struct gompi_request *s) {
	if (s->buf.size > RECORD_MOST_DATA)
		return false;
	struct gompi_entry *e = gompi_list_receiver(&q->posted, s->source, s->tag);
	if (e != NULL) {
		struct gompi_request *r = (struct gompi_request *)e;
		gompi_unpost(l, r);
		r->full = (uint64_t)s->buf.size;
		int64_t n = s->buf.size < r->buf.size ? s->buf.size : r->buf.size;
		r->result = (struct gompi_result){.source = s->source, .tag = s->tag, .bytes = n};
		gompi_buffer_copy(&r->buf, &s->buf, n);
		gompi_complete(l, r, gompi_truncated(r, s->buf.size));
		return true;
	}
	if (s->mode == MODE_SYNCHRONOUS)
		return false;
	struct gompi_message *m = gompi_message_take(l);
	m->entry.source = s->source;
	m->entry.tag = s->tag;
	m->from = l->home->node.self;
	m->size = s->buf.size;
	gompi_message_room(m, s->buf.size);
	gompi_buffer_pack(&s->buf, m->data, 0, s->buf.size);
	gompi_keep_unexpected(l, q, m);
	return true;
}

bool gompi_give_self(struct gompi_lane *l, const struct gompi_request *s) {
	if (s->buf.size > RECORD_MOST_DATA || s->mode == MODE_SYNCHRONOUS)
		return false;
	gompi_lane_take(l);
	bool given = give(l, gompi_queue_of(&l->queues, s->context), s);
	gompi_lane_end_started(l);
	return given;
}

void gompi_send_self(struct gompi_lane *l, struct gompi_request *s) {
	s->to = NULL;
	struct gompi_queue *q = gompi_queue_of(&l->queues, s->context);
	if (give(l, q, s)) {
		gompi_send_finish(l, s, MPI_SUCCESS);
		return;
	}
	struct gompi_message *m = gompi_message_take(l);
	m->entry.source = s->source;
	m->entry.tag = s->tag;
	m->from = l->home->node.self;
	m->size = s->buf.size;
	m->waits = s->blocking;
	m->local = s;
	struct gompi_entry *e = gompi_list_receiver(&q->posted, s->source, s->tag);
	if (e != NULL) {
		gompi_unpost(l, (struct gompi_request *)e);
		gompi_rendezvous(l, (struct gompi_request *)e, m);
		return;
	}
	gompi_keep_unexpected(l, q, m);
}
