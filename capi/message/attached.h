// Attached buffers for buffered sends: memory of the application, or of the library (MPI_BUFFER_AUTOMATIC).
//
// Accounting: a message occupies its data size plus MPI_BSEND_OVERHEAD, from its call until its data has left this
// process. A message is accepted if it fits by that count. Its data is placed in the application's memory if there is a
// large enough gap, else in memory of the library. So only the count decides, never the fragmentation of the buffer. A
// message that is sent immediately never occupies the buffer.
//
// Locks: calls that attach, detach, and add messages hold gompi_attached_lock. Any thread may remove a message when it
// has left; that thread holds a lane's lock and acquires the lock of the buffer. No other lock is acquired under the
// lock of the buffer.
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
	bool placed;                                // data is in the application's memory; else it must be freed
	uint64_t number;                            // sequence number in its buffer, from 1 on
	struct gompi_bsend_message *before, *after; // neighbours by number
	struct gompi_bsend_message *below, *above;  // neighbours by address
};

// A buffer, attached or not. All zero if a buffer has never been attached.
struct gompi_bsend_buffer {
	gompi_a64 room;          // free bytes by count, plus 1; 0 if nothing is attached
	gompi_a64 oldest;        // number of the oldest message in the buffer; 0 if it is empty
	char *addr;              // NULL if nothing is attached
	int64_t size;            // 0 if nothing is attached
	struct gompi_mutex lock; // guards the following fields, and changes of room and oldest while there are messages
	uint64_t messages;       // number of messages so far
	struct gompi_bsend_message *first, *last, *lowest, *highest;
	struct gompi_request *flushes; // flush requests that wait, in order
};

#pragma GCC visibility push(hidden)

extern struct gompi_biased gompi_attached_lock;

static inline bool gompi_is_automatic(const struct gompi_bsend_buffer *a) { return a->addr == MPI_BUFFER_AUTOMATIC; }

// Returns true if a message of size bytes fits by count.
static inline bool gompi_attached_fits(struct gompi_bsend_buffer *a, int64_t size) {
	return (uint64_t)size + MPI_BSEND_OVERHEAD < gompi_load(&a->room);
}

// Reserves space for a message of size bytes. Returns NULL on failure: MPI_ERR_BUFFER if it does not fit or nothing is
// attached, or MPI_ERR_NO_MEM. v describes the error.
struct gompi_bsend_message *gompi_attached_put(struct gompi_bsend_buffer *a, int64_t size, struct gompi_verdict *v);
// Removes a message that has left or cannot be sent, returns its space, and frees k.
void gompi_attached_left(struct gompi_bsend_message *k);

// Attaches a buffer, whose arguments have been checked. size is in bytes; for MPI_BUFFER_AUTOMATIC it is the largest
// possible one. Returns false if a buffer is attached already.
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

// Detaches a buffer and stores its address and size, or NULL and 0 if nothing is attached. Returns false if the buffer
// contains messages.
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
// Waits until all messages have left, then detaches the buffer as gompi_attached_end does. Returns 0, or
// MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN, described in v.
int gompi_attached_end_later(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call, void **addr,
			     int64_t *size, struct gompi_verdict *v);
// Waits until all messages that are in the buffer now have left, for MPI_Buffer_flush. Returns 0, or
// MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN, described in v.
int gompi_attached_flush(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call,
			 struct gompi_verdict *v);
// Returns a handle of a request that completes when all messages that are in the buffer now have left, in the lane of a
// context. Returns GOMPI_REQUEST_DONE if the buffer is empty, MPI_REQUEST_NULL if out of memory or if too many requests
// are live.
MPI_Request gompi_attached_iflush(struct gompi_messages *m, struct gompi_bsend_buffer *a, uint64_t context);

// Detaches a communicator's buffer, for a Go call that frees the communicator. Waits and returns as
// gompi_attached_end_later.
int gompi_comm_detach(uintptr_t comm, struct gompi_verdict *v);
// Frees the buffer descriptor of a communicator.
void gompi_comm_attached_close(uintptr_t comm);

#pragma GCC visibility pop
#endif
