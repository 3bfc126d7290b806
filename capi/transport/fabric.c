// The transport to processes of other nodes, at the origin: streams of records (stream.h), and reads and writes of
// registered memory for large data that is contiguous on both sides.
#include "transport/transport.h"

#include "transport/ongoing.h"
#include "transport/stream_send.h"

_Static_assert(STREAM_DATA % 8 == 0 && STREAM_DATA < 1 << 16, "gompi_packet_write");

// --- Operations

// Returns the size of the data of a packet: enough for the whole operation, or the maximum. Non-contiguous data needs
// layout words in addition; the smaller its blocks, the more packets it needs.
static uint64_t message_room(const struct gompi_outgoing *o, const struct gompi_buffer *at) {
	uint64_t sides = o->kind == PACKET_COMPARE_AND_SWAP ? 2 : o->origin != NULL;
	uint64_t room = sides * (o->bytes < STREAM_DATA ? o->bytes : STREAM_DATA);
	if (o->pieces != NULL) {
		enum { GROUP = 4 * sizeof(int64_t), SOME = 8 * GROUP };
		uint64_t pieces = (uint64_t)at->count * (uint64_t)at->type->segments;
		uint64_t some = o->bytes < SOME ? SOME : o->bytes;
		room += 2 * sizeof(int64_t) + (pieces < some / GROUP ? pieces * GROUP : some);
	}
	room = (room + 7) & ~(uint64_t)7;
	return room < STREAM_DATA ? room : STREAM_DATA;
}

// Sends as much of o as one packet holds, and sets o->bytes to that. ongoing is the pending request that results belong
// to, or NULL. Returns 0 or an error class.
static int send_message(struct gompi_stream *s, struct gompi_outgoing *o, const struct gompi_buffer *at, int bits,
			struct gompi_ongoing *ongoing) {
	const char *call = o->operation->call;
	uint64_t room = message_room(o, at), taken = 0;
	int rc = MPI_SUCCESS;
	if (bits & RECORD_GIVES) {
		taken = gompi_stream_cost(o->bytes < STREAM_DATA ? o->bytes : STREAM_DATA);
		if ((rc = gompi_stream_take_room(s, taken, call)) != MPI_SUCCESS)
			return rc;
		// Asks for an acknowledgement each time a quarter of the results' credit has been used, so that a long
		// sequence of operations does not stall.
		if (gompi_add(&s->results_asked, taken) + taken >= STREAM_RESULTS / 4) {
			gompi_store(&s->results_asked, 0);
			bits |= RECORD_ASKS;
		}
	}
	if (!gompi_stream_may_leave(s, room))
		rc = gompi_stream_await_lock(s, call);
	struct gompi_packet *m = rc == MPI_SUCCESS ? gompi_stream_reserve(s, room, &rc) : NULL;
	if (m == NULL) {
		gompi_sub_total(&s->results_out, taken);
		return rc;
	}
	gompi_packet_write(m, s->w, o, room, STREAM_DATA);
	if (bits & RECORD_GIVES) {
		gompi_stream_expect(s, o->result, o->bytes, ongoing);
		gompi_sub_total(&s->results_out, taken - gompi_stream_cost(o->bytes));
	}
	gompi_stream_commit(s, m, bits);
	return MPI_SUCCESS;
}

// Sends an operation in as many packets as necessary. Waits for the result, unless stays: then the result may be
// written until the next flush.
static int send_operation(struct gompi_stream *s, struct gompi_outgoing *whole, const struct gompi_buffer *at,
			  bool stays) {
	int bits = RECORD_DUE | (whole->result != NULL ? RECORD_GIVES : 0);
	struct gompi_ongoing *ongoing = NULL;
	if (stays && whole->result != NULL && whole->operation->requests) {
		ongoing = gompi_ongoing_of(s->w, whole->operation);
		stays = ongoing != NULL;
	}
	for (uint64_t done = 0; done < whole->bytes;) {
		struct gompi_outgoing o = gompi_outgoing_rest(whole, done);
		int rc = send_message(s, &o, at, bits, ongoing);
		if (rc != MPI_SUCCESS)
			return rc;
		done += o.bytes;
	}
	if (!(gompi_load(&s->w->flush_more) & FLUSH_SENT))
		gompi_or(&s->w->flush_more, FLUSH_SENT);
	// In a dynamic window only the target knows which memory is attached. So the call waits, in order to return an
	// error; or a request reports it.
	if (s->w->attached == NULL ? stays || whole->result == NULL : ongoing != NULL)
		return MPI_SUCCESS;
	int rc = gompi_stream_ask_and_await(s, gompi_load(&s->due), whole->operation->call);
	return rc == MPI_SUCCESS ? gompi_stream_take_class(s) : rc;
}

bool gompi_put_short(struct gompi_win *w, int target, uint64_t offset, const void *origin, uint64_t bytes) {
	struct gompi_stream *s = gompi_stream_known(w, target);
	int class;
	if (s == NULL || gompi_stream_lacks_lock(s) || !(gompi_load(&w->flush_more) & FLUSH_SENT) ||
	    !gompi_stream_may_leave(s, bytes))
		return false;
	struct gompi_packet *m = gompi_stream_reserve(s, bytes, &class);
	if (m == NULL)
		return false;
	*m = (struct gompi_packet){.head.window = (uint32_t)w->handle,
				   .head.kind = PACKET_PUT,
				   .type = (uint16_t)(uintptr_t)MPI_BYTE,
				   .head.length = (uint16_t)bytes,
				   .offset = offset,
				   .bytes = bytes};
	gompi_copy_out(m->data, origin, bytes);
	gompi_stream_commit(s, m, RECORD_DUE);
	return true;
}

