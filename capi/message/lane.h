// What belongs to the messages of a process: lanes and their locks, links to others, records and messages that wait.
//
// Everything about a communicator's messages is in one lane, for good, and guarded by that lane's lock: never held
// while memory of the application is copied in bulk, nor while anything is waited for. No thread has two of them.
#ifndef GOMPI_MESSAGE_LANE_H
#define GOMPI_MESSAGE_LANE_H

#include "base/biased.h"
#include "base/wait.h"
#include "message/attached.h"
#include "message/inbox.h"
#include "message/request.h"

// What is known of process_vm_readv on the memory of a process.
enum gompi_reads { READS_UNKNOWN, READS_WORK, READS_REFUSED };

// Another process, as a lane sends to it.
struct gompi_link {
	struct gompi_inbox *box; // NULL: it is on another node
	gompi_a64 head;          // of the inbox, as last seen
	gompi_a64 full_at;       // the inbox' head when a send has looked for room in vain
	gompi_ai32 waiting;      // records and streams below: while there are any, nothing may overtake them
	gompi_a32 reads;         // enum gompi_reads
	int32_t world;           // number of the process (base/process.h)
	int32_t process;         // on this node, -1: it is on another
	struct gompi_cell *cell; // NULL: it is on another node
	gompi_a32 keep;          // gompi_flow: what a process on another node asks for
	// The rest is guarded by the lane's lock.
	struct gompi_pending *first, *last;        // records that found no room, in order
	struct gompi_request *stream, *stream_end; // sends whose data goes out in pieces
	struct gompi_link *behind;                 // the next of those that something waits to be sent to
	int32_t unanswered;                        // sends to it in the lane's table
	bool unreminded;                           // one of them was added after the last RECORD_LOOK to it
	uint32_t reminders;                        // RECORD_LOOK received from it
	bool told;                                 // it is on another node and has been asked to keep its messages
	struct gompi_link *told_next;              // the next such
};

static inline bool gompi_is_remote(const struct gompi_link *p) { return p->box == NULL; }

// How a peer learns of a record.
enum gompi_notice {
	NOTICE_CALL, // if no thread of the peer polls or waits for anything, its progress thread is called
	// A thread of the peer that polls or waits sees it, and that is soon enough: who finds no room calls the
	// progress thread.
	NOTICE_QUIET,
};

struct gompi_pending {
	struct gompi_pending *next;
	struct gompi_record record; // word: its kind
	struct gompi_request *send; // whose data or segments it carries; NULL: it has none
	enum gompi_notice notice;
};

// A message that has come before its receive; also what MPI_Mprobe hands out.
struct gompi_message {
	struct gompi_entry entry;
	struct gompi_entry_place *more; // queue.c
	// Of the send that waits for an acknowledgement, 0 if none does; of a send of this process its address.
	uint64_t id;
	int32_t from;                // rank of the sender in MPI_COMM_WORLD
	uint32_t reminders;          // of its sender when it arrived: more now, and the sender waits for it
	bool call;                   // the sender's process is to look at it at once
	bool waits;                  // the sender waits for the message to be taken
	bool rts;                    // the data is still at the sender
	bool readable;               // on another node: region counts
	int16_t segments;            // of that data, 0: unknown
	int32_t failed;              // error class: the data could not be fetched
	int64_t size;                // bytes of the whole message
	char *data;                  // eager: its data, in memory that is kept for the next message
	int64_t room;                // bytes there
	struct gompi_request *local; // the send, if it is this process' own and its data has not been copied
	struct iovec *where;         // where the data is at the sender
	union {
		struct iovec one;           // often there
		struct gompi_region region; // where it is at a sender on another node
	};
	struct gompi_request *fetch;    // fetches the data for it; NULL: nobody does
	struct gompi_request *receiver; // the receive that waits for that
	struct gompi_lane *lane;
	uintptr_t comm; // handle; of a message handed out by a probe
	struct gompi_message *next;
};

_Static_assert(offsetof(struct gompi_message, more) == offsetof(struct gompi_listed, more) &&
		       offsetof(struct gompi_message, id) == offsetof(struct gompi_listed, id) &&
		       offsetof(struct gompi_message, from) == offsetof(struct gompi_listed, from),
	       "a message begins as lists of messages know it");

// A sender's memory is described by at most so many segments; data in more of them goes in pieces, which costs a second
// copy but no list.
enum { GOMPI_SEGMENTS = 64 };

