// The transport to processes of other nodes, at the origin. It sends operations as records of streams (stream.h). Large
// puts and gets that are contiguous at the origin and at the target read and write registered memory instead.
#include "transport/transport.h"

#include "transport/rma_request.h"
#include "transport/stream_origin.h"

_Static_assert(STREAM_DATA_BYTES % 8 == 0 && STREAM_DATA_BYTES < 1 << 16, "gompi_packet_write");

// --- Operations

// Returns the bytes to reserve for the data of a packet: enough for the whole operation, or the maximum. Non-contiguous
// data also needs layout words (layout.h): at most GROUP bytes for each segment. This estimate is limited to the size
// of the data, or to SOME bytes if the data is smaller. For small blocks the limit is too low, and the operation takes
// more packets.
static uint64_t packet_data_bytes(const struct gompi_outgoing *o, const struct gompi_buffer *at) {
	uint64_t sides = o->kind == PACKET_COMPARE_AND_SWAP ? 2 : o->origin != NULL;
	uint64_t bytes = sides * (o->bytes < STREAM_DATA_BYTES ? o->bytes : STREAM_DATA_BYTES);
	if (o->cursor != NULL) {
		enum { GROUP = 4 * sizeof(int64_t), SOME = 8 * GROUP };
		uint64_t segments = (uint64_t)at->count * (uint64_t)at->type->segments;
		uint64_t min_layout_bytes = o->bytes < SOME ? SOME : o->bytes;
		bytes += 2 * sizeof(int64_t) +
			 (segments < min_layout_bytes / GROUP ? segments * GROUP : min_layout_bytes);
	}
	bytes = (bytes + 7) & ~(uint64_t)7;
	return bytes < STREAM_DATA_BYTES ? bytes : STREAM_DATA_BYTES;
}

// Sends as much of o as one packet holds, and sets o->bytes to the bytes sent. The argument `at` is the target's
// buffer, and `bits` holds RECORD_ flags. The argument rma_request is the pending request to which the result belongs,
// or NULL. Returns 0 or an error class.
static int send_packet(struct gompi_stream *s, struct gompi_outgoing *o, const struct gompi_buffer *at, int bits,
		       struct gompi_rma_request *rma_request) {
	const char *call = o->operation->call;
	uint64_t data_bytes = packet_data_bytes(o, at), credits = 0;
	int rc = MPI_SUCCESS;
	if (bits & RECORD_RETURNS_DATA) {
		credits = gompi_stream_result_cost(o->bytes < STREAM_DATA_BYTES ? o->bytes : STREAM_DATA_BYTES);
		if ((rc = gompi_stream_reserve_credit(s, credits, call)) != MPI_SUCCESS)
			return rc;
		// Request an acknowledgement each time a quarter of the results' credit has been used, so that a long
		// sequence of operations does not stall.
		if (gompi_add(&s->results_since_ask, credits) + credits >= STREAM_RESULT_CREDITS / 4) {
			gompi_store(&s->results_since_ask, 0);
			bits |= RECORD_WANTS_ANSWER;
		}
	}
	if (!gompi_stream_has_credit(s, data_bytes))
		rc = gompi_stream_await_lock(s, call);
	struct gompi_packet *m = rc == MPI_SUCCESS ? gompi_stream_reserve(s, data_bytes, &rc) : NULL;
	if (m == NULL) {
		gompi_sub_seq_cst(&s->result_credits_used, credits);
		return rc;
	}
	gompi_packet_write(m, s->w, o, data_bytes, STREAM_DATA_BYTES);
	if (bits & RECORD_RETURNS_DATA) {
		gompi_stream_expect_result(s, o->result, o->bytes, rma_request);
		gompi_sub_seq_cst(&s->result_credits_used, credits - gompi_stream_result_cost(o->bytes));
	}
	gompi_stream_commit(s, m, bits);
	return MPI_SUCCESS;
}

