// Pending output of a lane: records that found no space, and the data of sends that goes out in fragments.
#include "message/remote.h"

// Adds by to the number of records and streams that wait for a peer. Adds the peer to the lane's list with the first
// one, and removes it with the last one.
static void count_waiting(struct gompi_lane *l, struct gompi_link *p, int by) {
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

static void add_stream(struct gompi_link *p, struct gompi_request *r) {
	r->next = NULL;
	if (p->stream == NULL)
		p->stream = r;
	else
		p->stream_end->next = r;
	p->stream_end = r;
}

// Sends the next fragment of the first stream. Returns false if there is no stream or no space.
static bool send_piece(struct gompi_lane *l, struct gompi_link *p) {
	struct gompi_request *r = p->stream;
	if (r == NULL)
		return false;
	const bool remote = gompi_is_remote(p);
	const int64_t most = remote ? REMOTE_MOST_DATA : RECORD_MOST_DATA;
	int64_t left = r->want - r->done, n = left < most ? left : most;
	int class;
	struct gompi_room room = gompi_record_reserve(l, p, gompi_record_size(n), remote, FABRIC_TRY, &class);
	struct gompi_record *h = room.record;
	if (h == NULL && class == MPI_ERR_PENDING)
		return false;
	if (h != NULL) {
		h->context = (uint64_t)r->done;
		h->source = h->tag = h->class = 0;
		h->size = 0;
		h->from = l->home->node.self;
		h->id = r->full;
		gompi_buffer_pack(&r->buf, gompi_record_data(h, n), r->done, n);
		uint64_t word = gompi_record_word(RECORD_PIECE, 0, gompi_record_size(n));
		gompi_record_send(p, room, word, remote, left == n ? FABRIC_NOW : FABRIC_PENDING, NOTICE_QUIET);
		r->done += n;
	}
	p->stream = r->next;
	if (h != NULL && r->done < r->want) { // moves to the end: streams advance alternately
		add_stream(p, r);
		return true;
	}
	r->want = 0;
	count_waiting(l, p, -1);
	gompi_send_finish(l, r, h != NULL ? MPI_SUCCESS : class);
	return true;
}

// Sends the first pending record or, if there is none, one fragment of the first stream. Returns false if there is
// nothing to send or no space.
static bool send_some(struct gompi_lane *l, struct gompi_link *p) {
	struct gompi_pending *w = p->first;
	if (w == NULL)
		return send_piece(l, p);
	struct gompi_request *r = w->send; // may be freed once its record has been sent
	if (r != NULL)
		r->behind = false;
	if (!gompi_put_record(l, p, w)) {
		if (r != NULL)
			r->behind = true;
		return false;
	}
	p->first = w->next;
	if (p->first == NULL)
		p->last = NULL;
	gompi_pending_give(l, w);
	count_waiting(l, p, -1);
	return true;
}

enum { AT_ONCE = 32 }; // records or fragments sent before the lock is released temporarily

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
		// The peer reports space with RECORD_ROOM; for another node the network does.
		if (gompi_is_remote(p) || asked || !gompi_inbox_want(p->box, l->home->node.me))
			break;
		gompi_doorbell(p->cell);
		asked = true;
	}
	if (sent && gompi_is_remote(p))
		gompi_fabric_push(p->world);
	return sent;
}

void gompi_flush_link(struct gompi_lane *l, struct gompi_link *p) {
	bool more;
	flush_link(l, p, &more);
	if (more)
		l->must_flush = true;
}

void gompi_post(struct gompi_lane *l, struct gompi_link *p, const struct gompi_pending *w) {
	struct gompi_pending now = *w;
	// An answer may overtake pending records: the network always has space for it.
	bool passes = gompi_is_remote(p) && gompi_record_is_answer(gompi_record_kind(w->record.word));
	if ((gompi_load(&p->waiting) == 0 || passes) && gompi_put_record(l, p, &now))
		return;
	if (now.send != NULL)
		now.send->behind = true;
	struct gompi_pending *later = gompi_pending_take(l);
	*later = now;
	later->next = NULL;
	if (p->last != NULL)
		p->last->next = later;
	else
		p->first = later;
	p->last = later;
	count_waiting(l, p, 1);
	gompi_flush_link(l, p);
}

bool gompi_unpost_record(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_link *p = r->to;
	struct gompi_pending **at = &p->first, *before = NULL, *w;
	for (; (w = *at) != NULL && w->send != r; before = w)
		at = &w->next;
	if (w == NULL)
		return false;
	*at = w->next;
	if (p->last == w)
		p->last = before;
	gompi_pending_give(l, w);
	count_waiting(l, p, -1);
	r->behind = false;
	return true;
}

void gompi_post_cancel(struct gompi_lane *l, const struct gompi_request *r, unsigned flags) {
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(RECORD_CANCEL, flags, 0),
			   .context = r->context,
			   .from = l->home->node.self,
			   .id = r->id},
		.notice = NOTICE_CALL,
	};
	gompi_post(l, r->to, &w);
}

void gompi_answer(struct gompi_lane *l, int32_t to, enum gompi_record_kind kind, uint64_t id, bool call, int class) {
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(kind, 0, 0), .from = l->home->node.self, .id = id, .class = class},
		.notice = call ? NOTICE_CALL : NOTICE_QUIET,
	};
	gompi_post(l, gompi_link_to(l, to), &w);
}

bool gompi_flush_behind(struct gompi_lane *l) {
	l->must_flush = false;
	bool worked = gompi_remote_start_reads(l), more;
	for (struct gompi_link *p = l->behind, *next; p != NULL; p = next) {
		next = p->behind;
		worked = flush_link(l, p, &more) || worked;
		if (more) {
			gompi_lane_let_go(l);
			gompi_lane_take(l);
			next = l->behind; // the list may have changed meanwhile
		}
	}
	return worked;
}

void gompi_clear_to_send(struct gompi_lane *l, const struct gompi_record *h) {
	struct gompi_request *r = gompi_number_get(&l->sends, h->id);
	if (r == NULL || r->to == NULL || r->to->world != h->from || r->want != 0 || r->behind ||
	    (int64_t)h->size <= 0 || (int64_t)h->size > r->buf.size)
		return;
	struct gompi_link *p = r->to;
	if (r->registered)
		gompi_remote_unregister(r);
	r->want = (int64_t)h->size;
	r->done = 0;
	r->full = h->context;
	add_stream(p, r);
	count_waiting(l, p, 1);
	l->must_flush = true;
}

void gompi_lane_end_started(struct gompi_lane *l) {
	if (__builtin_expect(l->due, 0))
		l->home->progress(l);
	else if (__builtin_expect(l->must_flush, 0))
		gompi_flush_behind(l);
	if (__builtin_expect(l->work != NULL, 0))
		l->completed = true;
	gompi_lane_give(l);
}

void gompi_lane_end_served(struct gompi_lane *l) {
	struct gompi_messages *m = l->home;
	if (__builtin_expect(l->must_flush, 0))
		gompi_flush_behind(l);
	bool more = l->work != NULL;
	if (__builtin_expect(more, 0))
		l->completed = true; // wakes a sleeping thread, which copies the data
	gompi_lane_let_go(l);
	if (__builtin_expect(more || gompi_load(&l->missed) != 0 || gompi_load(&m->stepped) != 0, 0))
		gompi_doorbell(gompi_messages_cell(m, m->node.me));
}
