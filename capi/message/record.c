// Output of records: into the receiver's inbox, or to the network.
#include "message/remote.h"

// Returns true if the peer, which is on this node, asks its senders to keep their data.
static bool wants_rendezvous(const struct gompi_link *p) { return gompi_load(&p->inbox->flow) == FLOW_RENDEZVOUS; }

void gompi_record_publish(struct gompi_link *p, struct gompi_reservation space, uint64_t word,
			  enum gompi_notify_mode mode) {
	gompi_inbox_publish(space, word);
	gompi_wake(&p->cell->wait);
	if (__builtin_expect(mode == NOTIFY_DOORBELL, 0))
		gompi_cell_ring_doorbell(p->cell);
}

// Returns the urgency of the first record of a send: FABRIC_NOW if a thread is about to wait for the send. Otherwise
// the network may hold the record until a later wait flushes it.
static enum gompi_urgency urgency_of(const struct gompi_request *r) {
	return r->blocking || r->urgent ? FABRIC_NOW : FABRIC_PENDING;
}

static enum gompi_notify_mode notice_of(const struct gompi_request *r) {
	return r->urgent ? NOTIFY_DOORBELL : NOTIFY_WAITERS;
}

// Writes the payload of an eager record in chunks, and publishes each of them. The caller then publishes the record.
static void write_chunks(struct gompi_reservation space, const char *from, int64_t bytes, uint64_t word) {
	char *to = gompi_record_data(space.record, bytes);
	for (int64_t done = 0; done < bytes; done += INBOX_CHUNK_BYTES) {
		gompi_inbox_publish_interim(space, word, (int)(done / INBOX_CHUNK_BYTES));
		const int64_t n = gompi_min_i64(bytes - done, INBOX_CHUNK_BYTES);
		if (n < GOMPI_BYPASS_DISTANT_BYTES)
			gompi_copy_out(to + done, from + done, (uint64_t)n);
		else
			gompi_copy_out_long(to + done, from + done, (uint64_t)n, true);
	}
}

// Sends an eager record. Returns 0, MPI_ERR_PENDING if there is no space, or another error class if the record can
// never be sent.
static inline __attribute__((always_inline)) int send_eager_record(struct gompi_link *p, const struct gompi_request *r,
								   uint64_t id, unsigned flags, bool remote,
								   bool chunks) {
	int64_t n = gompi_record_size(r->buf.size);
	int class;
	struct gompi_reservation space = gompi_record_reserve(r->vci, p, n, remote, FABRIC_TRY, &class);
	struct gompi_record *h = space.record;
	if (__builtin_expect(h == NULL, 0))
		return class;
	h->context = r->context;
	h->source = r->source;
	h->tag = r->tag;
	h->from = r->vci->messages->node.self;
	h->class = 0;
	h->size = (uint64_t)r->buf.size;
	h->id = id;
	const uint64_t word = gompi_record_word(RECORD_EAGER, flags, n);
	if (chunks)
		write_chunks(space, r->buf.at, r->buf.size, word);
	else if (!remote)
		gompi_buffer_pack_stream(&r->buf, gompi_record_data(h, r->buf.size), 0, r->buf.size);
	else
		gompi_buffer_pack(&r->buf, gompi_record_data(h, r->buf.size), 0, r->buf.size);
	gompi_record_commit(p, space, word, remote, urgency_of(r), notice_of(r));
	return MPI_SUCCESS;
}

static inline bool may_be_eager(const struct gompi_link *p, const struct gompi_request *r) {
	return r->buf.size <= RECORD_MAX_DATA && r->mode != MODE_SYNCHRONOUS && gompi_load(&p->pending_count) == 0 &&
	       !wants_rendezvous(p);
}

bool gompi_try_eager(struct gompi_link *p, const struct gompi_request *r) {
	return may_be_eager(p, r) && send_eager_record(p, r, 0, 0, false, false) == MPI_SUCCESS;
}

bool gompi_try_eager_chunks(struct gompi_link *p, const struct gompi_request *r) {
	return may_be_eager(p, r) && send_eager_record(p, r, 0, 0, false, true) == MPI_SUCCESS;
}

bool gompi_try_eager_remote(struct gompi_link *p, const struct gompi_request *r) {
	return r->buf.size <= REMOTE_MAX_DATA && r->mode != MODE_SYNCHRONOUS && gompi_load(&p->pending_count) == 0 &&
	       gompi_load(&p->flow) == FLOW_EAGER && send_eager_record(p, r, 0, 0, true, false) == MPI_SUCCESS;
}

// Returns RECORD_DOORBELL if a plan or later buffered sends depend on the completion of this send. Otherwise returns 0:
// at most a waiting thread depends on it, and this thread finds the acknowledgement by polling.
static unsigned doorbell_flag(const struct gompi_request *r) {
	return r->urgent || r->mode == MODE_BUFFERED ? RECORD_DOORBELL : 0;
}