// Sends an operation in as many packets as necessary. If the operation returns a result and may_stay_pending is false,
// waits for the result. If may_stay_pending is true, the result is stored before the next flush ends or the request
// completes.
static int send_operation(struct gompi_stream *s, struct gompi_outgoing *whole, const struct gompi_buffer *at,
			  bool may_stay_pending) {
	int bits = RECORD_NEEDS_FLUSH | (whole->result != NULL ? RECORD_RETURNS_DATA : 0);
	struct gompi_rma_request *rma_request = NULL;
	if (may_stay_pending && whole->result != NULL && whole->operation->returns_request) {
		rma_request = gompi_rma_request_get(s->w, whole->operation);
		may_stay_pending = rma_request != NULL;
	}
	for (uint64_t done = 0; done < whole->bytes;) {
		struct gompi_outgoing o = gompi_outgoing_after(whole, done);
		int rc = send_packet(s, &o, at, bits, rma_request);
		if (rc != MPI_SUCCESS)
			return rc;
		done += o.bytes;
	}
	if (!(gompi_load(&s->w->flush_flags) & FLUSH_SENT))
		gompi_or(&s->w->flush_flags, FLUSH_SENT);
	// In a dynamic window only the target knows which memory is attached. So the call waits for a possible error of
	// the target, unless a request reports this error.
	if (s->w->attached == NULL ? may_stay_pending || whole->result == NULL : rma_request != NULL)
		return MPI_SUCCESS;
	int rc = gompi_stream_await_ack(s, gompi_load(&s->flush_number), whole->operation->call);
	return rc == MPI_SUCCESS ? gompi_stream_consume_error(s) : rc;
}

bool gompi_put_short(struct gompi_win *w, int target, uint64_t offset, const void *origin, uint64_t bytes) {
	struct gompi_stream *s = gompi_stream_find(w, target);
	int class;
	if (s == NULL || gompi_stream_must_send_lock(s) || !(gompi_load(&w->flush_flags) & FLUSH_SENT) ||
	    !gompi_stream_has_credit(s, bytes))
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
	gompi_stream_commit(s, m, RECORD_NEEDS_FLUSH);
	return true;
}

