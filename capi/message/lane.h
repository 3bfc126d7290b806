// The state of the message layer of a process: lanes and their locks, links to other processes, pending records, and
// unexpected messages.
//
// A lane is a virtual channel (VCI). A communicator maps to one lane permanently, and the lane's lock guards all state
// of the communicator's messages. A thread does not hold the lock while it copies memory of the application in bulk or
// waits for anything. No thread holds two lane locks.
#ifndef GOMPI_MESSAGE_LANE_H
#define GOMPI_MESSAGE_LANE_H

#include "base/biased.h"
#include "base/wait.h"
#include "message/attached.h"
#include "message/inbox.h"
#include "message/request.h"

// States of process_vm_readv on the memory of a process.
enum gompi_reads { READS_UNKNOWN, READS_WORK, READS_REFUSED };

// A link: the state that one lane keeps for sending to one other process.
struct gompi_link {
	struct gompi_inbox *box; // the peer's inbox; NULL if the peer is on another node
	gompi_a64 head;          // cached head of that inbox
	gompi_a64 full_at;       // head of the inbox when polling for space was last unsuccessful
	// number of pending records and streams (below); while not 0, no record overtakes them, except answers to other
	// nodes
	gompi_ai32 waiting;
	gompi_a32 reads;         // enum gompi_reads
	int32_t world;           // number of the process (base/process.h)
	int32_t process;         // index of the process on this node; -1 if it is on another node
	struct gompi_cell *cell; // shared cell of the peer; NULL if the peer is on another node
	gompi_a32 keep;          // enum gompi_flow: what a peer on another node has asked for
	// The lane's lock guards the following fields.
	struct gompi_pending *first, *last;        // pending records, which found no space, in order
	struct gompi_request *stream, *stream_end; // sends whose data goes out in fragments (RECORD_PIECE)
	struct gompi_link *behind;                 // next in the lane's list of links with pending output
	// sends to this peer that are in the lane's table of unacknowledged sends
	int32_t unanswered;
	bool unreminded;    // one of these sends is newer than the last RECORD_LOOK to the peer
	uint32_t reminders; // number of RECORD_LOOK received from the peer
	// remote peer only: it has been asked to keep its messages (FLOW_KEEP)
	bool told;
	struct gompi_link *told_next; // next in the lane's list of such peers
};

static inline bool gompi_is_remote(const struct gompi_link *p) { return p->box == NULL; }

// How the sender of a record notifies the peer.
enum gompi_notice {
	NOTICE_CALL, // if no thread of the peer polls or waits, the sender notifies the peer's progress thread
	// Does not notify the progress thread. A thread of the peer that polls or waits finds the record soon enough. A
	// sender that finds no space notifies the progress thread.
	NOTICE_QUIET,
};

struct gompi_pending {
	struct gompi_pending *next;
	struct gompi_record record; // word holds the kind and flags only, without the length
	struct gompi_request *send; // the send whose data or segment list the record carries, or NULL
	enum gompi_notice notice;
};

// A message that has arrived before its receive (unexpected), or that a matched probe has extracted.
struct gompi_message {
	struct gompi_entry entry;
	struct gompi_entry_place *more; // places in the index of a list (queue.c)
	// Number of the send that waits for an acknowledgement; 0 if none waits. For a send of this process to itself:
	// the address of its request.
	uint64_t id;
	int32_t from; // rank of the sender in MPI_COMM_WORLD
	// the sender's link->reminders at arrival; if that has changed since, the sender waits
	uint32_t reminders;
	bool call;                   // the answer must notify the sender's progress thread
	bool waits;                  // a thread of the sender waits until the message is received
	bool rts;                    // the data is still in the sender's memory
	bool readable;               // the sender is on another node, and region is valid
	int16_t segments;            // segments of that data; 0 if unknown
	int32_t failed;              // error class if the data could not be fetched, else MPI_SUCCESS
	int64_t size;                // bytes of the whole message
	char *data;                  // eager data; the buffer stays with the descriptor for the next message
	int64_t room;                // size of that buffer in bytes
	struct gompi_request *local; // the send, if this process sent to itself and the data has not been copied
	struct iovec *where;         // segments in the sender's memory
	union {
		struct iovec one;           // storage for where if there is one segment
		struct gompi_region region; // the sender's memory, registered for remote reads
	};
	struct gompi_request *fetch;    // internal receive that fetches the data; NULL if none
	struct gompi_request *receiver; // the receive that waits for this fetch
	struct gompi_lane *lane;
	uintptr_t comm; // handle; set if a matched probe has returned the message
	struct gompi_message *next;
};

