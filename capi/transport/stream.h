// One-sided operations between nodes: the records that this process exchanges with a member of a window on another
// node.
//
// Operations, locks, starts and completes are packets (packet.h), which are sent as records of the network's port
// FABRIC_RMA. Answers are also sent as records of this port. A process numbers the packets that it sends to a member of
// a window, and the member applies them in the order of their numbers. This sequence is a stream. The member sends an
// acknowledgement only when a packet requests it, but sends results of operations without a request. So a flush sends
// one packet that requests an acknowledgement, and waits for one answer. The number of operations before the flush does
// not matter. Large puts and gets between contiguous memory are not sent as records. Instead, the network reads or
// writes the member's registered memory. An epoch ends only after these transfers have completed.
//
// A lock request is a record of the stream, too. The records after it wait at the target until the target has acquired
// the lock for the origin. So MPI_Win_lock need not send anything: the lock request is sent before the first operation,
// and an epoch of one operation costs one round trip. The target queues the waiting records in its own memory.
// Therefore an origin sends at most STREAM_AHEAD_BYTES bytes before it knows that it has the lock. MPI_Win_start works
// in the same way: the records after it wait at the target until the target has posted.
#ifndef GOMPI_STREAM_H
#define GOMPI_STREAM_H

#include "base/mutex.h"
#include "fabric/fabric.h"
#include "transport/packet.h"
#include "win/error_detail.h"

#pragma GCC visibility push(hidden)

enum {
	STREAM_DATA_BYTES = 60 << 10, // maximum data of a packet; the head has the length in 16 bits
	STREAM_AHEAD_BYTES = 32 << 10,
	// Maximum bytes that a target queues. It exceeds STREAM_AHEAD_BYTES, because several threads of the origin may
	// each exceed STREAM_AHEAD_BYTES by one record.
	STREAM_MAX_QUEUED = 1 << 20,
	// Maximum bytes of results that an origin has requested and not received. There is a limit, because answers
	// occupy memory at the target. Each result counts as at least STREAM_MIN_RESULT_COST bytes.
	STREAM_RESULT_CREDITS = 1 << 20,
	STREAM_MIN_RESULT_COST = 1 << 10,
	STREAM_MAX_RESULTS = STREAM_RESULT_CREDITS / STREAM_MIN_RESULT_COST,
};

// An expected result: the destination `to` of `bytes` bytes that the record with this number returns.
struct gompi_stream_result {
	char *to;
	uint64_t number, bytes;
	struct gompi_rma_request *rma_request; // pending request to which the result belongs; NULL if none
};

// The two streams between this process and one member. Records are numbered from 1.
struct gompi_stream {
	struct gompi_win *w;
	struct gompi_stream *next; // next stream in the window's list
	int32_t rank, peer;        // the member's rank in the window, and its process number

	// This process as the origin. The lock of the peer, which gompi_fabric_reserve acquires, guards writes to the
	// fields about sent records.
	gompi_a64 sent;                         // number of the last record sent
	gompi_a64 flush_number;                 // number of the last record that a flush must wait for
	gompi_a64 result_number;                // number of the last record that returns a result
	gompi_a64 asked_number;                 // number of the last record that requests an answer
	gompi_a64 acked;                        // number of the last record acknowledged as applied
	gompi_a64 lock_number;                  // number of the last lock or start record
	gompi_a64 ahead_bytes;                  // bytes sent after a lock or start that is not acknowledged
	gompi_a32 lock_calls;                   // number of calls of MPI_Win_lock for this member
	gompi_a32 lock_sent;                    // 1 if a lock or start has been sent and the epoch has not ended
	gompi_a32 error_class;                  // class of the first error that no call has returned yet
	struct gompi_error_detail error_detail; // detail of error_class or broken_class; under gompi_stream_answers_mu
	gompi_a32 broken_class;                 // error class if the stream is broken, else 0
	gompi_a32 transfer_count;               // number of transfers in progress
	struct gompi_mutex lock_mu;             // held while the lock or start is sent
	gompi_a64 result_credits_used;          // bytes of requested results that have not arrived
	gompi_a64 results_since_ask;            // bytes of results requested since the last request for an answer
	// Queue of expected results. The holder of the peer's lock adds results, and the serving thread removes them.
	gompi_a64 results_first, results_end;
	struct gompi_stream_result *_Atomic results; // STREAM_MAX_RESULTS elements; allocated at first use

