// Receiving: a message that has come finds its receive, or the other way round.
#include "message/away.h"

#include <stdlib.h>

// Unexpected messages of a lane may take up so many bytes before other processes are asked to keep theirs, and those
// when they need no longer.
enum {
	CONGESTED_FROM = 32 << 20,
	CONGESTED_UNTIL = 16 << 20,
	ENTRY_COST = 256,     // what an unexpected message costs besides its data
	SPARES = 256,         // messages that are kept for the next ones
	SPARE_ROOM = 1 << 20, // bytes that stay with all of them
	LEAST_ROOM = 64,
};

void gompi_receive_locked(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_queue *q = gompi_queue_of(&l->queues, r->context);
	if (q->unexpected.n > 0) {
		struct gompi_message *m = (struct gompi_message *)gompi_list_message(&q->unexpected, r->peer, r->tag);
		if (m != NULL) {
			gompi_take_unexpected(l, q, m);
			gompi_deliver(l, r, m);
			return;
		}
	}
	r->entry = (struct gompi_entry){.source = r->peer, .tag = r->tag};
	r->posted = true;
	gompi_list_add(&q->posted, &r->entry);
}

// Drops a queue whose communicator is freed once nothing can match any longer.
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

// Completes r with a message whose data is here.
static inline void take_data(struct gompi_lane *l, struct gompi_request *r, int32_t source, int32_t tag,
			     const char *data, int64_t size) {
	int64_t n = size < r->buf.size ? size : r->buf.size;
	gompi_buffer_unpack(&r->buf, 0, data, n);
	r->full = (uint64_t)size;
	r->result.source = source;
	r->result.tag = tag;
	r->result.cancelled = false;
	r->result.bytes = n;
	gompi_complete(l, r, gompi_truncated(r, size));
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
		gompi_message_room(m, length);
		gompi_copy_small(m->data, payload, length);
		return;
	}
	m->rts = true;
	m->id = h->id;
	m->waits = (flags & RECORD_WAIT) != 0;
	int64_t n = length / (int64_t)sizeof m->one, left = m->size;
	if (flags & RECORD_REGION)
		gompi_away_region(m, payload, length);
	if ((flags & RECORD_ADDR) == 0 || n == 0 || n > GOMPI_SEGMENTS || n * (int64_t)sizeof m->one != length)
		return;
	struct iovec *where = n == 1 ? &m->one : gompi_must_have((size_t)n * sizeof *where);
	memcpy(where, payload, (size_t)length);
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
			take_data(l, r, h->source, h->tag, payload, length);
			unsigned flags = gompi_record_flags(h->word);
			if (__builtin_expect(flags & RECORD_SYNC, 0))
				gompi_acknowledge(l, h->from, h->id, (flags & RECORD_CALL) != 0, MPI_SUCCESS);
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

static void ask_flow(struct gompi_lane *l, enum gompi_flow f) {
	l->flow = f;
	gompi_store_total(&l->box->flow, f);
	if (f == FLOW_ALONG)
		gompi_away_go_along(l);
}

// Bytes of data that a message holds here.
static int64_t holds(const struct gompi_message *m) { return m->rts || m->local != NULL ? 0 : m->size; }

void gompi_keep_unexpected(struct gompi_lane *l, struct gompi_queue *q, struct gompi_message *m) {
	gompi_list_add(&q->unexpected, &m->entry);
	l->held += holds(m) + ENTRY_COST;
	if (l->flow == FLOW_ALONG && l->held > CONGESTED_FROM)
		ask_flow(l, FLOW_KEEP);
	gompi_store(&l->kept, gompi_load(&l->kept) + 1);
	gompi_add_total(&l->arrived, 1);
	l->completed = true; // somebody may probe
}

void gompi_take_unexpected(struct gompi_lane *l, struct gompi_queue *q, struct gompi_message *m) {
	gompi_list_remove(&q->unexpected, &m->entry);
	gompi_store(&l->kept, gompi_load(&l->kept) - 1);
	l->held -= holds(m) + ENTRY_COST;
	if (l->flow == FLOW_KEEP && l->held < CONGESTED_UNTIL)
		ask_flow(l, FLOW_ALONG);
}

struct gompi_message *gompi_message_take(struct gompi_lane *l) {
	struct gompi_message *m = l->spare;
	if (m != NULL) {
		l->spare = m->next;
		l->spares--;
		l->spare_room -= m->room;
		struct gompi_message kept = {.data = m->data, .room = m->room, .more = m->more, .lane = l};
		*m = kept;
		return m;
	}
	m = gompi_must_have(sizeof *m);
	gompi_lane_made(l);
	m->lane = l;
	return m;
}

void gompi_message_give(struct gompi_lane *l, struct gompi_message *m) {
	if (m->where != NULL && m->where != &m->one)
		free(m->where);
	m->where = NULL;
	if (l->spare_room + m->room > SPARE_ROOM) {
		free(m->data);
		m->data = NULL;
		m->room = 0;
	}
	if (l->spares == SPARES) {
		free(m->data);
		free(m->more);
		free(m);
		gompi_lane_freed(l);
		return;
	}
	m->next = l->spare;
	l->spare = m;
	l->spares++;
	l->spare_room += m->room;
}

void gompi_message_room(struct gompi_message *m, int64_t n) {
	if (n <= m->room)
		return;
	free(m->data);
	m->room = n < LEAST_ROOM ? LEAST_ROOM : n;
	m->data = malloc((size_t)m->room);
	if (m->data == NULL)
		gompi_no_memory((size_t)m->room);
}

void gompi_deliver(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m) {
	if (m->fetch != NULL) {
		m->receiver = r;
		r->matched = m;
		r->id = 0;
		return;
	}
	if (m->rts || m->local != NULL) {
		gompi_rendezvous(l, r, m);
		return;
	}
	if (m->failed != MPI_SUCCESS) {
		r->result = (struct gompi_result){.source = m->entry.source, .tag = m->entry.tag};
		gompi_complete(l, r, m->failed);
	} else {
		take_data(l, r, m->entry.source, m->entry.tag, m->data, m->size);
	}
	if (m->id != 0)
		gompi_acknowledge(l, m->from, m->id, m->call, MPI_SUCCESS);
	gompi_message_give(l, m);
}

// Tells the sender of a message that it is matched, or that its data has been taken, or could not be; call says that
// its process is to look at once. Else who waits for an acknowledgement looks by itself.
void gompi_acknowledge(struct gompi_lane *l, int32_t to, uint64_t id, bool call, int class) {
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(RECORD_ACK, 0, 0),
			   .from = l->home->node.self,
			   .id = id,
			   .class = class},
		.notice = call ? NOTICE_CALL : NOTICE_QUIET,
	};
	gompi_post(l, gompi_link_to(l, to), &w);
}
