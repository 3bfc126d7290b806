// Receiving: matches arriving messages with posted receives, and new receives with unexpected messages.
#include "message/messages.h"

#include <stdlib.h>

static void deliver(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m) {
	if (m->fetch != NULL) {
		m->receiver = r;
		r->matched = m;
		r->id = 0;
	} else if (m->rts || m->local != NULL) {
		gompi_rendezvous(l, r, m);
	} else {
		gompi_deliver_kept(l, r, m);
	}
}

void gompi_receive_locked(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_queue *q = gompi_queue_of(&l->queues, r->context);
	if (q->unexpected.n > 0) {
		struct gompi_message *m = (struct gompi_message *)gompi_list_message(&q->unexpected, r->peer, r->tag);
		if (m != NULL) {
			gompi_take_unexpected(l, q, m);
			deliver(l, r, m);
			return;
		}
	}
	r->entry = (struct gompi_entry){.source = r->peer, .tag = r->tag};
	r->posted = true;
	gompi_list_add(&q->posted, &r->entry);
}

// Frees a queue whose communicator has been freed, once no receive is posted.
static void close_queue(struct gompi_lane *l, struct gompi_queue *q) {
	if (__builtin_expect(q->closing, 0) && q->posted.n == 0)
		gompi_queue_drop(&l->queues, q);
}

static inline void unpost_from(struct gompi_lane *l, struct gompi_queue *q, struct gompi_request *r) {
	gompi_list_remove(&q->posted, &r->entry);
	r->posted = false;
	r->matched = NULL;
	r->id = 0;
	close_queue(l, q);
}

void gompi_unpost(struct gompi_lane *l, struct gompi_request *r) {
	unpost_from(l, gompi_queue_of(&l->queues, r->context), r);
}

// Stores the region (remote key) of a message's data that its sender on another node has sent.
static void take_region(struct gompi_message *m, const char *payload, int64_t length) {
	if (length != sizeof m->region || gompi_messages_process(m->lane->home, m->from) >= 0)
		return;
	memcpy(&m->region, payload, sizeof m->region);
	m->readable = m->region.key != 0;
}

static void fill_message(struct gompi_message *m, const struct gompi_record *h, const char *payload, int64_t length) {
	unsigned flags = gompi_record_flags(h->word);
	m->entry.source = h->source;
	m->entry.tag = h->tag;
	m->from = h->from;
	m->size = (int64_t)h->size;
	m->call = (flags & RECORD_CALL) != 0;
	if (gompi_record_kind(h->word) == RECORD_EAGER) {
		if (flags & RECORD_SYNC)
			m->id = h->id;
		if (gompi_message_room(m, length))
			gompi_copy_few(m->data, payload, (uint64_t)length);
		return;
	}
	m->rts = true;
	m->id = h->id;
	m->waits = (flags & RECORD_WAIT) != 0;
	m->reminders = gompi_link_to(m->lane, m->from)->reminders;
	int64_t n = length / (int64_t)sizeof m->one, left = m->size;
	if (flags & RECORD_REGION)
		take_region(m, payload, length);
	if ((flags & RECORD_ADDR) == 0 || n == 0 || n > GOMPI_SEGMENTS || n * (int64_t)sizeof m->one != length)
		return;
	struct iovec *where = n == 1 ? &m->one : malloc((size_t)n * sizeof *where);
	if (where == NULL)
		return; // the sender sends the data in fragments, as if it could not be read
	gompi_copy_few(where, payload, (uint64_t)length);
	for (int64_t i = 0; i < n; i++) {
		int64_t part = (int64_t)where[i].iov_len;
		left = part <= 0 || part > left ? -1 : left - part;
		if (left < 0)
			break;
	}
	if (left == 0) {
		m->where = where;
		m->segments = (int16_t)n;
	} else if (where != &m->one) {
		free(where);
	}
}

void gompi_arrive(struct gompi_lane *l, const struct gompi_record *h, const char *payload) {
	bool rts = gompi_record_kind(h->word) == RECORD_RTS;
	int64_t length = gompi_record_data_size(gompi_record_length(h->word));
	if ((!rts && (uint64_t)length != h->size) || (int64_t)h->size < 0 || h->tag < 0 || h->source < 0 ||
	    gompi_lane_of(l->home, h->context) != l)
		return;
	struct gompi_queue *q = gompi_queue_of(&l->queues, h->context);
	struct gompi_entry *e = q->posted.n > 0 ? gompi_list_receiver(&q->posted, h->source, h->tag) : NULL;
	if (e != NULL) {
		struct gompi_request *r = (struct gompi_request *)e;
		unpost_from(l, q, r);
		if (!rts) {
			gompi_take_data(l, r, h->source, h->tag, payload, length);
			unsigned flags = gompi_record_flags(h->word);
			if (__builtin_expect(flags & RECORD_SYNC, 0))
				gompi_answer(l, h->from, RECORD_ACK, h->id, (flags & RECORD_CALL) != 0, MPI_SUCCESS);
			return;
		}
		struct gompi_message *m = gompi_message_take(l);
		fill_message(m, h, payload, length);
		gompi_rendezvous(l, r, m);
		return;
	}
	struct gompi_message *m = gompi_message_take(l);
	fill_message(m, h, payload, length);
	gompi_keep_unexpected(l, q, m);
}

struct gompi_message *gompi_probe_locked(struct gompi_lane *l, uint64_t context, int32_t source, int32_t tag,
					 bool take) {
	struct gompi_queue *q = gompi_queue_of(&l->queues, context);
	if (q->unexpected.n == 0)
		return NULL;
	struct gompi_message *m = (struct gompi_message *)gompi_list_message(&q->unexpected, source, tag);
	if (m != NULL && take) {
		gompi_take_unexpected(l, q, m);
		gompi_list_add(&l->picked, &m->entry);
	}
	return m;
}

void gompi_receive_message(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m) {
	gompi_list_remove(&l->picked, &m->entry);
	deliver(l, r, m);
}

void gompi_wanted(struct gompi_lane *l, const struct gompi_record *h) {
	gompi_link_to(l, h->from)->reminders++;
	l->due = l->work != NULL;
}
