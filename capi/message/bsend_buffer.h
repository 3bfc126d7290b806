// Attached buffers for buffered sends: memory of the application, or of the library (MPI_BUFFER_AUTOMATIC).
//
// Accounting: from the send call until its data has left this process, a message counts as its data size plus
// MPI_BSEND_OVERHEAD bytes. A message is accepted if the counted bytes of all messages fit into the buffer. Its data is
// placed in the application's memory if there is a large enough gap, else in memory of the library. So fragmentation of
// the buffer never causes an error. A message that is sent immediately does not count.
//
// Locks: calls that attach or detach a buffer or add a message hold gompi_bsend_lock. Any thread may remove a message
// that has left this process; it holds a VCI's lock and acquires the lock of the buffer. No other lock is acquired
// under the lock of the buffer.
#ifndef GOMPI_MESSAGE_BSEND_BUFFER_H
#define GOMPI_MESSAGE_BSEND_BUFFER_H

#include "base/biased_mutex.h"
#include "base/error_status.h"

struct gompi_messages;
struct gompi_request;

// A message in a buffer.
struct gompi_bsend_message {
	struct gompi_bsend_buffer *buffer;
	char *data; // address of the data: size bytes
	int64_t size;
	bool in_user_memory;                       // `data` is in the attached buffer; else in memory from malloc
	uint64_t seq;                              // sequence number in its buffer, from 1 on
	struct gompi_bsend_message *prev, *next;   // neighbours in the list by sequence number
	struct gompi_bsend_message *below, *above; // neighbours in the list by address
};

// A buffer, attached or not. All zero if a buffer has never been attached.
struct gompi_bsend_buffer {
	gompi_a64 free_bytes_plus_1; // free bytes by the accounting above, plus 1; 0 if nothing is attached
	gompi_a64 oldest_seq;        // sequence number of the oldest message in the buffer; 0 if it is empty
	char *addr;                  // NULL if nothing is attached
	int64_t size;                // 0 if nothing is attached
	struct gompi_mutex lock;     // guards the fields below, and the two atomic fields while the buffer has messages
	uint64_t last_seq;           // sequence number of the last message
	// ends of the list by sequence number (first, last) and of the list by address (lowest, highest)
	struct gompi_bsend_message *first, *last, *lowest, *highest;
	struct gompi_request *flush_requests; // incomplete flush requests, in order of creation
};

#pragma GCC visibility push(hidden)

extern struct gompi_biased_mutex gompi_bsend_lock;

static inline bool gompi_is_automatic(const struct gompi_bsend_buffer *a) { return a->addr == MPI_BUFFER_AUTOMATIC; }

// Returns true if a message of size bytes fits, by the accounting above. The comparison is `<`, because the field is 1
// larger than the number of free bytes.
static inline bool gompi_bsend_fits(struct gompi_bsend_buffer *a, int64_t size) {
	return (uint64_t)size + MPI_BSEND_OVERHEAD < gompi_load(&a->free_bytes_plus_1);
}

// Reserves space for a message of size bytes. On failure returns NULL and describes the error in v. Errors:
// MPI_ERR_BUFFER if the message does not fit or nothing is attached; MPI_ERR_NO_MEM.
struct gompi_bsend_message *gompi_bsend_reserve(struct gompi_bsend_buffer *a, int64_t size,
						struct gompi_error_status *v);
// Removes message k, which has left this process or cannot be sent. Releases its space and frees k.
void gompi_bsend_release(struct gompi_bsend_message *k);

// Attaches a buffer. The caller has checked the arguments. The size is in bytes; for MPI_BUFFER_AUTOMATIC it is larger
// than all messages together (buffer_calls.c). Returns false if a buffer is attached already.
static inline bool gompi_bsend_attach(struct gompi_bsend_buffer *a, void *addr, int64_t size) {
	gompi_biased_lock(&gompi_bsend_lock);
	bool is_free = gompi_load(&a->free_bytes_plus_1) == 0;
	if (__builtin_expect(is_free, 1)) {
		a->addr = addr;
		a->size = size;
		gompi_store(&a->free_bytes_plus_1, (uint64_t)size + 1);
	}
	gompi_biased_unlock(&gompi_bsend_lock);
	return is_free;
}

// Detaches a buffer and stores its address and size. The size is 0 for MPI_BUFFER_AUTOMATIC. Stores NULL and 0 if
// nothing is attached. Returns false and changes nothing if the buffer contains messages.
static inline bool gompi_bsend_try_detach(struct gompi_bsend_buffer *a, void **addr, int64_t *size) {
	gompi_biased_lock(&gompi_bsend_lock);
	bool is_empty = gompi_load_acquire(&a->oldest_seq) == 0; // pairs with the release in gompi_bsend_release
	if (__builtin_expect(is_empty, 1)) {
		*addr = a->addr;
		*size = __builtin_expect(gompi_is_automatic(a), 0) ? 0 : a->size;
		a->addr = NULL;
		a->size = 0;
		gompi_store(&a->free_bytes_plus_1, 0);
	}
	gompi_biased_unlock(&gompi_bsend_lock);
	return is_empty;
}
// Waits until all messages have left this process, then detaches the buffer as gompi_bsend_try_detach does. Returns 0,
// or MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN, described in v.
int gompi_bsend_detach(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call, void **addr,
		       int64_t *size, struct gompi_error_status *v);
// Waits until all messages that the buffer contains at the call have left this process, for MPI_Buffer_flush. Returns
// 0, or MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN, described in v.
int gompi_bsend_flush(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call,
		      struct gompi_error_status *v);
// Creates a request in the VCI of a context, and returns its handle. The request completes when all messages that the
// buffer contains at the call have left this process. Returns GOMPI_REQUEST_DONE if the buffer is empty,
// MPI_REQUEST_NULL if out of memory or if too many requests are live.
MPI_Request gompi_bsend_iflush(struct gompi_messages *m, struct gompi_bsend_buffer *a, uint64_t context);

// Detaches a communicator's buffer, for the Go code that frees the communicator. Waits and returns as
// gompi_bsend_detach does.
int gompi_comm_bsend_detach(uintptr_t comm, struct gompi_error_status *v);
// Frees the buffer descriptor of a communicator, unless messages still refer to it because a process has failed.
void gompi_comm_bsend_free(uintptr_t comm);
// Detaches and frees a session's buffer, for the Go code that finalizes the session. Waits and returns as
// gompi_bsend_detach does.
int gompi_session_bsend_end(uintptr_t session, struct gompi_error_status *v);

#pragma GCC visibility pop
#endif