static int fabric_move(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
		       char *local, int64_t bytes) {
	gompi_takes(operation, MPIX_GOMPIRMA_NETWORK);
	struct gompi_stream *s = gompi_stream_of(w, operation->target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = gompi_stream_lock_first(s);
	if (rc != MPI_SUCCESS)
		return rc;
	bool put = operation->kind == RMA_PUT, contiguous = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	bool stays = put ? gompi_is_applications(operation, local, operation->origin, operation->origin_type)
			 : gompi_is_applications(operation, local, operation->result, operation->result_type);
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_move(operation, at, local, bytes);
	if (!contiguous)
		gompi_cursor_init(o.pieces = &cursor, at->type, at->count, GOMPI_BYTES);
	else if (w->remote[s->rank].region.key != 0 && gompi_transfer_pays((uint64_t)bytes))
		return gompi_stream_transfer(s, operation, o.offset, local, o.bytes, put, stays);
	return send_operation(s, &o, at, stays);
}

static int fabric_update(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
			 MPI_Datatype element, const char *origin, char *result) {
	gompi_takes(operation, MPIX_GOMPIRMA_NETWORK);
	struct gompi_stream *s = gompi_stream_of(w, operation->target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = gompi_stream_lock_first(s);
	if (rc != MPI_SUCCESS)
		return rc;
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_update(operation, at, element, origin, result);
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS))
		gompi_cursor_init(o.pieces = &cursor, at->type, at->count, GOMPI_ELEMENTS);
	bool stays =
		result != NULL && gompi_is_applications(operation, result, operation->result, operation->result_type);
	return send_operation(s, &o, at, stays);
}

// --- The ends of operations and epochs

// Returns the number of the last record that a flush must wait for; if local, only of those that return a result.
static uint64_t end_number(struct gompi_stream *s, bool local) { return gompi_load(local ? &s->due_here : &s->due); }

// Waits until target, or all streams (GOMPI_ALL), have reached their end_number. For the stream to the process follower
// it waits only for results.
static int end_streams(struct gompi_win *w, int target, bool local, int follower, const char *call) {
	struct gompi_stream *s;
	if (target != GOMPI_ALL) {
		s = gompi_stream_known(w, target);
		if (s == NULL)
			return MPI_SUCCESS;
		uint64_t number = end_number(s, local);
		int rc = gompi_stream_ask(s, number);
		return rc == MPI_SUCCESS ? gompi_stream_end(s, number, call) : rc;
	}
	int rc = MPI_SUCCESS;
	// asks all streams before it waits for the first answer
	for (s = gompi_stream_first(w); s != NULL; s = s->next) {
		int last = gompi_stream_ask(s, end_number(s, local || s->peer == follower));
		rc = rc == MPI_SUCCESS ? last : rc;
	}
	for (s = gompi_stream_first(w); s != NULL; s = s->next) {
		// Another thread may have sent more records since, without asking.
		uint64_t number = end_number(s, local || s->peer == follower), asked = gompi_load(&s->asked);
		// also after an error of another stream
		int last = gompi_stream_end(s, number < asked ? number : asked, call);
		rc = rc == MPI_SUCCESS ? last : rc;
	}
	return rc;
}

static int fabric_flush(struct gompi_win *w, int target, const char *call) {
	return end_streams(w, target, false, -1, call);
}

static int fabric_flush_local(struct gompi_win *w, int target, const char *call) {
	return end_streams(w, target, true, -1, call);
}

static int fabric_settle(struct gompi_win *w, int peer, const char *call) {
	return end_streams(w, GOMPI_ALL, false, peer, call);
}

static int fabric_post(struct gompi_win *w, int origin, const char *call) {
	struct gompi_stream *s = gompi_stream_of(w, origin);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	gompi_stream_posted(s);
	return MPI_SUCCESS;
}

// Sends the start record if no operation has done so. Limits the number of epochs that wait at the target for posts.
static int before_complete(struct gompi_stream *s, const char *call) {
	int rc = gompi_load_acquire(&s->has_lock) ? MPI_SUCCESS : gompi_stream_send_word(s, PACKET_START, false, 0);
	if (rc == MPI_SUCCESS && gompi_load_acquire(&s->done) < gompi_load(&s->locked) &&
	    gompi_add(&s->ahead, 2 * sizeof(struct gompi_packet)) > STREAM_AHEAD)
		rc = gompi_stream_await_lock(s, call);
	return rc;
}

static int fabric_complete(struct gompi_win *w, int target, const char *call) {
	struct gompi_stream *s = gompi_stream_of(w, target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = before_complete(s, call);
	gompi_store_release(&s->has_lock, 0);
	// The target applies records in order, so all operations come before the complete record. Transfers and results
	// are not ordered with it, so they must have completed first.
	if (rc == MPI_SUCCESS)
		rc = gompi_stream_await_transfers(s, call);
	if (rc != MPI_SUCCESS)
		return rc;
	uint64_t here = end_number(s, true);
	bool asks = gompi_load_acquire(&s->done) < here;
	rc = gompi_stream_send_word(s, PACKET_COMPLETE, false, asks ? RECORD_ASKS : 0);
	if (!asks)
		gompi_fabric_push(s->peer);
	return rc == MPI_SUCCESS ? gompi_stream_end(s, here, call) : rc;
}

const struct gompi_transport gompi_transport_fabric = {
	.name = "fabric",
	.move = fabric_move,
	.update = fabric_update,
	.flush = fabric_flush,
	.flush_local = fabric_flush_local,
	.settle = fabric_settle,
	.lock = gompi_stream_lock,
	.unlock = gompi_stream_unlock,
	.post = fabric_post,
	.complete = fabric_complete,
};
