// One-sided operations between nodes: the records exchanged between this process and a member of a window on another
// node.
//
// Operations, locks, posts and completes are records of the port FABRIC_RMA of the network: packets, and answers. A
// process numbers the records to a member of a window, and the member applies them in that order: this is a stream. The
// member acknowledges when a record asks for it; results of operations are sent without being asked for. So a flush
// sends one record that asks, and waits for one answer, independent of the number of operations. Large puts and gets
// between contiguous memory are not records: they read and write the member's memory directly, and an epoch ends only
// after they have completed.
//
// A lock is a record of the stream, too. The records after it wait at the target until the target has acquired the lock
// for the origin. So MPI_Win_lock sends nothing, the first operation carries the lock request, and an epoch of one
// operation costs one round trip. The target keeps the waiting records in its own memory. Therefore an origin that does
// not know yet that it has the lock sends at most STREAM_AHEAD bytes. MPI_Win_start works in the same way: the records
// after it wait at the target until the target has posted.
#ifndef GOMPI_STREAM_H
#define GOMPI_STREAM_H

#include "base/mutex.h"
#include "fabric/fabric.h"
#include "transport/packet.h"
#include "win/why.h"

#pragma GCC visibility push(hidden)

enum {
	STREAM_DATA = 60 << 10, // data behind the header, which counts it in 16 bits
	STREAM_AHEAD = 32 << 10,
	// limit at the target; above STREAM_AHEAD, since several threads of the origin may each be one record ahead
	STREAM_KEPT = 1 << 20,
	// Limit of the results that an origin has requested and not received; the answers occupy that memory at the
	// target. Each result counts for at least STREAM_RESULT_LEAST.
	STREAM_RESULTS = 1 << 20,
	STREAM_RESULT_LEAST = 1 << 10,
	STREAM_RESULTS_MOST = STREAM_RESULTS / STREAM_RESULT_LEAST,
};

// The destination of a result.
struct gompi_stream_result {
	char *to;
	uint64_t number, bytes;
	struct gompi_ongoing *ongoing; // pending request that it belongs to; NULL if none
};

// The stream to and from one member. Numbers count from 1.
struct gompi_stream {
	struct gompi_win *w;
	struct gompi_stream *next; // in the list of streams of the window
	int32_t rank, peer;

	// As the origin. Fields of records sent are written under the lock of the peer (fabric).
	gompi_a64 sent;             // number of the last record
	gompi_a64 due;              // of the last record that a flush must wait for
	gompi_a64 due_here;         // of the last record that returns a result
	gompi_a64 asked;            // of the last record that asks for an answer
	gompi_a64 done;             // of the last record acknowledged as applied
	gompi_a64 locked;           // of the last lock or start
	gompi_a64 ahead;            // bytes sent after a lock or start that is not known to be applied
	gompi_a32 locks;            // counts calls of MPI_Win_lock for this member
	gompi_a32 has_lock;         // 1 if a lock or start has been sent and the epoch has not ended
	gompi_a32 class;            // of the first error that has not been returned to a caller
	struct gompi_reason reason; // of class, or of broken; under gompi_stream_answers_mu
	gompi_a32 broken;           // error class; the member applies no more records
	gompi_a32 transfers;        // number in progress
	struct gompi_mutex lock_mu; // held while the lock or start is sent
	gompi_a64 results_out;      // bytes of results that have not arrived
	gompi_a64 results_asked;    // bytes of results requested since the last record that asked
	// queue of expected results: the serving thread removes, the holder of the peer's lock adds
	gompi_a64 results_first, results_end;
	struct gompi_stream_result *_Atomic results; // [STREAM_RESULTS_MOST]; allocated at first use

	// As the target: under serve_mu in fabric_serve.c.
	uint64_t arrived, applied; // numbers of records
	int refused;               // class of the first error that has not been answered
	struct gompi_reason why;   // of that error
	enum { HOLDS_NOTHING, HOLDS_SHARED, HOLDS_EXCLUSIVE } holds; // this process' lock, on behalf of the member
	// What the stream waits for. The records that arrive meanwhile are kept.
	enum { WAITS_FOR_NOTHING, WAITS_FOR_LOCK, WAITS_FOR_POST } waits;
	bool exclusive;
	uint32_t posts; // exposure epochs for this origin that no access epoch has used
	bool started;   // its access epoch is in progress
	bool stopped;   // no more records are applied
	uint32_t ticket;
	struct gompi_stream *next_lock; // in the list of streams that hold a lock or wait for one
	char *kept;                     // kept records, each preceded by its length
	uint64_t kept_first, kept_end, kept_room;
};

// All streams of a window.
struct gompi_streams {
	struct gompi_stream *_Atomic first;
	struct gompi_stream *_Atomic of[]; // [n], sparse: few entries are used (base/sparse.h)
};

static inline size_t gompi_streams_bytes(const struct gompi_win *w) {
	return sizeof(struct gompi_streams) + w->n * sizeof(struct gompi_stream *);
}

// Returns the stream of a member; creates it at first use. Returns NULL if out of memory.
struct gompi_stream *gompi_stream_of(struct gompi_win *w, int rank);
// Returns the stream of a member, or NULL if there is none.
static inline struct gompi_stream *gompi_stream_known(struct gompi_win *w, int rank) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	return all == NULL ? NULL : gompi_load_acquire(&all->of[rank]);
}
static inline struct gompi_stream *gompi_stream_first(struct gompi_win *w) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	return all == NULL ? NULL : gompi_load_acquire(&all->first);
}

// Describes what a stream waits for (a lock or an exposure epoch) in *what. Leaves *what unchanged if it waits for
// neither.
struct gompi_waiting;
void gompi_stream_awaits(struct gompi_stream *s, struct gompi_waiting *what);

// Returns the error class if nothing more arrives from the stream's member, else 0. After an error, answers of the
// member are ignored.
int gompi_stream_over(struct gompi_stream *s);

// Processes an answer that peer has sent to this process, with m->head.length bytes of data, and wakes waiting threads.
// Called by one thread at a time.
void gompi_stream_answered(int peer, const struct gompi_answer *m);

// Opens an exposure epoch for the stream's member, and applies kept records that wait for it.
void gompi_stream_posted(struct gompi_stream *s);

// Registers the handler of FABRIC_RMA if the job spans nodes. Call it after gompi_node_open, before the network is
// opened.
void gompi_stream_open(void);

#pragma GCC visibility pop
#endif