	// This process as the target. target_mu in stream_target.c protects these fields.
	uint64_t arrived, applied;                   // numbers of the last record arrived and applied
	int unanswered_class;                        // class of the first error that no answer has reported yet
	struct gompi_error_detail unanswered_detail; // detail of that error
	// the mode in which the stream holds the lock of this process' window memory
	enum { HOLDS_NOTHING, HOLDS_SHARED, HOLDS_EXCLUSIVE } lock_held;
	// The event for which the stream waits. Records that arrive during the wait are queued.
	enum { WAITS_FOR_NOTHING, WAITS_FOR_LOCK, WAITS_FOR_POST } waits_for;
	bool is_exclusive;               // the lock that is held or awaited is exclusive
	uint32_t unused_posts;           // number of posts for this origin that no access epoch has used yet
	bool is_started;                 // the member's access epoch is in progress
	bool is_stopped;                 // after an error: no more records of the member are applied
	uint32_t ticket;                 // place in the queue of this process' lock (win/lock.h), during WAITS_FOR_LOCK
	uint32_t lock_failures;          // that field of this process (win/win.h) at the beginning of the wait
	struct gompi_stream *next_lock;  // next in the list of streams that hold a lock or wait for a lock
	char *queue;                     // queued records, each preceded by its length
	uint64_t queue_first, queue_end; // start and end of the content of `queue`, in bytes
	uint64_t queue_capacity;         // size of `queue` in bytes
};

// All streams of a window.
struct gompi_streams {
	struct gompi_stream *_Atomic first;
	struct gompi_stream *_Atomic by_rank[]; // n streams, by rank; most are NULL (base/sparse.h)
};

static inline size_t gompi_streams_bytes(const struct gompi_win *w) {
	return sizeof(struct gompi_streams) + w->n * sizeof(struct gompi_stream *);
}

// Returns the stream of a member. Creates the stream at first use. Returns NULL if out of memory.
struct gompi_stream *gompi_stream_get(struct gompi_win *w, int rank);
// Returns the stream to a member, or NULL if it has not been created yet.
static inline struct gompi_stream *gompi_stream_find(struct gompi_win *w, int rank) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	return all == NULL ? NULL : gompi_load_acquire(&all->by_rank[rank]);
}
static inline struct gompi_stream *gompi_stream_first(struct gompi_win *w) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	return all == NULL ? NULL : gompi_load_acquire(&all->first);
}

// Describes in *waiting whether the stream's origin waits for a lock or for an exposure epoch. Leaves *waiting
// unchanged if the origin waits for neither.
struct gompi_wait_desc;
void gompi_stream_describe_wait(struct gompi_stream *s, struct gompi_wait_desc *waiting);

// Returns 0, or the error class if the stream is broken and nothing more arrives from its member. After an error,
// answers of the member are ignored.
int gompi_stream_check_broken(struct gompi_stream *s);

// Processes an answer that process `peer` has sent, with m->head.length bytes of data, and wakes waiting threads. One
// thread at a time calls this function.
void gompi_stream_on_answer(int peer, const struct gompi_answer *m);

// Opens an exposure epoch for the stream's member, and applies queued records that have waited for this epoch.
void gompi_stream_on_post(struct gompi_stream *s);

// Registers the handler of the port FABRIC_RMA if the job spans nodes. Call it after gompi_node_open, before the
// network is opened.
void gompi_stream_open(void);

#pragma GCC visibility pop
#endif
