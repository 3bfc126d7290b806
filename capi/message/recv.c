// Receives: matches arriving messages with posted receives, and started receives with unexpected messages.
#include "message/messages.h"

#include <stdlib.h>

static void deliver(struct gompi_vci *l, struct gompi_request *r, struct gompi_message *m) {
	if (m->fetch != NULL) {
		m->receiver = r;
		r->matched = m;
		r->id = 0;
	} else if (m->rts || m->self_send != NULL) {
		gompi_start_rendezvous(l, r, m);
	} else {
		gompi_deliver_unexpected(l, r, m);
	}
}

void gompi_receive_locked(struct gompi_vci *l, struct gompi_request *r) {
	struct gompi_queue *q = gompi_queue_of(&l->queues, r->context);
	if (q->unexpected.count > 0) {
		struct gompi_message *m =
			(struct gompi_message *)gompi_list_find_message(&q->unexpected, r->peer, r->tag);
		if (m != NULL) {
			gompi_remove_unexpected(l, q, m);
			deliver(l, r, m);
			return;
		}
	}
	r->entry = (struct gompi_entry){.source = r->peer, .tag = r->tag};
	r->posted = true;
	gompi_list_add(&q->posted, &r->entry);
}

// Frees the queue if its communicator has been freed and no receive is posted.
static void free_closed_queue(struct gompi_vci *l, struct gompi_queue *q) {
	if (__builtin_expect(q->is_closing, 0) && q->posted.count == 0)
		gompi_queue_free(&l->queues, q);
}

static inline void unpost_from(struct gompi_vci *l, struct gompi_queue *q, struct gompi_request *r) {
	gompi_list_remove(&q->posted, &r->entry);
	r->posted = false;
	r->matched = NULL;
	r->id = 0;
	free_closed_queue(l, q);
}

void gompi_unpost_receive(struct gompi_vci *l, struct gompi_request *r) {
	unpost_from(l, gompi_queue_of(&l->queues, r->context), r);
}

// Stores the region (remote key) of a message's data, which is the payload of the record. Ignores a payload of another
// length, and records from this node, where no sender registers a region.
static void store_region(struct gompi_message *m, const char *payload, int64_t length) {
	if (length != sizeof m->region || gompi_messages_node_index(m->vci->messages, m->from) >= 0)
		return;
	memcpy(&m->region, payload, sizeof m->region);
	m->region_is_valid = m->region.key != 0;
}

static void fill_message(struct gompi_message *m, const struct gompi_record *h, const char *payload, int64_t length) {
	unsigned flags = gompi_record_flags(h->word);
	m->entry.source = h->source;
	m->entry.tag = h->tag;
	m->from = h->from;
	m->size = (int64_t)h->size;
	m->answer_rings_doorbell = (flags & RECORD_DOORBELL) != 0;
	if (gompi_record_kind(h->word) == RECORD_EAGER) {
		if (flags & RECORD_SYNC)
			m->id = h->id;
		if (gompi_message_reserve(m, length))
			gompi_copy_small(m->data, payload, (uint64_t)length);
		return;
	}
	m->rts = true;
	m->id = h->id;
	m->sender_waits = (flags & RECORD_SENDER_WAITS) != 0;
	m->reminders_seen = gompi_link_to(m->vci, m->from)->reminders_received;
	int64_t n = length / (int64_t)sizeof m->single_segment, left_bytes = m->size;
	if (flags & RECORD_REGION)
		store_region(m, payload, length);
	if ((flags & RECORD_SEGMENTS) == 0 || n == 0 || n > GOMPI_SEGMENTS ||
	    n * (int64_t)sizeof m->single_segment != length)
		return;
	struct iovec *segment = n == 1 ? &m->single_segment : malloc((size_t)n * sizeof *segment);
	if (segment == NULL)
		return; // without segments, the receiver requests the data in fragments
	gompi_copy_small(segment, payload, (uint64_t)length);
	for (int64_t i = 0; i < n; i++) {
		int64_t bytes = (int64_t)segment[i].iov_len;
		left_bytes = bytes <= 0 || bytes > left_bytes ? -1 : left_bytes - bytes;
		if (left_bytes < 0)
			break;
	}
	if (left_bytes == 0) {
		m->segment = segment;
		m->segment_count = (int16_t)n;
	} else if (segment != &m->single_segment) {
		free(segment);
	}
}