struct gompi_lane {
	_Alignas(GOMPI_LINE) struct gompi_biased lock;
	gompi_a32 missed; // a thread found the lock taken while it wanted to make progress
	bool completed;   // something has completed since the lock was taken
	bool announces;   // room in the inbox has been announced since
	bool must_flush;  // there may be room for what waits to be sent
	bool due;         // now: the sender waits for one of work
	gompi_a32 broken; // error class: the inbox is damaged
	union {
		struct {
			gompi_a32 backlog; // links that something waits to be sent to
			gompi_a32 working; // work is not empty
		};
		gompi_a64 busy; // one of the two
	};
	char *_Atomic next; // where the record at the announced head of the inbox begins
	gompi_a64 expected; // and its seal
	struct gompi_inbox *box;
	uint64_t key;       // of the seals
	char *at;           // where the next record begins
	uint64_t head;      // the same as a position, ahead of the announced one while a batch is taken
	uint64_t announced; // which is this
	struct gompi_messages *home;
	struct gompi_queues queues;
	struct gompi_requests requests;
	struct gompi_request *work, *work_end; // receives whose data is to be copied from a sender's memory
	struct gompi_link *behind;             // those that something waits to be sent to
	struct gompi_link *_Atomic *links;     // by index on this node; that of -1 is NULL, for gompi_link_slow
	struct gompi_numbers sends;            // that wait for an acknowledgement or are sent in pieces
	struct gompi_numbers receives;         // whose data comes in pieces
	struct gompi_list picked;              // messages that matched probes have handed out
	struct gompi_message *spare;
	int spares;
	int64_t spare_room; // bytes for data that they have
	uint32_t flow;      // what has been asked of those who send
	int64_t held;       // bytes in unexpected messages
	uint64_t reminded;  // sends.added when receivers were last reminded
	gompi_a64 arrived;  // unexpected messages so far, for probes
	gompi_ai32 kept;    // of them that no receive has come for
	struct gompi_pending *spare_pending;
	struct gompi_crowd crowd; // requests and messages
	// Other nodes: reads to be started, those to be used again, who keeps its messages because it has been asked
	// to, and questions of those who are in MPI_Finalize.
	struct gompi_read *reads, *spare_read;
	struct gompi_link *told;
	struct gompi_pending *questions;
};

// The messages of a process. There is one for the application; tests have several.
struct gompi_messages {
	struct gompi_node node;
	bool no_cma;       // nobody is to read another's memory
	uint64_t *probe;   // what others read to find out whether they can: a page
	gompi_a32 stepped; // something has completed that operations of several messages may go on with
	gompi_a32 stalled; // a progress thread has left the next step of a plan to threads of the application
	gompi_a32 hooks;   // the flags below
	struct gompi_lane lane[GOMPI_LANES];
	struct gompi_bsend_buffer attached; // of MPI_Buffer_attach
	struct gompi_mutex plans_lock;      // of what follows, for a moment
	struct gompi_plan *plans;           // those under way (plan.h)
	struct gompi_mutex peers_lock;      // to add to peers
	uint32_t peers_number;
	struct gompi_remote_peers *_Atomic peers; // links to processes on other nodes
	// gompi_progress_locked: what gives a lane's lock back makes progress, but stands below all that progress does.
	bool (*progress)(struct gompi_lane *l);
};

// The one word that says what else is to be done besides looking at the lanes.
enum {
	HOOK_NETWORK = 1, // the job spans nodes
	HOOK_SERVED = 2,  // requests of another room are under way, which its service advances
	HOOK_PLANS = 4,   // plans are under way
};

#pragma GCC visibility push(hidden)

// Where the messages of the application are; NULL: MPI is not running.
extern struct gompi_messages *_Atomic gompi_messages_here;

// The lane of a context.
static inline struct gompi_lane *gompi_lane_of(struct gompi_messages *m, uint64_t context) {
	return &m->lane[context >> 4 & (GOMPI_LANES - 1)];
}

static inline struct gompi_cell *gompi_messages_cell(struct gompi_messages *m, int process) {
	return (struct gompi_cell *)(m->node.control + 4096 + (size_t)process * m->node.cell_stride);
}

// The index on this node of a process, -1: it is on another, or there is none.
static inline int gompi_messages_process(const struct gompi_messages *m, int world) {
	return gompi_process_index(m->node.processes, world);
}

static inline struct gompi_inbox *gompi_inbox_of(struct gompi_messages *m, int process, int lane) {
	return (struct gompi_inbox *)(m->node.message_rings + (size_t)process * m->node.message_stride +
				      (size_t)lane * GOMPI_INBOX_SIZE);
}

// The link to a process other than this one. They stay until gompi_links_close.
struct gompi_link *gompi_link_slow(struct gompi_lane *l, int process, int world);
static inline struct gompi_link *gompi_link_to(struct gompi_lane *l, int world) {
	int process = gompi_messages_process(l->home, world);
	struct gompi_link *p = gompi_load_acquire(&l->links[process]);
	return __builtin_expect(p != NULL, 1) ? p : gompi_link_slow(l, process, world);
}
// The links to a process on another node, one of each lane; NULL: there are none yet.
struct gompi_link *gompi_remote_links(struct gompi_messages *m, int world);
void gompi_links_close(struct gompi_messages *m);