_Static_assert(offsetof(struct gompi_message, more) == offsetof(struct gompi_listed, more) &&
		       offsetof(struct gompi_message, id) == offsetof(struct gompi_listed, id) &&
		       offsetof(struct gompi_message, from) == offsetof(struct gompi_listed, from),
	       "a message begins as lists of messages know it");

// Maximum number of segments that describe a sender's memory. Data in more segments goes out in fragments
// (RECORD_PIECE): that costs a second copy but needs no list.
enum { GOMPI_SEGMENTS = 64 };

struct gompi_lane {
	_Alignas(GOMPI_LINE) struct gompi_biased lock;
	gompi_a32 missed; // set by a thread that wanted to make progress and found the lock held
	bool completed;   // an operation has completed since the lock was acquired
	bool announces;   // space in the inbox has been released since the lock was acquired
	bool must_flush;  // pending output may find space now
	bool due;         // data in the work list is urgent: its sender waits
	gompi_a32 broken; // error class if the inbox is damaged, else 0
	union {
		struct {
			gompi_a32 backlog; // links with pending output, plus 1 if reads wait to be started
			gompi_a32 working; // the work list is not empty
		};
		gompi_a64 busy; // non-zero if either of the two is
	};
	char *_Atomic next; // address of the record at the announced head of the inbox
	gompi_a64 expected; // seal (valid flag) that this record will have
	struct gompi_inbox *box;
	uint64_t key;       // key of the seals (inbox.h)
	char *at;           // address of the next record to consume
	uint64_t head;      // position of that record; ahead of announced while a batch is consumed
	uint64_t announced; // position up to which space has been returned to the producers
	struct gompi_messages *home;
	struct gompi_queues queues;
	struct gompi_requests requests;
	struct gompi_request *work, *work_end; // receives whose data this process must copy from a sender's memory
	struct gompi_link *behind;             // links with pending output
	// [index on this node]; entry -1 is NULL, so that gompi_link_slow handles other nodes
	struct gompi_link *_Atomic *links;
	struct gompi_numbers sends;    // sends that wait for an acknowledgement or go out in fragments
	struct gompi_numbers receives; // receives whose data arrives in fragments
	struct gompi_list picked;      // messages that matched probes have extracted
	struct gompi_message *spare;
	int spares;
	int64_t spare_room; // bytes of the data buffers of the spare messages
	uint32_t flow;      // enum gompi_flow that this lane asks of senders
	int64_t held;       // bytes held by unexpected messages
	uint64_t reminded;  // value of sends.added at the last reminder to receivers
	gompi_a64 arrived;  // count of unexpected messages so far, for probes
	gompi_ai32 kept;    // unexpected messages that no receive has matched yet
	struct gompi_pending *spare_pending;
	struct gompi_crowd crowd; // counts requests and messages
	// For other nodes. reads: reads to start. spare_read: free list. told: peers that have been asked to keep their
	// messages. questions: RECORD_CANCEL with RECORD_LAST, from peers in MPI_Finalize, not answered yet.
	struct gompi_read *reads, *spare_read;
	struct gompi_link *told;
	struct gompi_pending *questions;
};

// The message layer of one process. The application has one instance; tests create several.
struct gompi_messages {
	struct gompi_node node;
	bool no_cma;       // no process may read another's memory
	uint64_t *probe;   // one page that peers read to find out whether process_vm_readv reaches this process
	gompi_a32 stepped; // a message has completed that a plan may wait for
	gompi_a32 stalled; // a progress thread has left the next step of a plan to application threads
	gompi_a32 hooks;   // bit mask of HOOK_*
	struct gompi_lane lane[GOMPI_LANES];
	struct gompi_bsend_buffer attached; // buffer of MPI_Buffer_attach
	struct gompi_mutex plans_lock;      // guards plans; held briefly
	struct gompi_plan *plans;           // active plans (plan.h)
	struct gompi_mutex peers_lock;      // guards additions to peers
	uint32_t peers_number;
	struct gompi_remote_peers *_Atomic peers; // links to processes on other nodes
	// gompi_progress_locked. The code that releases a lane's lock must make progress, but is in a layer below the
	// progress code.
	bool (*progress)(struct gompi_lane *l);
};

// Bits of hooks: one word that tells what a poll must do besides polling the lanes.
enum {
	HOOK_NETWORK = 1, // the job spans nodes
	HOOK_SERVED = 2,  // another package has active requests, which its service advances
	HOOK_PLANS = 4,   // there are active plans
};

#pragma GCC visibility push(hidden)

// The message layer of the application. NULL if MPI is not running.
extern struct gompi_messages *_Atomic gompi_messages_here;