void gompi_handle_message(struct gompi_vci *l, const struct gompi_record *h, const char *payload) {
	bool rts = gompi_record_kind(h->word) == RECORD_RTS;
	int64_t length = gompi_record_data_size(gompi_record_length(h->word));
	if ((!rts && (uint64_t)length != h->size) || (int64_t)h->size < 0 || h->tag < 0 || h->source < 0 ||
	    gompi_vci_of(l->messages, h->context) != l)
		return;
	struct gompi_queue *q = gompi_queue_of(&l->queues, h->context);
	struct gompi_entry *e = q->posted.count > 0 ? gompi_list_find_receive(&q->posted, h->source, h->tag) : NULL;
	if (e != NULL) {
		struct gompi_request *r = (struct gompi_request *)e;
		unpost_from(l, q, r);
		if (!rts) {
			gompi_receive_data(l, r, h->source, h->tag, payload, length);
			unsigned flags = gompi_record_flags(h->word);
			if (__builtin_expect(flags & RECORD_SYNC, 0))
				gompi_send_answer(l, h->from, RECORD_ACK, h->id, (flags & RECORD_DOORBELL) != 0,
						  MPI_SUCCESS);
			return;
		}
		struct gompi_message *m = gompi_message_alloc(l);
		fill_message(m, h, payload, length);
		gompi_start_rendezvous(l, r, m);
		return;
	}
	struct gompi_message *m = gompi_message_alloc(l);
	fill_message(m, h, payload, length);
	gompi_add_unexpected(l, q, m);
}

// Maximum number of polls for a chunk. The sender needs less than a microsecond to write one.
enum { MAX_CHUNK_POLLS = 64 };

// Returns true if the record h is an eager message without acknowledgement that matches the posted receive r.
static bool matches(struct gompi_vci *l, const struct gompi_request *r, const struct gompi_record *h) {
	if (h->word != gompi_record_word(RECORD_EAGER, 0, gompi_record_length(h->word)) || h->tag < 0 ||
	    h->source < 0 || h->context != r->context || !r->posted ||
	    gompi_messages_node_index(l->messages, h->from) < 0 ||
	    (uint64_t)gompi_record_data_size(gompi_record_length(h->word)) != h->size)
		return false;
	struct gompi_queue *q = gompi_queue_of(&l->queues, h->context);
	return gompi_list_find_receive(&q->posted, h->source, h->tag) == &r->entry;
}

// Copies the chunks of the next record to the buffer of r, and stores the record's fixed part in *h. Returns true if
// the whole record has been copied. Returns false if the record does not match r. Also returns false if the sender
// writes no chunk for some polls, because it may have been preempted or killed: the record is handled as usual later.
static bool copy_chunks(struct gompi_vci *l, const struct gompi_request *r, struct gompi_record *h) {
	const char *at = l->read_at;
	const uint64_t flag = l->flag_key + l->read_position;
	uint64_t interim = gompi_inbox_interim(at, flag);
	if (interim - 1 >= GOMPI_CACHE_LINE - 1)
		return false;
	memcpy(h, at, sizeof *h);
	if (gompi_inbox_is_damaged(l->inbox, h->word, at) || !matches(l, r, h) || r->buf.type != NULL ||
	    (int64_t)h->size > r->buf.size)
		return false;
	const char *payload = gompi_record_data((struct gompi_record *)(uintptr_t)at, (int64_t)h->size);
	int64_t done = 0;
	for (int polls = 0; polls < MAX_CHUNK_POLLS; polls++) {
		const int64_t written = interim == 0 ? (int64_t)h->size : (int64_t)(interim - 1) * INBOX_CHUNK_BYTES;
		if (written > (int64_t)h->size)
			return false; // no valid flag
		if (written > done) {
			gompi_copy_in(r->buf.at + done, payload + done, (uint64_t)(written - done));
			done = written;
			polls = 0;
		}
		if (interim == 0)
			return true;
		gompi_pause();
		interim = gompi_inbox_interim(at, flag);
	}
	return false;
}

void gompi_vci_receive_chunks(struct gompi_vci *l, struct gompi_request *r) {
	struct gompi_record h;
	if (!gompi_vci_trylock(l))
		return;
	if (gompi_load(&l->inbox_error) == 0 && copy_chunks(l, r, &h)) {
		gompi_vci_skip_record(l, h.word);
		gompi_unpost_receive(l, r);
		gompi_receive_copied(l, r, h.source, h.tag, (int64_t)h.size);
	}
	gompi_vci_unlock(l);
}

void gompi_message_extract(struct gompi_vci *l, uint64_t context, struct gompi_message *m) {
	gompi_remove_unexpected(l, gompi_queue_of(&l->queues, context), m);
	gompi_list_add(&l->extracted, &m->entry);
}

struct gompi_message *gompi_probe_locked(struct gompi_vci *l, uint64_t context, int32_t source, int32_t tag) {
	struct gompi_queue *q = gompi_queue_of(&l->queues, context);
	if (q->unexpected.count == 0)
		return NULL;
	return (struct gompi_message *)gompi_list_find_message(&q->unexpected, source, tag);
}

void gompi_receive_message(struct gompi_vci *l, struct gompi_request *r, struct gompi_message *m) {
	gompi_list_remove(&l->extracted, &m->entry);
	deliver(l, r, m);
}

void gompi_handle_reminder(struct gompi_vci *l, const struct gompi_record *h) {
	gompi_link_to(l, h->from)->reminders_received++;
	l->work_is_urgent = l->work != NULL;
}