// What ThreadSanitizer takes for a race: a look at memory where another thread may have gone on.
#if defined(__SANITIZE_THREAD__)
#define GOMPI_ONLY_A_LOOK __attribute__((no_sanitize("thread")))
#else
#define GOMPI_ONLY_A_LOOK
#endif

// Returns true if there seems to be something to do for gompi_lane_progress. While another thread takes what there is
// this may miss something that it has not seen either: who goes to sleep asks gompi_messages_progress_all.
GOMPI_ONLY_A_LOOK static inline bool gompi_lane_ready(struct gompi_lane *l) {
	return gompi_load((gompi_a64 *)gompi_load(&l->next)) == gompi_load(&l->expected) || gompi_load(&l->busy) != 0;
}

static inline void gompi_lane_take(struct gompi_lane *l) { gompi_biased_take(&l->lock); }
// Takes the lock to make progress. Returns false if another thread has it: that one does this thread's part as well.
static inline bool gompi_lane_try(struct gompi_lane *l) {
	if (__builtin_expect(gompi_biased_try(&l->lock), 1))
		return true;
	// The thread that has the mutex looks at missed after it has given it away. If it did so before it was set, the
	// lock is free now.
	gompi_store_total(&l->missed, 1);
	gompi_full_fence();
	return gompi_biased_try(&l->lock);
}
// Gives the lock back for a while, wakes who waits for what has completed, and tells those who wait for room of it:
// between announcing room and looking whether somebody waits there must be a full barrier. Returns true if another
// thread may have found the lock taken.
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
// The same for good: it makes the progress that others wanted to make meanwhile.
void gompi_lane_missed(struct gompi_lane *l);
static inline void gompi_lane_give(struct gompi_lane *l) {
	if (__builtin_expect(gompi_lane_let_go(l), 0) && __builtin_expect(gompi_load(&l->missed) != 0, 0))
		gompi_lane_missed(l);
}
// The same after doing what has been found to do under the lock.
void gompi_lane_end(struct gompi_lane *l);
// The same for calls that start something and return. They do not copy: what else the application is about to start
// would have to wait, and those that wait for that. Who waits for the data copies it later, at the latest when its
// sender waits too. If that is another thread of this process, which sleeps, it is woken.
void gompi_lane_end_started(struct gompi_lane *l);
// The same after what the network has brought. Nothing is copied, waited for or done in another thread's place, since
// all that arrives would have to wait for it: operations of several messages that may go on, data that is to be copied,
// and what another thread found the lock taken for are the affair of those who wait, or of the progress thread.
void gompi_lane_end_served(struct gompi_lane *l);

// A record that waits, from those that are kept to be used again.
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

// A request or message of a lane has been made, or freed. When most of many have gone their memory becomes the
// system's again.
static inline void gompi_lane_made(struct gompi_lane *l) { gompi_crowd_more(&l->crowd); }
void gompi_lane_freed(struct gompi_lane *l);

// A request from those to be used again, or a new one, cleared, with its lane. NULL: there is no memory.
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

// Gives a request back that nothing refers to any longer.
// What it has of a kind, or of a datatype. Returns true if that was all: the memory is not the lane's.
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

// Gives a request a handle. false: there is no memory, or as many are live as can be.
static inline bool gompi_request_add(struct gompi_request *r) {
	r->handle = (uint32_t)gompi_handles_add(&r->lane->requests.handles, r);
	r->handled = r->handle != 0;
	return r->handled;
}

// Persistent requests of messages: only the application makes them, so they need no lane's lock (persistent.c).
extern struct gompi_objects gompi_persistent;
// Returns one with a handle, cleared; NULL: there is no memory, or as many are live as can be.
struct gompi_request *gompi_persistent_make(struct gompi_lane *l);
void gompi_persistent_remove(struct gompi_request *r); // the handle
void gompi_persistent_give(struct gompi_request *r);
// Frees one that is complete or inactive. Returns false if that needs the lane's lock.
bool gompi_persistent_free(struct gompi_request *r);

// Takes the handle away.
static inline void gompi_request_remove(struct gompi_request *r) {
	if (__builtin_expect(r->apart, 0))
		gompi_persistent_remove(r);
	else
		gompi_handles_remove(&r->lane->requests.handles, r->handle);
	r->handled = false;
}

// Publishes the result of a request; whoever waits for it is woken when the lock is given back.
void gompi_complete_slow(struct gompi_lane *l, struct gompi_request *r);
static inline void gompi_complete(struct gompi_lane *l, struct gompi_request *r, int class) {
	r->result.class = class;
	if (__builtin_expect(r->freed || (r->context & 15) != 0, 0)) {
		gompi_complete_slow(l, r);
		return;
	}
	l->completed = true;
	gompi_store_release(&r->state, REQUEST_COMPLETE); // pairs with the acquire of who waits
}

#pragma GCC visibility pop
#endif
