// Records on their way out: written into the receiver's inbox, or for the network.
#include "message/remote.h"

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

// When the first record of a send leaves: what somebody is about to wait for does at once. The waits for others push.
static enum gompi_urgency urgency_of(const struct gompi_request *r) {
	return r->blocking || r->urgent ? FABRIC_NOW : FABRIC_PENDING;
}

// The same to another node. 0; MPI_ERR_PENDING: there is no room; another class: it can never be sent.
static int put_eager_remote(struct gompi_link *p, const struct gompi_request *r, uint64_t id, unsigned flags) {
	int64_t n = gompi_record_size(r->buf.size);
	int class;
	struct gompi_room at = gompi_remote_reserve(r->lane, p, n, FABRIC_TRY, &class);
	if (at.record == NULL)
		return class;
	write_eager(at.record, r, id);
	gompi_remote_send(p, at, gompi_record_word(RECORD_EAGER, flags, n), urgency_of(r));
	return MPI_SUCCESS;
}

bool gompi_eager(struct gompi_link *p, const struct gompi_request *r) {
	if (r->buf.size > RECORD_MOST_DATA || r->mode == MODE_SYNCHRONOUS || gompi_load(&p->waiting) != 0 ||
	    congested(p))
		return false;
	return put_eager(p, r, 0, 0);
}

bool gompi_eager_remote(struct gompi_link *p, const struct gompi_request *r) {
	return r->buf.size <= REMOTE_MOST_DATA && r->mode != MODE_SYNCHRONOUS && gompi_load(&p->waiting) == 0 &&
	       gompi_load(&p->keep) == FLOW_ALONG && put_eager_remote(p, r, 0, 0) == MPI_SUCCESS;
}

// RECORD_CALL if somebody other than a thread that waits for it depends on the end of this send: an operation that it
// is a step of, or the next buffered sends.
static unsigned call_flag(const struct gompi_request *r) {
	return r->urgent || r->mode == MODE_BUFFERED ? RECORD_CALL : 0;
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
static int put_rts_remote(struct gompi_lane *l, struct gompi_link *p, const struct gompi_record *h,
			  struct gompi_request *r) {
	unsigned flags = call_flag(r);
	int64_t data = 0;
	if (gompi_remote_register(r)) {
		flags |= RECORD_REGION;
		data = sizeof r->region;
	}
	int64_t size = gompi_record_size(data);
	int class;
	struct gompi_room room = gompi_remote_reserve(l, p, size, FABRIC_TRY, &class);
	if (room.record == NULL)
		return class;
	copy_fixed(room.record, h);
	if (data > 0)
		memcpy(gompi_record_data(room.record, data), &r->region, (size_t)data);
	gompi_remote_send(p, room, gompi_record_word(RECORD_RTS, flags, size), urgency_of(r));
	return MPI_SUCCESS;
}

// Sends a record without data. An answer to what a process on another node has sent needs no room there.
static int put_fixed(struct gompi_lane *l, struct gompi_link *p, const struct gompi_pending *w,
		     enum gompi_record_kind kind) {
	int class = MPI_ERR_PENDING;
	struct gompi_room room =
		gompi_is_remote(p)
			? gompi_remote_reserve(l, p, RECORD_SIZE,
					       gompi_record_is_answer(kind) ? FABRIC_ANSWER : FABRIC_TRY, &class)
			: gompi_inbox_reserve(p->box, &p->head, RECORD_SIZE);
	if (room.record == NULL) // none is given up for want of memory
		return class == MPI_ERR_NO_MEM ? MPI_ERR_PENDING : class;
	copy_fixed(room.record, &w->record);
	uint64_t word = gompi_record_word(kind, gompi_record_flags(w->record.word), RECORD_SIZE);
	if (gompi_is_remote(p))
		gompi_remote_send(p, room, word, FABRIC_NOW);
	else
		gompi_publish(p, room, word, w->notice);
	return MPI_SUCCESS;
}

void gompi_send_finish(struct gompi_lane *l, struct gompi_request *r, int class) {
	if (r->id != 0) {
		gompi_number_remove(&l->sends, r->id);
		r->id = 0;
		if (__builtin_expect(r->registered, 0))
			gompi_remote_unregister(r);
	}
	gompi_complete(l, r, class);
}

bool gompi_put_record(struct gompi_lane *l, struct gompi_link *p, struct gompi_pending *w) {
	struct gompi_request *r = w->send;
	enum gompi_record_kind kind = gompi_record_kind(w->record.word);
	bool remote = gompi_is_remote(p);
	int class;
	if (kind == RECORD_EAGER && (remote ? gompi_load(&p->keep) == FLOW_KEEP : congested(p))) {
		gompi_send_number(l, r); // the data stays here, after all
		w->record.id = r->id;
		w->record.word = gompi_record_word(kind = RECORD_RTS, 0, 0);
	}
	if (kind == RECORD_EAGER) {
		unsigned flags = r->id != 0 ? RECORD_SYNC | call_flag(r) : 0;
		class = remote                          ? put_eager_remote(p, r, r->id, flags)
			: put_eager(p, r, r->id, flags) ? MPI_SUCCESS
							: MPI_ERR_PENDING;
		if (class == MPI_SUCCESS && flags == 0)
			gompi_send_finish(l, r, MPI_SUCCESS);
	} else if (kind == RECORD_RTS) {
		class = remote ? put_rts_remote(l, p, &w->record, r) : put_rts(l, p, &w->record, r);
	} else {
		class = put_fixed(l, p, w, kind);
	}
	if (__builtin_expect(class == MPI_ERR_PENDING, 0))
		return false;
	if (__builtin_expect(class != MPI_SUCCESS && r != NULL, 0))
		gompi_send_finish(l, r, class);
	return true;
}