// Copies the fixed part of a record except its valid flag and its word.
static void copy_fixed(struct gompi_record *to, const struct gompi_record *from) {
	const size_t first_offset = offsetof(struct gompi_record, context);
	memcpy((char *)to + first_offset, (const char *)from + first_offset, sizeof *to - first_offset);
}

// Announces a message by RECORD_RTS. If the receiver can read the data, the record contains the location of the data.
// Returns as send_eager_record does.
static int send_rts_record(struct gompi_vci *l, struct gompi_link *p, const struct gompi_record *h,
			   struct gompi_request *r, bool remote) {
	struct iovec segments[GOMPI_SEGMENTS + 1];
	const void *data = segments;
	size_t length = 0;
	unsigned flags = doorbell_flag(r);
	if (remote && gompi_remote_register(r)) {
		flags |= RECORD_REGION;
		data = &r->region;
		length = sizeof r->region;
	} else if (!remote) {
		flags |= r->blocking ? RECORD_SENDER_WAITS : 0;
		int n = l->messages->no_cma || r->buf.size == 0
				? 0
				: gompi_buffer_runs(&r->buf, 0, segments, GOMPI_SEGMENTS + 1);
		if (n > 0 && n <= GOMPI_SEGMENTS) {
			flags |= RECORD_SEGMENTS;
			length = (size_t)n * sizeof segments[0];
		}
	}
	int64_t size = gompi_record_size((int64_t)length);
	int class;
	struct gompi_reservation space = gompi_record_reserve(l, p, size, remote, FABRIC_TRY, &class);
	if (space.record == NULL)
		return class;
	copy_fixed(space.record, h);
	gompi_copy_small(gompi_record_data(space.record, (int64_t)length), data, length);
	gompi_record_commit(p, space, gompi_record_word(RECORD_RTS, flags, size), remote, urgency_of(r), notice_of(r));
	return MPI_SUCCESS;
}

// Sends a record without data. If the record is an answer to another node, it never lacks space.
static int send_fixed_record(struct gompi_vci *l, struct gompi_link *p, const struct gompi_pending *w,
			     enum gompi_record_kind kind, bool remote) {
	int class;
	struct gompi_reservation space = gompi_record_reserve(
		l, p, RECORD_SIZE, remote, gompi_record_is_answer(kind) ? FABRIC_ANSWER : FABRIC_TRY, &class);
	if (space.record == NULL) // if out of memory, the caller keeps the record and tries again later
		return class == MPI_ERR_NO_MEM ? MPI_ERR_PENDING : class;
	copy_fixed(space.record, &w->record);
	uint64_t word = gompi_record_word(kind, gompi_record_flags(w->record.word), RECORD_SIZE);
	gompi_record_commit(p, space, word, remote, FABRIC_NOW, w->notify);
	return MPI_SUCCESS;
}

void gompi_send_complete(struct gompi_vci *l, struct gompi_request *r, int class) {
	if (r->id != 0) {
		gompi_id_remove(&l->send_ids, r->id);
		r->peer_link->unacked_sends--;
		r->id = 0;
		if (__builtin_expect(r->registered, 0))
			gompi_remote_unregister(r);
	}
	gompi_complete(l, r, class);
}

bool gompi_pending_try_send(struct gompi_vci *l, struct gompi_link *p, struct gompi_pending *w) {
	struct gompi_request *r = w->send;
	enum gompi_record_kind kind = gompi_record_kind(w->record.word);
	bool remote = gompi_is_remote(p);
	int class;
	if (kind == RECORD_EAGER && (remote ? gompi_load(&p->flow) == FLOW_RENDEZVOUS : wants_rendezvous(p))) {
		gompi_send_assign_id(l, r); // the peer has requested FLOW_RENDEZVOUS: the data stays in this process
		w->record.id = r->id;
		w->record.word = gompi_record_word(kind = RECORD_RTS, 0, 0);
	}
	if (kind == RECORD_EAGER) {
		unsigned flags = r->id != 0 ? RECORD_SYNC | doorbell_flag(r) : 0;
		class = send_eager_record(p, r, r->id, flags, remote, false);
		if (class == MPI_SUCCESS && flags == 0)
			gompi_send_complete(l, r, MPI_SUCCESS);
	} else if (kind == RECORD_RTS) {
		class = send_rts_record(l, p, &w->record, r, remote);
	} else {
		class = send_fixed_record(l, p, w, kind, remote);
	}
	if (__builtin_expect(class == MPI_ERR_PENDING, 0))
		return false;
	if (__builtin_expect(class != MPI_SUCCESS && r != NULL, 0))
		gompi_send_complete(l, r, class);
	return true;
}
