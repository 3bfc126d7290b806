// The origin's side of a stream. Only the files that implement this side use the header: stream.c waits for
// acknowledgements, stream_locks.c sends locks before operations, stream_answers.c processes answers, transfer.c reads
// and writes registered memory, and fabric.c sends operations.
#ifndef GOMPI_STREAM_ORIGIN_H
#define GOMPI_STREAM_ORIGIN_H

#include "base/wait.h"
#include "transport/stream.h"

#pragma GCC visibility push(hidden)

// --- Waiting (stream.c)

struct gompi_stream_wait {
	struct gompi_stream *s;
	uint64_t number;
};

// Returns true if the stream is broken: nothing more arrives from its member.
static inline bool gompi_stream_is_broken(struct gompi_stream *s) {
	return gompi_load_acquire(&s->broken_class) != 0 || gompi_fabric_peer_failed(s->peer);
}

// Held while an answer is processed. A call that ends its wait with an error acquires this lock to mark the stream as
// broken. So no answer writes to the call's buffers afterwards.
extern struct gompi_mutex gompi_stream_answers_mu;

// Returns and clears the class of the first error that no MPI call has returned yet.
int gompi_stream_consume_error(struct gompi_stream *s);

// Waits until the function `done` returns true for a struct gompi_stream_wait with s and `number`. The argument `call`
// names the MPI function in errors. Returns 0 or an error class. Returns an error if the stream is broken.
int gompi_stream_await(struct gompi_stream *s, bool (*done)(void *), uint64_t number, const char *call);
// Waits until no transfer is in progress.
int gompi_stream_await_transfers(struct gompi_stream *s, const char *call);
// Waits until the member has applied all records up to `number` and no transfer is in progress. Returns 0, an error of
// the wait, or the first error of the operations.
int gompi_stream_flush_to(struct gompi_stream *s, uint64_t number, const char *call);

// --- Records (stream.c)

static inline struct gompi_packet *gompi_stream_reserve(struct gompi_stream *s, uint64_t data, int *class) {
	return (struct gompi_packet *)(void *)gompi_fabric_reserve(
		s->peer, FABRIC_RMA, sizeof(struct gompi_packet) + data, FABRIC_WAIT, class);
}

// Flags of a record. RECORD_WANTS_ANSWER: the record requests an answer. RECORD_NEEDS_FLUSH: a flush must wait for the
// record. RECORD_RETURNS_DATA: the record returns a result.
enum { RECORD_WANTS_ANSWER = PACKET_WANTS_ANSWER, RECORD_NEEDS_FLUSH = 2, RECORD_RETURNS_DATA = 4 };

// Assigns a number to a record that has been written, and sends or queues the record. The argument `bits` holds
// RECORD_* flags. A record with RECORD_WANTS_ANSWER is sent at once. Returns the number.
static inline uint64_t gompi_stream_commit(struct gompi_stream *s, struct gompi_packet *m, int bits) {
	// Only the holder of the peer's lock, which is this thread, changes the field `sent`.
	uint64_t number = gompi_load(&s->sent) + 1;
	m->origin = s->w->me;
	m->head.flags = bits & RECORD_WANTS_ANSWER;
	m->head.number = number;
	gompi_store(&s->sent, number);
	if (bits & RECORD_WANTS_ANSWER)
		gompi_store(&s->asked_number, number);
	if (bits & (RECORD_NEEDS_FLUSH | RECORD_RETURNS_DATA))
		gompi_store(&s->flush_number, number);
	if (bits & RECORD_RETURNS_DATA)
		gompi_store(&s->result_number, number);
	gompi_fabric_commit(s->peer, sizeof *m + m->head.length,
			    bits & RECORD_WANTS_ANSWER ? FABRIC_NOW : FABRIC_PENDING);
	return number;
}

// Sends a record without data. Returns 0 or an error class.
int gompi_stream_send_control(struct gompi_stream *s, enum gompi_packet_kind kind, bool exclusive, int bits);
// Requests an acknowledgement from the member, unless an earlier request already covers the records up to `number`.
// gompi_stream_await_ack also waits until the member has applied the records up to `number`. Both return 0 or an error
// class.
int gompi_stream_request_ack(struct gompi_stream *s, uint64_t number);
int gompi_stream_await_ack(struct gompi_stream *s, uint64_t number, const char *call);

