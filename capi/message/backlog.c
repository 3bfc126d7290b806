// Pending output of a VCI: records that found no space, and streams. A stream is a send whose data goes out in
// fragments.
#include "message/remote.h"

// Adds `change` to the number of records and streams that wait at link p. Adds p to the VCI's list when the number
// becomes positive, and removes p when the number becomes 0.
static void add_pending_count(struct gompi_vci *l, struct gompi_link *p, int change) {
	int count = gompi_add_seq_cst(&p->pending_count, change) + change;
	if (change > 0 && count == change) {
		gompi_add_seq_cst(&l->pending_links, 1);
		p->next_pending = l->first_pending_link;
		l->first_pending_link = p;
	} else if (change < 0 && count == 0) {
		gompi_sub_seq_cst(&l->pending_links, 1);
		struct gompi_link **at = &l->first_pending_link;
		while (*at != p)
			at = &(*at)->next_pending;
		*at = p->next_pending;
	}
}

static void add_stream(struct gompi_link *p, struct gompi_request *r) {
	r->next = NULL;
	if (p->first_stream == NULL)
		p->first_stream = r;
	else
		p->last_stream->next = r;
	p->last_stream = r;
}

// Sends the next fragment of the first stream. Completes the send after the last fragment, or with an error if
// fragments can never be sent. Returns false if p has no stream, or if there is no space.
static bool send_fragment(struct gompi_vci *l, struct gompi_link *p) {
	struct gompi_request *r = p->first_stream;
	if (r == NULL)
		return false;
	const bool remote = gompi_is_remote(p);
	const int64_t max_bytes = remote ? REMOTE_MAX_DATA : RECORD_MAX_DATA;
	int64_t left_bytes = r->transfer_bytes - r->done_bytes, n = left_bytes < max_bytes ? left_bytes : max_bytes;
	int class;
	struct gompi_reservation reservation =
		gompi_record_reserve(l, p, gompi_record_size(n), remote, FABRIC_TRY, &class);
	struct gompi_record *h = reservation.record;
	if (h == NULL && class == MPI_ERR_PENDING)
		return false;
	if (h != NULL) {
		h->context = (uint64_t)r->done_bytes;
		h->source = h->tag = h->class = 0;
		h->size = 0;
		h->from = l->messages->node.self;
		h->id = r->size_or_receive_id;
		(remote ? gompi_buffer_pack : gompi_buffer_pack_stream)(&r->buf, gompi_record_data(h, n), r->done_bytes,
									n);
		uint64_t word = gompi_record_word(RECORD_FRAGMENT, 0, gompi_record_size(n));
		gompi_record_commit(p, reservation, word, remote, left_bytes == n ? FABRIC_NOW : FABRIC_PENDING,
				    NOTIFY_WAITERS);
		r->done_bytes += n;
	}
	p->first_stream = r->next;
	if (h != NULL && r->done_bytes < r->transfer_bytes) { // the stream moves to the end, so that streams alternate
		add_stream(p, r);
		return true;
	}
	r->transfer_bytes = 0;
	add_pending_count(l, p, -1);
	gompi_send_complete(l, r, h != NULL ? MPI_SUCCESS : class);
	return true;
}

// Sends the first pending record. If no record is pending, it sends one fragment of the first stream. Returns false if
// there is nothing to send or no space.
static bool send_next_pending(struct gompi_vci *l, struct gompi_link *p) {
	struct gompi_pending *w = p->first_pending;
	if (w == NULL)
		return send_fragment(l, p);
	struct gompi_request *r = w->send; // may be freed when its record is sent, so record_pending is reset first
	if (r != NULL)
		r->record_pending = false;
	if (!gompi_pending_try_send(l, p, w)) {
		if (r != NULL)
			r->record_pending = true;
		return false;
	}
	p->first_pending = w->next;
	if (p->first_pending == NULL)
		p->last_pending = NULL;
	gompi_pending_free(l, w);
	add_pending_count(l, p, -1);
	return true;
}

enum { MAX_RECORDS_PER_LOCK = 32 }; // flush_link sends at most this many, so that other threads can get the lock

static bool flush_link(struct gompi_vci *l, struct gompi_link *p, bool *is_incomplete) {
	bool sent = false, registered = false;
	*is_incomplete = false;
	for (int n = 0; gompi_load(&p->pending_count) > 0; n++) {
		if (n == MAX_RECORDS_PER_LOCK) {
			*is_incomplete = true;
			return sent;
		}
		if (send_next_pending(l, p)) {
			sent = true;
			registered = false;
			continue;
		}
		// A peer on this node reports space by RECORD_SPACE. For other nodes the network reports it.
		if (gompi_is_remote(p) || registered ||
		    !gompi_inbox_register_waiter(p->inbox, l->messages->node.local_index))
			break;
		gompi_cell_ring_doorbell(p->cell);
		registered = true;
	}
	if (sent && gompi_is_remote(p))
		gompi_fabric_flush(p->world);
	return sent;
}

void gompi_flush_link(struct gompi_vci *l, struct gompi_link *p) {
	bool is_incomplete;
	flush_link(l, p, &is_incomplete);
	if (is_incomplete)
		l->must_flush = true;
}

