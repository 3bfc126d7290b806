// Attached buffers: memory of the application for buffered sends, or the library's own (MPI_BUFFER_AUTOMATIC).
//
// A message counts as its data plus MPI_BSEND_OVERHEAD from its call until it has left this process' hands; what fits
// by that count is accepted. Its data lies in the application's memory if there is a gap for it, else in the library's:
// so the count alone decides, never how the gaps lie. What leaves at once is never in the buffer.
//
// gompi_attached_lock is for the calls that attach, detach and put messages in. Messages end under a lane's lock, by
// any thread, and take the buffer's own. Nobody takes another lock under that.
#ifndef GOMPI_MESSAGE_ATTACHED_H
#define GOMPI_MESSAGE_ATTACHED_H

#include "base/biased.h"
#include "base/verdict.h"

struct gompi_messages;
struct gompi_request;

// A message in a buffer.
struct gompi_bsend_message {
	struct gompi_bsend_buffer *in;
	char *data; // size bytes
	int64_t size;
	bool placed;                                // in the application's memory; else they are to be freed
	uint64_t number;                            // of its buffer's messages, from 1 on
	struct gompi_bsend_message *before, *after; // by number
	struct gompi_bsend_message *below, *above;  // by place
};

// A buffer, attached or not; zero: it has never been.
struct gompi_bsend_buffer {
	gompi_a64 room;          // bytes that are free by count, and one more; 0: nothing is attached
	gompi_a64 oldest;        // number of the first message that is there, 0: none
	char *addr;              // NULL: nothing is attached
	int64_t size;            // 0 then
	struct gompi_mutex lock; // of what follows, and of changes of room and oldest while there are messages
	uint64_t messages;       // so far
	struct gompi_bsend_message *first, *last, *lowest, *highest;
	struct gompi_request *flushes; // that wait, in order
};

#pragma GCC visibility push(hidden)

extern struct gompi_biased gompi_attached_lock;

static inline bool gompi_is_automatic(const struct gompi_bsend_buffer *a) { return a->addr == MPI_BUFFER_AUTOMATIC; }

// Returns true if a message of so many bytes fits by count.
static inline bool gompi_attached_fits(struct gompi_bsend_buffer *a, int64_t size) {
	return (uint64_t)size + MPI_BSEND_OVERHEAD < gompi_load(&a->room);
}

// Takes room for a message of size bytes. NULL: MPI_ERR_BUFFER, it does not fit or nothing is attached, or
// MPI_ERR_NO_MEM, which v tells.
struct gompi_bsend_message *gompi_attached_put(struct gompi_bsend_buffer *a, int64_t size, struct gompi_verdict *v);
// A message has left, or cannot be sent: its room is given back, and it is no more.
void gompi_attached_left(struct gompi_bsend_message *k);

// Attaches what can be a buffer: size bytes, for MPI_BUFFER_AUTOMATIC the most that there can be. Returns false if one
// is attached already.
static inline bool gompi_attached_begin(struct gompi_bsend_buffer *a, void *addr, int64_t size) {
	gompi_biased_take(&gompi_attached_lock);
	bool free = gompi_load(&a->room) == 0;
	if (__builtin_expect(free, 1)) {
		a->addr = addr;
		a->size = size;
		gompi_store(&a->room, (uint64_t)size + 1);
	}
	gompi_biased_give(&gompi_attached_lock);
	return free;
}

// Detaches a buffer, and stores its address and size: NULL and 0 if nothing is attached. Returns false if there are
// messages in it.
static inline bool gompi_attached_end(struct gompi_bsend_buffer *a, void **addr, int64_t *size) {
	gompi_biased_take(&gompi_attached_lock);
	bool over = gompi_load_acquire(&a->oldest) == 0; // pairs with the release in gompi_attached_left
	if (__builtin_expect(over, 1)) {
		*addr = a->addr;
		*size = __builtin_expect(gompi_is_automatic(a), 0) ? 0 : a->size;
		a->addr = NULL;
		a->size = 0;
		gompi_store(&a->room, 0);
	}
	gompi_biased_give(&gompi_attached_lock);
	return over;
}
// The same, as soon as all messages have left. 0, or the verdict's class: MPI_ERR_PROC_ABORTED, MPI_ERR_INTERN.
int gompi_attached_end_later(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call, void **addr,
			     int64_t *size, struct gompi_verdict *v);
// MPI_Buffer_flush: waits until all messages that are there have left. 0, or the verdict's class as above.
int gompi_attached_flush(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call,
			 struct gompi_verdict *v);
// The same as a request, with a handle, in the lane of a context. GOMPI_REQUEST_DONE: there is nothing to wait for.
// MPI_REQUEST_NULL: there is no memory, or too many are live.
MPI_Request gompi_attached_iflush(struct gompi_messages *m, struct gompi_bsend_buffer *a, uint64_t context);

// Detaches a communicator's buffer for a call of Go's that frees the communicator. As gompi_attached_end_later.
int gompi_comm_detach(uintptr_t comm, struct gompi_verdict *v);
// Frees what a communicator has for a buffer.
void gompi_comm_attached_close(uintptr_t comm);

#pragma GCC visibility pop
#endif