// Returns the lane of a context.
static inline struct gompi_lane *gompi_lane_of(struct gompi_messages *m, uint64_t context) {
	return &m->lane[context >> 4 & (GOMPI_LANES - 1)];
}

static inline struct gompi_cell *gompi_messages_cell(struct gompi_messages *m, int process) {
	return (struct gompi_cell *)(m->node.control + 4096 + (size_t)process * m->node.cell_stride);
}

// Returns the index of a process on this node, or -1 if it is on another node or does not exist.
static inline int gompi_messages_process(const struct gompi_messages *m, int world) {
	return gompi_process_index(m->node.processes, world);
}

static inline struct gompi_inbox *gompi_inbox_of(struct gompi_messages *m, int process, int lane) {
	return (struct gompi_inbox *)(m->node.message_rings + (size_t)process * m->node.message_stride +
				      (size_t)lane * GOMPI_INBOX_SIZE);
}

// Returns the link to a process other than this one. Links live until gompi_links_close.
struct gompi_link *gompi_link_slow(struct gompi_lane *l, int process, int world);
static inline struct gompi_link *gompi_link_to(struct gompi_lane *l, int world) {
	int process = gompi_messages_process(l->home, world);
	struct gompi_link *p = gompi_load_acquire(&l->links[process]);
	return __builtin_expect(p != NULL, 1) ? p : gompi_link_slow(l, process, world);
}
// Returns the links to a process on another node, one per lane; NULL if there are none yet.
struct gompi_link *gompi_remote_links(struct gompi_messages *m, int world);
void gompi_links_close(struct gompi_messages *m);

// Marks functions with an intended data race: they read memory that another thread may be writing or may have released.
// They only decide whether to poll.
#if defined(__SANITIZE_THREAD__)
#define GOMPI_ONLY_A_LOOK __attribute__((no_sanitize("thread")))
#else
#define GOMPI_ONLY_A_LOOK
#endif

// Returns true if gompi_lane_progress may have something to do (unlocked check). While another thread consumes records,
// this may miss a record that the other thread has not seen either. Therefore a thread calls
// gompi_messages_progress_all before it sleeps.
GOMPI_ONLY_A_LOOK static inline bool gompi_lane_ready(struct gompi_lane *l) {
	return gompi_load((gompi_a64 *)gompi_load(&l->next)) == gompi_load(&l->expected) || gompi_load(&l->busy) != 0;
}

static inline void gompi_lane_take(struct gompi_lane *l) { gompi_biased_take(&l->lock); }
// Tries to acquire the lock in order to make progress. Returns false if another thread holds it; then the lock holder
// makes the progress for this thread too.
static inline bool gompi_lane_try(struct gompi_lane *l) {
	if (__builtin_expect(gompi_biased_try(&l->lock), 1))
		return true;
	// The lock holder that released the mutex reads missed after the release. If it read missed before this store,
	// the lock is free by now, and the second try succeeds. The full fence orders the store before that try.
	gompi_store_total(&l->missed, 1);
	gompi_full_fence();
	return gompi_biased_try(&l->lock);
}
// Releases the lock temporarily. Wakes threads that wait for completions, and notifies processes that wait for space in
// the inbox. The full fence orders the release of space before the read of box->wanted; its partner is
// gompi_inbox_want. Without it, this thread could read an old wanted while a producer registers and still finds no
// space. Returns true if another thread may have found the lock held.
void gompi_lane_tell_room(struct gompi_lane *l);
static inline bool gompi_lane_let_go(struct gompi_lane *l) {
	struct gompi_messages *m = l->home;
	bool completed = l->completed, announces = l->announces;
	l->completed = l->announces = false;
	bool by_mutex = gompi_biased_give(&l->lock);
	if (completed)
		gompi_wake(&gompi_messages_cell(m, m->node.me)->wait);
	if (announces) {
		gompi_full_fence();
		if (__builtin_expect(gompi_load(&l->box->wanted) != 0, 0))
			gompi_lane_tell_room(l);
	}
	return by_mutex;
}
// Releases the lock as gompi_lane_let_go does, at the end of a critical section. Then makes the progress that other
// threads wanted to make while they found the lock held.
void gompi_lane_missed(struct gompi_lane *l);
static inline void gompi_lane_give(struct gompi_lane *l) {
	if (__builtin_expect(gompi_lane_let_go(l), 0) && __builtin_expect(gompi_load(&l->missed) != 0, 0))
		gompi_lane_missed(l);
}
// Performs the work that was found under the lock (work list, pending output), then releases the lock as
// gompi_lane_give does.
void gompi_lane_end(struct gompi_lane *l);
// Releases the lock for calls that start an operation and return. Does not copy data of the work list, unless a sender
// waits for it. A copy would delay the operations that the application is about to start, and the processes that wait
// for them. A thread that waits for the data copies it later, at the latest when its sender waits too. If this thread
// belongs to this process and sleeps, it is woken.
void gompi_lane_end_started(struct gompi_lane *l);
// Releases the lock after a record from the network has been handled. Does not copy, wait, or work for another thread,
// since all that arrives would have to wait for it. It leaves to the waiting threads or the progress thread: plans that
// may continue, data to copy, and the progress for which another thread found the lock held.
void gompi_lane_end_served(struct gompi_lane *l);