void gompi_post_record(struct gompi_vci *l, struct gompi_link *p, const struct gompi_pending *w) {
	struct gompi_pending to_send = *w;
	// An answer to another node may overtake pending records, because the network always has space for answers.
	bool may_overtake = gompi_is_remote(p) && gompi_record_is_answer(gompi_record_kind(w->record.word));
	if ((gompi_load(&p->pending_count) == 0 || may_overtake) && gompi_pending_try_send(l, p, &to_send))
		return;
	if (to_send.send != NULL)
		to_send.send->record_pending = true;
	struct gompi_pending *queued = gompi_pending_alloc(l);
	*queued = to_send;
	queued->next = NULL;
	if (p->last_pending != NULL)
		p->last_pending->next = queued;
	else
		p->first_pending = queued;
	p->last_pending = queued;
	add_pending_count(l, p, 1);
	gompi_flush_link(l, p);
}

bool gompi_unqueue_record(struct gompi_vci *l, struct gompi_request *r) {
	struct gompi_link *p = r->peer_link;
	struct gompi_pending **at = &p->first_pending, *before = NULL, *w;
	for (; (w = *at) != NULL && w->send != r; before = w)
		at = &w->next;
	if (w == NULL)
		return false;
	*at = w->next;
	if (p->last_pending == w)
		p->last_pending = before;
	gompi_pending_free(l, w);
	add_pending_count(l, p, -1);
	r->record_pending = false;
	return true;
}

void gompi_send_abandon(struct gompi_vci *l, struct gompi_request *r, int class) {
	struct gompi_link *p = r->peer_link;
	if (p == NULL || (r->record_pending && !gompi_unqueue_record(l, r)))
		return;
	if (r->transfer_bytes != 0) { // a stream
		struct gompi_request **at = &p->first_stream, *before = NULL;
		for (; *at != r; before = *at)
			at = &(*at)->next;
		*at = r->next;
		if (p->last_stream == r)
			p->last_stream = before;
		r->transfer_bytes = 0;
		add_pending_count(l, p, -1);
	}
	gompi_send_complete(l, r, class);
}

void gompi_post_cancel(struct gompi_vci *l, const struct gompi_request *r, unsigned flags) {
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(RECORD_CANCEL, flags, 0),
			   .context = r->context,
			   .from = l->messages->node.self,
			   .id = r->id},
		.notify = NOTIFY_DOORBELL,
	};
	gompi_post_record(l, r->peer_link, &w);
}

void gompi_send_answer(struct gompi_vci *l, int32_t to, enum gompi_record_kind kind, uint64_t id, bool doorbell,
		       int class) {
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(kind, 0, 0),
			   .from = l->messages->node.self,
			   .id = id,
			   .class = class},
		.notify = doorbell ? NOTIFY_DOORBELL : NOTIFY_WAITERS,
	};
	gompi_post_record(l, gompi_link_to(l, to), &w);
}

bool gompi_flush_pending(struct gompi_vci *l) {
	l->must_flush = false;
	bool worked = gompi_remote_start_reads(l), is_incomplete;
	for (struct gompi_link *p = l->first_pending_link, *next; p != NULL; p = next) {
		next = p->next_pending;
		worked = flush_link(l, p, &is_incomplete) || worked;
		if (is_incomplete) {
			gompi_vci_unlock_wake(l);
			gompi_vci_lock(l);
			next = l->first_pending_link; // the list may have changed meanwhile
		}
	}
	return worked;
}

void gompi_handle_cts(struct gompi_vci *l, const struct gompi_record *h) {
	struct gompi_request *r = gompi_id_find(&l->send_ids, h->id);
	if (r == NULL || r->peer_link == NULL || r->peer_link->world != h->from || r->transfer_bytes != 0 ||
	    r->record_pending || (int64_t)h->size <= 0 || (int64_t)h->size > r->buf.size)
		return;
	struct gompi_link *p = r->peer_link;
	if (r->registered)
		gompi_remote_unregister(r);
	r->transfer_bytes = (int64_t)h->size;
	r->done_bytes = 0;
	r->size_or_receive_id = h->context;
	add_stream(p, r);
	add_pending_count(l, p, 1);
	l->must_flush = true;
}

void gompi_vci_unlock_started(struct gompi_vci *l) {
	bool has_sent = false;
	if (__builtin_expect(l->work_is_urgent, 0))
		l->messages->progress(l);
	else if (__builtin_expect(l->must_flush, 0))
		has_sent = gompi_flush_pending(l);
	if (__builtin_expect(l->work != NULL, 0))
		l->has_completions = true;
	gompi_vci_unlock(l);
	// gompi_vci_unlock checks missed_progress only if it releases the mutex. But gompi_flush_pending may have
	// released the mutex after another thread had set missed_progress, and then have acquired the lock again
	// without the mutex. So check missed_progress here.
	if (__builtin_expect(has_sent, 0))
		gompi_vci_progress_missed(l);
}

void gompi_vci_unlock_network(struct gompi_vci *l) {
	struct gompi_messages *m = l->messages;
	if (__builtin_expect(l->must_flush, 0))
		gompi_flush_pending(l);
	bool has_work = l->work != NULL;
	if (__builtin_expect(has_work, 0))
		l->has_completions = true; // wakes a sleeping thread, which copies the data
	gompi_vci_unlock_wake(l);
	if (__builtin_expect(has_work || gompi_load_seq_cst(&l->missed_progress) != 0 ||
				     gompi_load(&m->plan_may_continue) != 0,
			     0))
		gompi_cell_ring_doorbell(gompi_messages_cell(m, m->node.local_index));
}
