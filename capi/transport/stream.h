// One-sided operations between nodes: the records exchanged between this process and a member of a window on another
// node.
//
// Operations, locks, posts and completes are records of the port FABRIC_RMA of the network: packets, and answers. A
// process numbers the records to a member of a window, and the member applies them in that order: this is a stream. The
// member acknowledges when a record asks for it; results of operations are sent unasked. So a flush sends one record
// that asks, and waits for one answer, however many operations precede it. Large puts and gets between contiguous
// memory are not records: they read and write the member's memory directly, and an epoch ends only after they have
// completed.
//
// A lock is a record of the stream, too. The records after it wait at the target until the target has acquired the lock
// for the origin. So MPI_Win_lock sends nothing, the first operation carries the lock request, and an epoch of one
// operation costs one round trip. The target queues the waiting records in its own memory. Therefore an origin that
// does not know yet that it has the lock sends at most STREAM_AHEAD_BYTES bytes. MPI_Win_start works in the same way:
// the records after it wait at the target until the target has posted.
#ifndef GOMPI_STREAM_H
#define GOMPI_STREAM_H

#include "base/mutex.h"
#include "fabric/fabric.h"
#include "transport/packet.h"
#include "win/error_detail.h"

#pragma GCC visibility push(hidden)

enum {
	STREAM_DATA_BYTES = 60 << 10, // data after the header, which counts it in 16 bits
	STREAM_AHEAD_BYTES = 32 << 10,
	// limit at the target; above STREAM_AHEAD_BYTES, since several threads of the origin may each be one record
	// ahead
	STREAM_MAX_QUEUED = 1 << 20,
	// Limit of the results that an origin has requested and not received; the answers occupy that memory at the
	// target. Each result counts for at least STREAM_MIN_RESULT_COST.
	STREAM_RESULT_CREDITS = 1 << 20,
	STREAM_MIN_RESULT_COST = 1 << 10,
	STREAM_MAX_RESULTS = STREAM_RESULT_CREDITS / STREAM_MIN_RESULT_COST,
};

// The destination of a result.
struct gompi_stream_result {
	char *to;
	uint64_t number, bytes;
	struct gompi_rma_request *rma_request; // pending request that it belongs to; NULL if none
};

// The stream to and from one member. Numbers count from 1.
struct gompi_stream {
	struct gompi_win *w;
	struct gompi_stream *next; // in the list of streams of the window
	int32_t rank, peer;

	// As the origin. Fields of records sent are written under the lock of the peer (fabric).
	gompi_a64 sent;                         // number of the last record
	gompi_a64 flush_number;                 // of the last record that a flush must wait for
	gompi_a64 result_number;                // of the last record that returns a result
	gompi_a64 asked_number;                 // of the last record that asks for an answer
	gompi_a64 acked;                        // of the last record acknowledged as applied
	gompi_a64 lock_number;                  // of the last lock or start
	gompi_a64 ahead_bytes;                  // bytes sent after a lock or start that is not known to be applied
	gompi_a32 lock_calls;                   // counts calls of MPI_Win_lock for this member
	gompi_a32 lock_sent;                    // 1 if a lock or start has been sent and the epoch has not ended
	gompi_a32 error_class;                  // of the first error that has not been returned to a caller
	struct gompi_error_detail error_detail; // of error_class or broken_class; under gompi_stream_answers_mu
	gompi_a32 broken_class;                 // error class; the member applies no more records
	gompi_a32 transfer_count;               // number in progress
	struct gompi_mutex lock_mu;             // held while the lock or start is sent
	gompi_a64 result_credits_used;          // bytes of results that have not arrived
	gompi_a64 results_since_ask;            // bytes of results requested since the last record that asked
	// queue of expected results: the serving thread removes, the holder of the peer's lock adds
	gompi_a64 results_first, results_end;
	struct gompi_stream_result *_Atomic results; // [STREAM_MAX_RESULTS]; allocated at first use

	// As the target: under target_mu in stream_target.c.
	uint64_t arrived, applied;                   // numbers of records
	int unanswered_class;                        // class of the first error that has not been answered
	struct gompi_error_detail unanswered_detail; // of that error
	enum { HOLDS_NOTHING, HOLDS_SHARED, HOLDS_EXCLUSIVE } lock_held; // this process' lock, on behalf of the member
	// What the stream waits for. The records that arrive meanwhile are queued.
	enum { WAITS_FOR_NOTHING, WAITS_FOR_LOCK, WAITS_FOR_POST } waits_for;
	bool is_exclusive;
	uint32_t unused_posts; // exposure epochs for this origin that no access epoch has used
	bool is_started;       // its access epoch is in progress
	bool is_stopped;       // no more records are applied
	uint32_t ticket;
	struct gompi_stream *next_lock; // in the list of streams that hold a lock or wait for one
	char *queue;                    // queued records, each preceded by its length
	uint64_t queue_first, queue_end, queue_capacity;
};

// All streams of a window.
struct gompi_streams {
	struct gompi_stream *_Atomic first;
	struct gompi_stream *_Atomic by_rank[]; // [n], sparse: few entries are used (base/sparse.h)
};

static inline size_t gompi_streams_bytes(const struct gompi_win *w) {
	return sizeof(struct gompi_streams) + w->n * sizeof(struct gompi_stream *);
}

// Returns the stream of a member; creates it at first use. Returns NULL if out of memory.
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

// Describes what a stream waits for (a lock or an exposure epoch) in *waiting. Leaves it unchanged if it waits for
// neither.
struct gompi_wait_desc;
void gompi_stream_describe_wait(struct gompi_stream *s, struct gompi_wait_desc *waiting);

// Returns the error class if nothing more arrives from the stream's member, else 0. After an error, answers of the
// member are ignored.
int gompi_stream_check_broken(struct gompi_stream *s);

// Processes an answer that peer has sent to this process, with m->head.length bytes of data, and wakes waiting threads.
// Called by one thread at a time.
void gompi_stream_on_answer(int peer, const struct gompi_answer *m);

// Opens an exposure epoch for the stream's member, and applies queued records that wait for it.
void gompi_stream_on_post(struct gompi_stream *s);

// Registers the handler of FABRIC_RMA if the job spans nodes. Call it after gompi_node_open, before the network is
// opened.
void gompi_stream_open(void);

#pragma GCC visibility pop
#endif
