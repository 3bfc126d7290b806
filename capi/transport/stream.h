// One-sided operations between nodes: what travels between this process and a member of a window on another node.
//
// Operations, locks, posts and completes are records of the network's port FABRIC_RMA: packets, and answers. A process
// numbers what it sends to a member of a window, and the member applies it in that order: the stream. It says how far
// it has come when a record asks for that, and what an operation gives back goes by itself. So a flush sends one record
// that asks, and waits for one answer, however much has been sent. Large puts and gets between memory that lies
// together are no records: they read and write the member's memory, and an epoch ends when they are done.
//
// A lock is a record of the stream, too: what follows it waits at the target until the target has got the lock for the
// origin. So MPI_Win_lock sends nothing, the first operation takes the lock with it, and an epoch of one operation
// costs one round trip. The target keeps what waits there, in memory of its own; so an origin that does not know yet
// that it has the lock sends no more than STREAM_AHEAD bytes. In the same way MPI_Win_start waits for nothing: what
// follows its record waits at the target until that has posted.
#ifndef GOMPI_STREAM_H
#define GOMPI_STREAM_H

#include "base/mutex.h"
#include "fabric/fabric.h"
#include "transport/packet.h"
#include "win/why.h"

#pragma GCC visibility push(hidden)

enum {
	STREAM_DATA = 60 << 10, // behind the header, which counts them in 16 bits
	STREAM_AHEAD = 32 << 10,
	STREAM_KEPT = 1 << 20, // at most, in the target: some threads of the origin may each be a record ahead
	// What an origin has asked for and not got yet; the answers take that memory in the target. Each counts for at
	// least STREAM_RESULT_LEAST.
	STREAM_RESULTS = 1 << 20,
	STREAM_RESULT_LEAST = 1 << 10,
	STREAM_RESULTS_MOST = STREAM_RESULTS / STREAM_RESULT_LEAST,
};

// Where something will come back to.
struct gompi_stream_result {
	char *to;
	uint64_t number, bytes;
	struct gompi_ongoing *ongoing; // that it is part of; NULL: of nothing that has a request
};

// What this process has to do with one member. Numbers count from 1.
struct gompi_stream {
	struct gompi_win *w;
	struct gompi_stream *next; // of those of the window
	int32_t rank, peer;

	// As an origin. What is sent in order is written under the network's lock of the peer.
	gompi_a64 sent;             // number of the last record
	gompi_a64 due;              // of the last one of which a flush waits for the end
	gompi_a64 due_here;         // of the last one that gives something back
	gompi_a64 asked;            // of the last one that asks
	gompi_a64 done;             // so many have been applied
	gompi_a64 locked;           // of the last lock or start
	gompi_a64 ahead;            // bytes sent since one of which it is not known that it has been applied
	gompi_a32 locks;            // so many times MPI_Win_lock has asked for the lock of this member
	gompi_a32 has_lock;         // it has been sent, and not given back, or not completed
	gompi_a32 class;            // of the first error that nobody has been told of
	struct gompi_reason reason; // of that one, or of the end; under gompi_stream_answers_mu
	gompi_a32 broken;           // class; the member applies nothing any more
	gompi_a32 transfers;        // under way
	struct gompi_mutex lock_mu; // of who sends the lock
	gompi_a64 results_out;      // bytes of answers that have not come
	gompi_a64 results_asked;    // bytes of them since the last that asks
	gompi_a64 results_first,
		results_end; // of the queue: taken out by who serves, put in under the lock of the peer
	struct gompi_stream_result *_Atomic results; // [STREAM_RESULTS_MOST]; made at the first use

	// As a target: under the lock in fabric_serve.c.
	uint64_t arrived, applied; // numbers
	int refused;               // class of the first error that has not been answered
	struct gompi_reason why;   // of that one
	enum { HOLDS_NOTHING, HOLDS_SHARED, HOLDS_EXCLUSIVE } holds; // this process' lock, for the member
	// What it waits for, and all that has arrived since with it.
	enum { WAITS_FOR_NOTHING, WAITS_FOR_LOCK, WAITS_FOR_POST } waits;
	bool exclusive;
	uint32_t posts; // exposure epochs for this process that no access epoch has used up
	bool started;   // an access epoch of its is under way
	bool stopped;   // nothing is applied any more
	uint32_t ticket;
	struct gompi_stream *next_lock; // of those that hold or wait
	char *kept;                     // records, each behind its length
	uint64_t kept_first, kept_end, kept_room;
};

// All streams of a window.
struct gompi_streams {
	struct gompi_stream *_Atomic first;
	struct gompi_stream *_Atomic of[]; // [n], a few of them used (base/sparse.h)
};

static inline size_t gompi_streams_bytes(const struct gompi_win *w) {
	return sizeof(struct gompi_streams) + w->n * sizeof(struct gompi_stream *);
}

// The stream of a member, made at the first use. NULL: there is no memory.
struct gompi_stream *gompi_stream_of(struct gompi_win *w, int rank);
// The same, or NULL if there is none.
static inline struct gompi_stream *gompi_stream_known(struct gompi_win *w, int rank) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	return all == NULL ? NULL : gompi_load_acquire(&all->of[rank]);
}
static inline struct gompi_stream *gompi_stream_first(struct gompi_win *w) {
	struct gompi_streams *all = gompi_load_acquire(&w->streams);
	return all == NULL ? NULL : gompi_load_acquire(&all->first);
}

// Writes what waits for a stream are for, if that is not only what the library does: its lock, or an exposure epoch.
struct gompi_waiting;
void gompi_stream_awaits(struct gompi_stream *s, struct gompi_waiting *what);

// Why nothing comes back any more from a stream's member, whose answers are not taken from then on: an error class, 0:
// it does.
int gompi_stream_over(struct gompi_stream *s);

// Takes an answer that peer has sent to this process, with m->head.length bytes of data, and ends what waits for it. By
// one thread at a time.
void gompi_stream_answered(int peer, const struct gompi_answer *m);

// The process opens an exposure epoch for the stream's member: what waits for it goes on.
void gompi_stream_posted(struct gompi_stream *s);

// Begins to listen to the network, if the job spans nodes. After gompi_node_open, before the network is opened.
void gompi_stream_open(void);

#pragma GCC visibility pop
#endif
