// Output of records: into the receiver's inbox, or to the network.
#include "message/remote.h"

// Returns true if the peer on this node asks its senders to keep their data.
static bool congested(const struct gompi_link *p) { return gompi_load(&p->box->flow) == FLOW_KEEP; }

void gompi_publish(struct gompi_link *p, struct gompi_room room, uint64_t word, enum gompi_notice notice) {
	gompi_inbox_publish(room, word);
	gompi_wake(&p->cell->wait);
	if (__builtin_expect(notice == NOTICE_CALL, 0))
		gompi_doorbell(p->cell);
}

// Returns when the network must send the first record of a send: now if a thread is about to wait for it. Else a later
// wait flushes it.
static enum gompi_urgency urgency_of(const struct gompi_request *r) {
	return r->blocking || r->urgent ? FABRIC_NOW : FABRIC_PENDING;
}

static enum gompi_notice notice_of(const struct gompi_request *r) { return r->urgent ? NOTICE_CALL : NOTICE_QUIET; }

// Sends an eager record. Returns 0, MPI_ERR_PENDING if there is no space, or another error class if it can never be
// sent.
static inline __attribute__((always_inline)) int put_eager(struct gompi_link *p, const struct gompi_request *r,
							   uint64_t id, unsigned flags, bool remote) {
	int64_t n = gompi_record_size(r->buf.size);
	int class;
	struct gompi_room at = gompi_record_reserve(r->lane, p, n, remote, FABRIC_TRY, &class);
	struct gompi_record *room = at.record;
	if (__builtin_expect(room == NULL, 0))
		return class;
	room->context = r->context;
	room->source = r->source;
	room->tag = r->tag;
	room->from = r->lane->home->node.self;
	room->class = 0;
	room->size = (uint64_t)r->buf.size;
	room->id = id;
	gompi_buffer_pack(&r->buf, gompi_record_data(room, r->buf.size), 0, r->buf.size);
	gompi_record_send(p, at, gompi_record_word(RECORD_EAGER, flags, n), remote, urgency_of(r), notice_of(r));
	return MPI_SUCCESS;
}

bool gompi_eager(struct gompi_link *p, const struct gompi_request *r) {
	if (r->buf.size > RECORD_MOST_DATA || r->mode == MODE_SYNCHRONOUS || gompi_load(&p->waiting) != 0 ||
	    congested(p))
		return false;
	return put_eager(p, r, 0, 0, false) == MPI_SUCCESS;
}

bool gompi_eager_remote(struct gompi_link *p, const struct gompi_request *r) {
	return r->buf.size <= REMOTE_MOST_DATA && r->mode != MODE_SYNCHRONOUS && gompi_load(&p->waiting) == 0 &&
	       gompi_load(&p->keep) == FLOW_ALONG && put_eager(p, r, 0, 0, true) == MPI_SUCCESS;
}

// Returns RECORD_CALL if not only a thread that waits for it depends on the completion of this send, but a plan that
// contains it, or later buffered sends.
static unsigned call_flag(const struct gompi_request *r) {
	return r->urgent || r->mode == MODE_BUFFERED ? RECORD_CALL : 0;
}

// Copies the fixed part of a record except its seal and its word.
static void copy_fixed(struct gompi_record *to, const struct gompi_record *from) {
	const size_t skipped = offsetof(struct gompi_record, context);
	memcpy((char *)to + skipped, (const char *)from + skipped, sizeof *to - skipped);
}

// Announces a message with RECORD_RTS, and where its data is if the receiver can read it. Returns 0 or an error class
// like put_eager.
static int put_rts(struct gompi_lane *l, struct gompi_link *p, const struct gompi_record *h, struct gompi_request *r,
		   bool remote) {
	struct iovec where[GOMPI_SEGMENTS + 1];
	const void *data = where;
	size_t length = 0;
	unsigned flags = call_flag(r);
	if (remote && gompi_remote_register(r)) {
		flags |= RECORD_REGION;
		data = &r->region;
		length = sizeof r->region;
	} else if (!remote) {
		flags |= r->blocking ? RECORD_WAIT : 0;
		int n = l->home->no_cma || r->buf.size == 0 ? 0
							    : gompi_buffer_runs(&r->buf, 0, where, GOMPI_SEGMENTS + 1);
		if (n > 0 && n <= GOMPI_SEGMENTS) {
			flags |= RECORD_ADDR;
			length = (size_t)n * sizeof where[0];
		}
	}
	int64_t size = gompi_record_size((int64_t)length);
	int class;
	struct gompi_room room = gompi_record_reserve(l, p, size, remote, FABRIC_TRY, &class);
	if (room.record == NULL)
		return class;
	copy_fixed(room.record, h);
	gompi_copy_few(gompi_record_data(room.record, (int64_t)length), data, length);
	gompi_record_send(p, room, gompi_record_word(RECORD_RTS, flags, size), remote, urgency_of(r), notice_of(r));
	return MPI_SUCCESS;
}

// Sends a record without data. An answer to a record from another node needs no space there.
static int put_fixed(struct gompi_lane *l, struct gompi_link *p, const struct gompi_pending *w,
		     enum gompi_record_kind kind, bool remote) {
	int class;
	struct gompi_room room = gompi_record_reserve(
		l, p, RECORD_SIZE, remote, gompi_record_is_answer(kind) ? FABRIC_ANSWER : FABRIC_TRY, &class);
	if (room.record == NULL) // a record is retried, never dropped, if out of memory
		return class == MPI_ERR_NO_MEM ? MPI_ERR_PENDING : class;
	copy_fixed(room.record, &w->record);
	uint64_t word = gompi_record_word(kind, gompi_record_flags(w->record.word), RECORD_SIZE);
	gompi_record_send(p, room, word, remote, FABRIC_NOW, w->notice);
	return MPI_SUCCESS;
}

void gompi_send_finish(struct gompi_lane *l, struct gompi_request *r, int class) {
	if (r->id != 0) {
		gompi_number_remove(&l->sends, r->id);
		r->to->unanswered--;
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
		gompi_send_number(l, r); // flow control: the data stays here after all
		w->record.id = r->id;
		w->record.word = gompi_record_word(kind = RECORD_RTS, 0, 0);
	}
	if (kind == RECORD_EAGER) {
		unsigned flags = r->id != 0 ? RECORD_SYNC | call_flag(r) : 0;
		class = put_eager(p, r, r->id, flags, remote);
		if (class == MPI_SUCCESS && flags == 0)
			gompi_send_finish(l, r, MPI_SUCCESS);
	} else if (kind == RECORD_RTS) {
		class = put_rts(l, p, &w->record, r, remote);
	} else {
		class = put_fixed(l, p, w, kind, remote);
	}
	if (__builtin_expect(class == MPI_ERR_PENDING, 0))
		return false;
	if (__builtin_expect(class != MPI_SUCCESS && r != NULL, 0))
		gompi_send_finish(l, r, class);
	return true;
}
