// The origin's end of a stream: what its files share. stream.c numbers and waits, stream_locks.c puts locks in front,
// stream_answers.c takes what comes back, transfer.c reads and writes by the network, fabric.c sends operations.
#ifndef GOMPI_STREAM_SEND_H
#define GOMPI_STREAM_SEND_H

#include "base/wait.h"
#include "transport/stream.h"

#pragma GCC visibility push(hidden)

// --- Waiting (stream.c)

struct stream_wait {
	struct gompi_stream *s;
	uint64_t number;
};

// Returns true if nothing more comes from the stream's member.
static inline bool gompi_stream_is_over(struct gompi_stream *s) {
	return gompi_load_acquire(&s->broken) != 0 || gompi_fabric_gone(s->peer);
}

// Held while an answer is taken: what a call has given up nothing is written to.
extern struct gompi_mutex gompi_stream_answers_mu;

// The class of the first error that nobody has been told of.
int gompi_stream_take_class(struct gompi_stream *s);

// Waits for the function called call until done is true of s and number. 0 or an error class, that of a broken stream
// among them.
int gompi_stream_await(struct gompi_stream *s, bool (*done)(void *), uint64_t number, const char *call);
// Waits until no transfer is under way.
int gompi_stream_await_transfers(struct gompi_stream *s, const char *call);
// Waits until a stream has come to a number and nothing is transferred any more; the first error of its operations.
int gompi_stream_end(struct gompi_stream *s, uint64_t number, const char *call);

// --- Records (stream.c)

static inline struct gompi_packet *gompi_stream_reserve(struct gompi_stream *s, uint64_t data, int *class) {
	return (struct gompi_packet *)(void *)gompi_fabric_reserve(
		s->peer, FABRIC_RMA, sizeof(struct gompi_packet) + data, FABRIC_WAIT, class);
}

// What a record has to do with the end of operations.
enum { RECORD_ASKS = PACKET_ASKS, RECORD_DUE = 2, RECORD_GIVES = 4 };

// Numbers a record that has been written, and sends it. bits: RECORD_; one that asks leaves at once.
static inline uint64_t gompi_stream_commit(struct gompi_stream *s, struct gompi_packet *m, int bits) {
	uint64_t number = gompi_load(&s->sent) + 1; // nobody else changes it: this thread has the lock of the peer
	m->origin = s->w->me;
	m->head.flags = bits & RECORD_ASKS;
	m->head.number = number;
	gompi_store(&s->sent, number);
	if (bits & RECORD_ASKS)
		gompi_store(&s->asked, number);
	if (bits & (RECORD_DUE | RECORD_GIVES))
		gompi_store(&s->due, number);
	if (bits & RECORD_GIVES)
		gompi_store(&s->due_here, number);
	gompi_fabric_commit(s->peer, sizeof *m + m->head.length, bits & RECORD_ASKS ? FABRIC_NOW : FABRIC_PENDING);
	return number;
}

// Sends a record without data. 0 or an error class.
int gompi_stream_send_word(struct gompi_stream *s, enum gompi_packet_kind kind, bool exclusive, int bits);
// Asks how far the member is, unless an answer is on its way that says whether it has come to number.
int gompi_stream_ask(struct gompi_stream *s, uint64_t number);
int gompi_stream_ask_and_await(struct gompi_stream *s, uint64_t number, const char *call);

// --- Locks (stream_locks.c)

// Returns true if a member is locked alone, and the lock is to be taken.
static inline bool gompi_stream_locks_one(uint32_t state) {
	return (state & (TARGET_LOCKED | TARGET_NOCHECK)) == TARGET_LOCKED;
}

// Returns true if the epoch with a member in this state needs a lock or start.
static inline bool gompi_stream_needs_lock(const struct gompi_win *w, uint32_t state) {
	return gompi_stream_locks_one(state) || (state & TARGET_STARTED) ||
	       ((gompi_load(&w->access) & ACCESS_LOCK_ALL) && !w->lock_all_nocheck);
}

// Returns true if this epoch needs a lock or start that has not been sent.
static inline bool gompi_stream_lacks_lock(struct gompi_stream *s) {
	return !gompi_load_acquire(&s->has_lock) &&
	       gompi_stream_needs_lock(s->w, gompi_load(&s->w->targets[s->rank].state));
}

// Puts the lock or start that this epoch needs before the first record. 0 or an error class.
int gompi_stream_send_lock(struct gompi_stream *s);
static inline int gompi_stream_lock_first(struct gompi_stream *s) {
	return gompi_stream_lacks_lock(s) ? gompi_stream_send_lock(s) : MPI_SUCCESS;
}

// Returns true if so much data may leave now: any if the member has got the lock, or has posted; else as much as it
// keeps meanwhile.
static inline bool gompi_stream_may_leave(struct gompi_stream *s, uint64_t room) {
	return __builtin_expect(gompi_load_acquire(&s->done) >= gompi_load(&s->locked), 1) ||
	       gompi_add(&s->ahead, room + sizeof(struct gompi_packet)) + room <= STREAM_AHEAD;
}

// Waits until the member has got the lock for this process, or has posted, if it needs that.
int gompi_stream_await_lock(struct gompi_stream *s, const char *call);

// MPI_Win_lock, which sends nothing, and MPI_Win_unlock, for the way.
int gompi_stream_lock(struct gompi_win *w, int target, bool exclusive, const char *call);
int gompi_stream_unlock(struct gompi_win *w, int target, bool exclusive, const char *call);

// --- What comes back (stream_answers.c)

static inline uint64_t gompi_stream_cost(uint64_t bytes) {
	return bytes < STREAM_RESULT_LEAST ? STREAM_RESULT_LEAST : bytes;
}

// Takes room for so many bytes that come back, waiting for it. 0 or an error class.
int gompi_stream_take_room(struct gompi_stream *s, uint64_t cost, const char *call);
// Expects what the record with the next number gives. The caller has reserved that record.
void gompi_stream_expect(struct gompi_stream *s, void *to, uint64_t bytes, struct gompi_ongoing *ongoing);

// --- Reads and writes (transfer.c)

// Reads or writes bytes of the member's memory from offset on. With stays the call need not wait for the end.
int gompi_stream_transfer(struct gompi_stream *s, const struct gompi_operation *operation, uint64_t offset, char *local,
			  uint64_t bytes, bool write, bool stays);

#pragma GCC visibility pop
#endif