static int fabric_move(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
		       char *local, int64_t bytes) {
	gompi_record_path(operation, MPIX_GOMPIRMA_NETWORK);
	struct gompi_stream *s = gompi_stream_get(w, operation->target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = gompi_stream_ensure_lock(s);
	if (rc != MPI_SUCCESS)
		return rc;
	bool put = operation->kind == RMA_PUT, contiguous = at->type->flags & GOMPI_TYPE_CONTIGUOUS;
	bool may_stay_pending = put ? gompi_is_user_buffer(operation, local, operation->origin, operation->origin_type)
				    : gompi_is_user_buffer(operation, local, operation->result, operation->result_type);
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_move(operation, at, local, bytes);
	if (!contiguous)
		gompi_cursor_init(o.cursor = &cursor, at->type, at->count, GOMPI_BYTES);
	else if (w->remote[s->rank].region.key != 0 && gompi_fabric_use_rdma((uint64_t)bytes))
		return gompi_stream_transfer(s, operation, o.offset, local, o.bytes, put, may_stay_pending);
	return send_operation(s, &o, at, may_stay_pending);
}

static int fabric_update(struct gompi_win *w, const struct gompi_operation *operation, const struct gompi_buffer *at,
			 MPI_Datatype element, const char *origin, char *result) {
	gompi_record_path(operation, MPIX_GOMPIRMA_NETWORK);
	struct gompi_stream *s = gompi_stream_get(w, operation->target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = gompi_stream_ensure_lock(s);
	if (rc != MPI_SUCCESS)
		return rc;
	struct gompi_cursor cursor;
	struct gompi_outgoing o = gompi_outgoing_update(operation, at, element, origin, result);
	if (!(at->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS))
		gompi_cursor_init(o.cursor = &cursor, at->type, at->count, GOMPI_ELEMENTS);
	bool may_stay_pending =
		result != NULL && gompi_is_user_buffer(operation, result, operation->result, operation->result_type);
	return send_operation(s, &o, at, may_stay_pending);
}

// --- Flushes and the ends of epochs

// Returns the number of the last record that a flush must wait for. If `local` is true, ignores records that return no
// result.
static uint64_t flush_number(struct gompi_stream *s, bool local) {
	return gompi_load(local ? &s->result_number : &s->flush_number);
}

// Waits until the member `target`, or every member with a stream (GOMPI_ALL), has applied the records up to
// flush_number. For the stream to the process ordered_peer (-1 if none), waits only for results: see
// flush_before_barrier in transport.h.
static int flush_streams(struct gompi_win *w, int target, bool local, int ordered_peer, const char *call) {
	struct gompi_stream *s;
	if (target != GOMPI_ALL) {
		s = gompi_stream_find(w, target);
		if (s == NULL)
			return MPI_SUCCESS;
		uint64_t number = flush_number(s, local);
		int rc = gompi_stream_request_ack(s, number);
		return rc == MPI_SUCCESS ? gompi_stream_flush_to(s, number, call) : rc;
	}
	int rc = MPI_SUCCESS;
	// request acknowledgements on all streams before waiting for the first answer, so that the targets reply in
	// parallel
	for (s = gompi_stream_first(w); s != NULL; s = s->next) {
		int stream_rc = gompi_stream_request_ack(s, flush_number(s, local || s->peer == ordered_peer));
		rc = rc == MPI_SUCCESS ? stream_rc : rc;
	}
	for (s = gompi_stream_first(w); s != NULL; s = s->next) {
		// Since the request, another thread may have sent more records without requesting an acknowledgement.
		// So wait only for the records up to the last request.
		uint64_t number = flush_number(s, local || s->peer == ordered_peer),
			 asked = gompi_load(&s->asked_number);
		// Waits even after an error of another stream, because the records of this stream have been sent.
		int stream_rc = gompi_stream_flush_to(s, number < asked ? number : asked, call);
		rc = rc == MPI_SUCCESS ? stream_rc : rc;
	}
	return rc;
}

static int fabric_flush(struct gompi_win *w, int target, const char *call) {
	return flush_streams(w, target, false, -1, call);
}

static int fabric_flush_local(struct gompi_win *w, int target, const char *call) {
	return flush_streams(w, target, true, -1, call);
}

static int fabric_flush_barrier(struct gompi_win *w, int peer, const char *call) {
	return flush_streams(w, GOMPI_ALL, false, peer, call);
}

static int fabric_post(struct gompi_win *w, int origin, const char *call) {
	struct gompi_stream *s = gompi_stream_get(w, origin);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	gompi_stream_on_post(s);
	return MPI_SUCCESS;
}

// Sends the start record of the epoch if no operation has sent it. As long as the target has not posted, it queues the
// records of the epoch. So this function adds two packets without data to ahead_bytes: the start record, and the
// PACKET_COMPLETE that follows. If ahead_bytes exceeded STREAM_AHEAD_BYTES before, waits for the post.
static int ensure_started(struct gompi_stream *s, const char *call) {
	int rc = gompi_load_acquire(&s->lock_sent) ? MPI_SUCCESS : gompi_stream_send_control(s, PACKET_START, false, 0);
	if (rc == MPI_SUCCESS && gompi_load_acquire(&s->acked) < gompi_load(&s->lock_number) &&
	    gompi_add(&s->ahead_bytes, 2 * sizeof(struct gompi_packet)) > STREAM_AHEAD_BYTES)
		rc = gompi_stream_await_lock(s, call);
	return rc;
}

static int fabric_complete(struct gompi_win *w, int target, const char *call) {
	struct gompi_stream *s = gompi_stream_get(w, target);
	if (s == NULL)
		return MPI_ERR_NO_MEM;
	int rc = ensure_started(s, call);
	gompi_store_release(&s->lock_sent, 0);
	// The target applies records in order, so it applies all operations before the record of MPI_Win_complete.
	// Transfers and results are not ordered relative to this record. So wait for transfers before it is sent, and
	// for results before the return.
	if (rc == MPI_SUCCESS)
		rc = gompi_stream_await_transfers(s, call);
	if (rc != MPI_SUCCESS)
		return rc;
	uint64_t result_number = flush_number(s, true);
	bool wants_answer = gompi_load_acquire(&s->acked) < result_number;
	rc = gompi_stream_send_control(s, PACKET_COMPLETE, false, wants_answer ? RECORD_WANTS_ANSWER : 0);
	if (!wants_answer)
		gompi_fabric_flush(s->peer);
	return rc == MPI_SUCCESS ? gompi_stream_flush_to(s, result_number, call) : rc;
}

const struct gompi_transport gompi_transport_fabric = {
	.name = "fabric",
	.move = fabric_move,
	.update = fabric_update,
	.flush = fabric_flush,
	.flush_local = fabric_flush_local,
	.flush_before_barrier = fabric_flush_barrier,
	.lock = gompi_stream_lock,
	.unlock = gompi_stream_unlock,
	.post = fabric_post,
	.complete = fabric_complete,
};