// --- Locks (stream_locks.c)

// Returns true if this process has locked the member by MPI_Win_lock without MPI_MODE_NOCHECK.
static inline bool gompi_state_is_locked(uint32_t state) {
	return (state & (TARGET_LOCKED | TARGET_NOCHECK)) == TARGET_LOCKED;
}

// Returns true if the epoch with a member in this state needs a lock or start record.
static inline bool gompi_stream_needs_lock(const struct gompi_win *w, uint32_t state) {
	return gompi_state_is_locked(state) || (state & TARGET_STARTED) ||
	       ((gompi_load(&w->access) & ACCESS_LOCK_ALL) && !w->lock_all_nocheck);
}

// Returns true if this epoch needs a lock or start record that has not been sent.
static inline bool gompi_stream_must_send_lock(struct gompi_stream *s) {
	return !gompi_load_acquire(&s->lock_sent) &&
	       gompi_stream_needs_lock(s->w, gompi_load(&s->w->targets[s->rank].state));
}

// Sends the lock or start record of the epoch if the epoch needs this record and it has not been sent.
// gompi_stream_ensure_lock does the same, and has a fast path for the case that nothing must be sent. Both return 0 or
// an error class.
int gompi_stream_send_lock(struct gompi_stream *s);
static inline int gompi_stream_ensure_lock(struct gompi_stream *s) {
	return gompi_stream_must_send_lock(s) ? gompi_stream_send_lock(s) : MPI_SUCCESS;
}

// Returns true if `bytes` bytes of data may be sent now. If the member is known to have granted the lock or to have
// posted, there is no limit. If this is not known, the target may have to queue the data. So at most STREAM_AHEAD_BYTES
// bytes may be sent; the function adds these bytes and the header of their packet to ahead_bytes.
static inline bool gompi_stream_has_credit(struct gompi_stream *s, uint64_t bytes) {
	if (__builtin_expect(gompi_load_acquire(&s->acked) >= gompi_load(&s->lock_number), 1))
		return true;
	const uint64_t cost = bytes + sizeof(struct gompi_packet);
	if (gompi_add(&s->ahead_bytes, cost) + bytes <= STREAM_AHEAD_BYTES)
		return true;
	gompi_sub(&s->ahead_bytes, cost);
	return false;
}

// Waits until the member has acquired the lock for this process, or has posted, if the epoch needs a lock or a post.
int gompi_stream_await_lock(struct gompi_stream *s, const char *call);

// Implements the transport's function `lock`. Sends nothing: the lock request is sent before the first operation
// (stream.h). gompi_stream_unlock implements the transport's function `unlock`.
int gompi_stream_lock(struct gompi_win *w, int target, bool exclusive, const char *call);
int gompi_stream_unlock(struct gompi_win *w, int target, bool exclusive, const char *call);

// --- Results (stream_answers.c)

static inline uint64_t gompi_stream_result_cost(uint64_t bytes) {
	return bytes < STREAM_MIN_RESULT_COST ? STREAM_MIN_RESULT_COST : bytes;
}

// Reserves credit for a result of `cost` bytes. Blocks until the credit is available. Returns 0 or an error class.
int gompi_stream_reserve_credit(struct gompi_stream *s, uint64_t cost, const char *call);
// Registers the destination `to` for the result of the record that the caller has reserved and commits next.
void gompi_stream_expect_result(struct gompi_stream *s, void *to, uint64_t bytes,
				struct gompi_rma_request *rma_request);

// --- Reads and writes (transfer.c)

// Reads or writes the member's memory at `offset`. Waits for completion unless may_stay_pending is true. Returns 0 or
// an error class.
int gompi_stream_transfer(struct gompi_stream *s, const struct gompi_operation *operation, uint64_t offset, char *local,
			  uint64_t bytes, bool write, bool may_stay_pending);

#pragma GCC visibility pop
#endif