// Returns a pending record from the free list, or a new one.
static inline struct gompi_pending *gompi_pending_take(struct gompi_lane *l) {
	struct gompi_pending *w = l->spare_pending;
	if (w == NULL)
		return gompi_must_have(sizeof *w);
	l->spare_pending = w->next;
	return w;
}
static inline void gompi_pending_give(struct gompi_lane *l, struct gompi_pending *w) {
	w->next = l->spare_pending;
	l->spare_pending = w;
}

// Counts requests and messages of a lane. gompi_lane_made counts one that has been allocated, gompi_lane_freed one that
// has been freed. When most of a large number have been freed, gompi_lane_freed returns their memory to the system.
static inline void gompi_lane_made(struct gompi_lane *l) { gompi_crowd_more(&l->crowd); }
void gompi_lane_freed(struct gompi_lane *l);

// Returns a cleared request of the lane, from the free list or new. Returns NULL if out of memory.
struct gompi_request *gompi_request_made(struct gompi_lane *l);
static inline struct gompi_request *gompi_request_take(struct gompi_lane *l) {
	struct gompi_request *r = l->requests.spare;
	if (__builtin_expect(r == NULL, 0))
		return gompi_request_made(l);
	l->requests.spare = r->next;
	l->requests.spares--;
	gompi_request_clear(r);
	r->lane = l;
	return r;
}

// Releases a request, which nothing may refer to any longer. gompi_request_give returns it to the free list.
// gompi_request_drop releases what the request holds of a kind or a datatype. It returns true if nothing remains to be
// done, because the memory is not the lane's.
bool gompi_request_drop(struct gompi_request *r);
void gompi_request_unmake(struct gompi_request *r);
static inline void gompi_request_give(struct gompi_request *r) {
	struct gompi_lane *l = r->lane;
	if (__builtin_expect(r->kind != NULL || r->buf.type != NULL || r->apart, 0) && gompi_request_drop(r))
		return;
	if (__builtin_expect(l->requests.spares == GOMPI_REQUEST_SPARES, 0)) {
		gompi_request_unmake(r);
		return;
	}
	r->next = l->requests.spare;
	l->requests.spare = r;
	l->requests.spares++;
}

// Creates a handle for a request. Returns false if out of memory or if the maximum number of requests is live.
static inline bool gompi_request_add(struct gompi_request *r) {
	r->handle = (uint32_t)gompi_handles_add(&r->lane->requests.handles, r);
	r->handled = r->handle != 0;
	return r->handled;
}

// Persistent requests of messages: only application calls create them, so they need no lane's lock (persistent.c).
extern struct gompi_objects gompi_persistent;
// Returns a cleared persistent request with a handle. Returns NULL if out of memory or if the maximum number is live.
struct gompi_request *gompi_persistent_make(struct gompi_lane *l);
void gompi_persistent_remove(struct gompi_request *r); // removes the handle
void gompi_persistent_give(struct gompi_request *r);
// Frees a persistent request that is complete or inactive. Returns false if this needs the lane's lock.
bool gompi_persistent_free(struct gompi_request *r);

// Removes the handle of a request.
static inline void gompi_request_remove(struct gompi_request *r) {
	if (__builtin_expect(r->apart, 0))
		gompi_persistent_remove(r);
	else
		gompi_handles_remove(&r->lane->requests.handles, r->handle);
	r->handled = false;
}

// Publishes the result of a request. Waiting threads are woken when the lock is released.
void gompi_complete_slow(struct gompi_lane *l, struct gompi_request *r);
static inline void gompi_complete(struct gompi_lane *l, struct gompi_request *r, int class) {
	r->result.class = class;
	if (__builtin_expect(r->freed || (r->context & 15) != 0, 0)) {
		gompi_complete_slow(l, r);
		return;
	}
	l->completed = true;
	// pairs with the acquire loads of waiters (gompi_is_complete, gompi_look)
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

#pragma GCC visibility pop
#endif
