// The state of the message layer of a process: VCIs and their locks, links to other processes, pending records, and
// unexpected messages.
//
// A VCI (virtual channel) is an inbox with its queues, requests and lock. A communicator maps to one VCI permanently,
// and the VCI's lock guards all state of the communicator's messages. A thread does not hold the lock while it copies
// memory of the application in bulk or waits for anything. No thread holds two VCI locks.
#ifndef GOMPI_MESSAGE_VCI_H
#define GOMPI_MESSAGE_VCI_H

#include "base/biased_mutex.h"
#include "base/combining_lock.h"
#include "base/wait.h"
#include "message/bsend_buffer.h"
#include "message/inbox.h"
#include "message/request.h"

// States of the check that process_vm_readv works on the memory of a process.
enum gompi_cma_state { CMA_UNKNOWN, CMA_WORKS, CMA_REFUSED };

// A link: the state that one VCI keeps for sending to one other process.
struct gompi_link {
	struct gompi_inbox *inbox; // the peer's inbox; NULL if the peer is on another node
	gompi_a64 cached_head;     // cached copy of the inbox' head
	gompi_a64 full_head;       // inbox head when a send last polled for space unsuccessfully
	// Number of pending records and streams (below). While it is positive, further records are queued behind them,
	// to keep the order. Only answers to other nodes may overtake (gompi_record_is_answer).
	gompi_ai32 pending_count;
	gompi_a32 cma_state;     // enum gompi_cma_state
	int32_t world;           // number of the process (base/process.h)
	int32_t node_index;      // index of the process on this node; -1 if it is on another node
	struct gompi_cell *cell; // shared cell of the peer; NULL if the peer is on another node
	gompi_a32 flow;          // enum gompi_flow: protocol that a peer on another node has requested
	// The VCI's lock guards the following fields.
	struct gompi_pending *first_pending, *last_pending; // FIFO of records that found no space
	struct gompi_request *first_stream, *last_stream;   // sends whose data is sent in fragments (RECORD_FRAGMENT)
	struct gompi_link *next_pending;                    // next in the VCI's list of links with pending output
	// sends to this peer that are in the VCI's table of unacknowledged sends
	int32_t unacked_sends;
	bool needs_reminder;         // an unacknowledged send is newer than the last RECORD_REMINDER to the peer
	uint32_t reminders_received; // number of RECORD_REMINDER received from the peer
	// true if this process has asked the peer, which is on another node, to keep the data of its messages
	// (FLOW_RENDEZVOUS)
	bool throttled;
	struct gompi_link *next_throttled; // next in the VCI's list of throttled peers
};

static inline bool gompi_is_remote(const struct gompi_link *p) { return p->inbox == NULL; }

// How the sender of a record notifies the peer.
enum gompi_notify_mode {
	NOTIFY_DOORBELL, // if no thread of the peer polls or waits, the sender notifies the peer's progress thread
	// Does not notify the progress thread. The sender relies on a thread of the peer that polls or waits. But a
	// sender that finds no space in the inbox does notify the progress thread.
	NOTIFY_WAITERS,
};

struct gompi_pending {
	struct gompi_pending *next;
	struct gompi_record record; // record.word has only the kind and flags, no length
	struct gompi_request *send; // the send whose data or segment list the record carries, or NULL
	enum gompi_notify_mode notify;
};

// A message that has arrived before its receive (unexpected), or that a matched probe has extracted.
struct gompi_message {
	struct gompi_entry entry;
	struct gompi_entry_link *index_links; // links in the index of a list (queue.c)
	// Id of the send that waits for an acknowledgement; 0 if none waits. For a send of this process to itself: the
	// address of its request.
	uint64_t id;
	int32_t from; // process number of the sender (base/process.h)
	// reminders_received of the sender's link when the message arrived. If the counter has changed since, the
	// sender waits for this message.
	uint32_t reminders_seen;
	bool answer_rings_doorbell;      // the answer must notify the sender's progress thread
	bool sender_waits;               // a thread of the sender waits until the message is received
	bool rts;                        // the data is still in the sender's memory
	bool region_is_valid;            // the sender is on another node, and region is valid
	int16_t segment_count;           // number of segments of the data at the sender; 0 if unknown
	int32_t fetch_error;             // error class if the data could not be fetched, else MPI_SUCCESS
	int64_t size;                    // bytes of the whole message
	char *data;                      // buffer of the eager data; stays allocated for the next message
	int64_t data_capacity;           // size of the buffer at data in bytes
	struct gompi_request *self_send; // the send, if this process sent to itself and the data has not been copied
	struct iovec *segment;           // segments in the sender's memory
	union {
		struct iovec single_segment; // storage for segment if there is only one
		struct gompi_region region;  // the sender's memory, registered for remote reads
	};
	struct gompi_request *fetch;    // internal receive that fetches the data; NULL if none
	struct gompi_request *receiver; // the receive that has matched the message and waits for `fetch`; NULL if none
	struct gompi_vci *vci;
	uintptr_t comm; // handle of the communicator; set if a matched probe has returned the message
	struct gompi_message *next;
};

_Static_assert(offsetof(struct gompi_message, index_links) == offsetof(struct gompi_listed_message, index_links) &&
		       offsetof(struct gompi_message, id) == offsetof(struct gompi_listed_message, id) &&
		       offsetof(struct gompi_message, from) == offsetof(struct gompi_listed_message, from),
	       "a message begins as lists of messages know it");

// Maximum number of segments that describe a sender's memory. Data in more segments is sent in fragments
// (RECORD_FRAGMENT): that costs a second copy but needs no list.
enum { GOMPI_SEGMENTS = 64 };

struct gompi_vci {
	_Alignas(GOMPI_CACHE_LINE) struct gompi_biased_mutex lock;
	gompi_a32 missed_progress; // 1 if a thread has left its progress to the lock holder (base/combining_lock.h)
	bool has_completions;      // an operation has completed since the lock was acquired: the unlock wakes waiters
	bool has_released_space;   // inbox space has been released under this lock: the unlock notifies producers
	bool must_flush;           // pending output is new or may now find space: the unlock tries to send it
	bool work_is_urgent;       // data in the work list is urgent: its sender waits
	gompi_a32 inbox_error;     // error class if the inbox is damaged, else 0
	union {
		struct {
			// number of links with pending output, plus 1 if reads wait to be started
			gompi_a32 pending_links;
			gompi_a32 has_work; // the work list is not empty
		};
		gompi_a64 busy; // both fields above in one word: non-zero if one of them is non-zero
	};
	char *_Atomic next_record; // address of the record at released_position
	gompi_a64 expected_flag;   // valid flag of the record at next_record, once it is complete
	struct gompi_inbox *inbox;
	uint64_t flag_key;          // key of the valid flags (inbox.h)
	char *read_at;              // address of the next record to consume
	uint64_t read_position;     // position of read_at; ahead of released_position while a batch is consumed
	uint64_t released_position; // position up to which space has been returned to the producers
	struct gompi_messages *messages;
	struct gompi_queues queues;
	struct gompi_requests requests;
	struct gompi_request *work, *last_work; // receives whose data this process must copy from a sender's memory
	struct gompi_link *first_pending_link;  // links with pending output
	// [index on this node]. Processes on other nodes have index -1. Entry -1 is always NULL, so that gompi_link_to
	// calls gompi_link_slow for them.
	struct gompi_link *_Atomic *links;
	struct gompi_id_table send_ids;    // sends that wait for an acknowledgement or are sent in fragments
	struct gompi_id_table receive_ids; // receives whose data arrives in fragments
	struct gompi_list extracted;       // messages that matched probes have extracted
	struct gompi_message *free_messages;
	int free_message_count;
	int64_t free_message_bytes;   // bytes of the data buffers of the free messages
	uint32_t flow;                // enum gompi_flow: protocol that this VCI requests from senders
	int64_t unexpected_bytes;     // bytes of unexpected messages, for flow control (unexpected.c)
	uint64_t sends_at_reminder;   // value of send_ids.total_added at the last reminder to receivers
	gompi_a64 unexpected_arrived; // count of unexpected messages so far; a probe searches again only if it changed
	gompi_ai32 unexpected_count;  // number of unexpected messages that no receive has matched yet
	struct gompi_pending *free_pending;
	struct gompi_live_count live_count; // counts requests and messages
	// For peers on other nodes. queued_reads: remote reads that are not started yet. free_reads: free list.
	// first_throttled: list of throttled peers. deferred_cancels: records of kind RECORD_CANCEL with the flag
	// RECORD_FINALIZE, which this process handles only in MPI_Finalize.
	struct gompi_read *queued_reads, *free_reads;
	struct gompi_link *first_throttled;
	struct gompi_pending *deferred_cancels;
};

// The message layer of one process. The application has one instance; tests create several.
struct gompi_messages {
	struct gompi_node node;
	bool no_cma;         // process_vm_readv is not used between the processes
	uint64_t *cma_probe; // one page that peers read to find out whether process_vm_readv reaches this process
	gompi_a32 plan_may_continue; // 1 if a message that may belong to a plan has completed
	gompi_a32 plan_needs_app;    // a progress thread has left the next step of a plan to application threads
	gompi_a32 hooks;             // bits HOOK_*: work of a poll besides the VCIs
	struct gompi_vci vci[GOMPI_VCI_COUNT];
	struct gompi_bsend_buffer bsend_buffer; // buffer of MPI_Buffer_attach
	struct gompi_mutex plans_lock;          // guards active_plans; held briefly
	struct gompi_plan *active_plans;        // list (plan.h)
	struct gompi_mutex peers_lock;          // guards additions to peers
	uint32_t peer_count;
	struct gompi_remote_peers *_Atomic peers; // links to processes on other nodes
	// Points to gompi_progress_locked. The functions that release a VCI's lock call it through this pointer,
	// because they are in a layer below the progress code.
	bool (*progress)(struct gompi_vci *l);
};

// Bits of gompi_messages.hooks: the work of a poll besides polling the VCIs.
enum {
	HOOK_NETWORK = 1,  // the job spans nodes
	HOOK_SERVICES = 2, // another package has active requests, which its service advances
	HOOK_PLANS = 4,    // there are active plans
};

#pragma GCC visibility push(hidden)

// The message layer of the application. NULL if MPI is not running.
extern struct gompi_messages *_Atomic gompi_app_messages;
// Guards the change of gompi_app_messages to NULL. A thread that is in no MPI call that needs MPI to run holds it while
// it reads gompi_app_messages, *gompi_app_messages or the node's memory, which MPI_Finalize frees afterwards.
extern struct gompi_mutex gompi_app_messages_lock;

// Returns the VCI of a context.
static inline struct gompi_vci *gompi_vci_of(struct gompi_messages *m, uint64_t context) {
	return &m->vci[context >> 4 & (GOMPI_VCI_COUNT - 1)];
}

// Returns the shared cell of the process with this index on the node. The cells begin 4096 bytes after the start of the
// node header.
static inline struct gompi_cell *gompi_messages_cell(struct gompi_messages *m, int process) {
	return (struct gompi_cell *)(m->node.control + 4096 + (size_t)process * m->node.cell_stride);
}

// Returns the index of a process on this node, or -1 if it is on another node or does not exist.
static inline int gompi_messages_node_index(const struct gompi_messages *m, int world) {
	return gompi_process_index(m->node.processes, world);
}

static inline struct gompi_inbox *gompi_inbox_of(struct gompi_messages *m, int process, int vci) {
	return (struct gompi_inbox *)(m->node.message_rings + (size_t)process * m->node.message_stride +
				      (size_t)vci * GOMPI_INBOX_SIZE);
}

// Returns the link to a process other than this one. Links live until gompi_links_close.
struct gompi_link *gompi_link_slow(struct gompi_vci *l, int node_index, int world);
static inline struct gompi_link *gompi_link_to(struct gompi_vci *l, int world) {
	int process = gompi_messages_node_index(l->messages, world);
	struct gompi_link *p = gompi_load_acquire(&l->links[process]);
	return __builtin_expect(p != NULL, 1) ? p : gompi_link_slow(l, process, world);
}
// Returns the links to a process on another node, one per VCI; NULL before the first use.
struct gompi_link *gompi_remote_links(struct gompi_messages *m, int world);
void gompi_links_close(struct gompi_messages *m);

// Marks functions with an intended data race: they read memory that another thread may be writing or may have released.
// Their results only decide whether to poll, so a wrong value is harmless.
#if defined(__SANITIZE_THREAD__)
#define GOMPI_RACY_READ __attribute__((no_sanitize("thread")))
#else
#define GOMPI_RACY_READ
#endif

// Returns true if gompi_vci_progress may have something to do (unlocked check). While another thread consumes records,
// the function may miss a record that the other thread has not seen either. Therefore a thread calls
// gompi_messages_progress_all before it sleeps.
GOMPI_RACY_READ static inline bool gompi_vci_has_work(struct gompi_vci *l) {
	return gompi_load((gompi_a64 *)gompi_load(&l->next_record)) == gompi_load(&l->expected_flag) ||
	       gompi_load(&l->busy) != 0;
}

// Returns true if a producer writes the payload of the next record (unlocked check).
GOMPI_RACY_READ static inline bool gompi_vci_has_interim(struct gompi_vci *l) {
	return gompi_load((gompi_a64 *)gompi_load(&l->next_record)) - gompi_load(&l->expected_flag) - 1 <
	       GOMPI_CACHE_LINE - 1;
}

// Advances to the next record, after the record with this word. The caller holds the lock.
static inline void gompi_vci_skip_record(struct gompi_vci *l, uint64_t word) {
	l->read_at = gompi_inbox_next_record(l->inbox, l->read_at, gompi_record_length(word));
	l->read_position += (uint64_t)gompi_round_to_lines(gompi_record_length(word));
}

static inline void gompi_vci_lock(struct gompi_vci *l) { gompi_biased_lock(&l->lock); }
// Tries to acquire the lock in order to make progress. Returns false if another thread holds the lock. That thread then
// makes the progress for this thread too (base/combining_lock.h). The calling thread must not hold the lock. The
// attempt then fails only if another thread holds the mutex of the biased lock (base/biased_mutex.h). Therefore the
// bias owner need not check missed_progress after it has held the lock without the mutex.
static inline bool gompi_vci_trylock(struct gompi_vci *l) {
	if (__builtin_expect(gompi_biased_trylock(&l->lock), 1))
		return true;
	gompi_missed_post(&l->missed_progress);
	return gompi_biased_trylock(&l->lock);
}

// Notifies the processes that wait for space in the inbox, if enough of the inbox is free.
void gompi_vci_notify_space(struct gompi_vci *l);
// Releases the lock. Afterwards the caller must either acquire the lock again, or check missed_progress as
// gompi_vci_unlock does. Wakes threads that wait for completions, and notifies processes that wait for space in the
// inbox. The full fence orders the release of space before the read of inbox->has_waiters. It is paired with
// gompi_inbox_register_waiter. Without the fence, this thread could read an old value of has_waiters while a producer
// registers and still finds no space. Returns true if another thread may have found the lock held.
static inline bool gompi_vci_unlock_wake(struct gompi_vci *l) {
	struct gompi_messages *m = l->messages;
	bool completed = l->has_completions, announces = l->has_released_space;
	l->has_completions = l->has_released_space = false;
	bool by_mutex = gompi_biased_unlock(&l->lock);
	if (completed)
		gompi_wake(&gompi_messages_cell(m, m->node.local_index)->wait);
	if (announces) {
		gompi_full_fence();
		if (__builtin_expect(gompi_load(&l->inbox->has_waiters) != 0, 0))
			gompi_vci_notify_space(l);
	}
	return by_mutex;
}

// Makes progress for the threads that found the lock held and left their progress to this thread. The caller has
// released the lock.
void gompi_vci_progress_missed(struct gompi_vci *l);
// Releases the lock at the end of a critical section: calls gompi_vci_unlock_wake, then gompi_vci_progress_missed if
// another thread has left its progress to this thread.
static inline void gompi_vci_unlock(struct gompi_vci *l) {
	if (__builtin_expect(gompi_vci_unlock_wake(l), 0) &&
	    __builtin_expect(gompi_load_seq_cst(&l->missed_progress) != 0, 0))
		gompi_vci_progress_missed(l);
}
// Performs the work that was found under the lock (work list, pending output), then releases the lock as
// gompi_vci_unlock does.
void gompi_vci_unlock_progress(struct gompi_vci *l);
// Releases the lock for calls that start an operation and return. Copies data of the work list only if its sender
// waits. Any other copy would delay the operations that the application is about to start, and the processes that wait
// for these operations. So other data is copied later: by a waiting thread of this process, which this function wakes
// if it sleeps, or as soon as the sender waits.
void gompi_vci_unlock_started(struct gompi_vci *l);
// Releases the lock after a record from the network has been handled. Does not copy, wait, or make progress for another
// thread, because this would delay the following records. Waiting threads or the progress thread do this work later:
// they continue plans, copy data, and make progress for threads that found the lock held.
void gompi_vci_unlock_network(struct gompi_vci *l);

// Returns a pending record from the free list, or a new one.
static inline struct gompi_pending *gompi_pending_alloc(struct gompi_vci *l) {
	struct gompi_pending *w = l->free_pending;
	if (w == NULL)
		return gompi_alloc_or_abort(sizeof *w);
	l->free_pending = w->next;
	return w;
}
static inline void gompi_pending_free(struct gompi_vci *l, struct gompi_pending *w) {
	w->next = l->free_pending;
	l->free_pending = w;
}

// Counts the requests and messages of a VCI. gompi_vci_count_alloc counts an allocation, gompi_vci_count_free a
// deallocation. When most of a large number of objects have been freed, gompi_vci_count_free returns their memory to
// the system.
static inline void gompi_vci_count_alloc(struct gompi_vci *l) { gompi_live_count_inc(&l->live_count); }
void gompi_vci_count_free(struct gompi_vci *l);

// Returns a cleared request of the VCI, from the free list or new. Returns NULL if out of memory.
struct gompi_request *gompi_request_alloc_slow(struct gompi_vci *l);
static inline struct gompi_request *gompi_request_alloc(struct gompi_vci *l) {
	struct gompi_request *r = l->requests.free_list;
	if (__builtin_expect(r == NULL, 0))
		return gompi_request_alloc_slow(l);
	l->requests.free_list = r->next;
	l->requests.free_count--;
	gompi_request_clear(r);
	r->vci = l;
	return r;
}

// Releases a request, which nothing may refer to any longer. gompi_request_release returns it to the free list.
// gompi_request_drop_refs releases the request's references to its kind and datatype. If r is in the table of
// persistent requests, gompi_request_drop_refs also frees r, whose memory does not belong to the VCI, and returns true.
bool gompi_request_drop_refs(struct gompi_request *r);
void gompi_request_dealloc(struct gompi_request *r);
static inline void gompi_request_release(struct gompi_request *r) {
	struct gompi_vci *l = r->vci;
	if (__builtin_expect(r->kind != NULL || r->buf.type != NULL || r->in_persistent_table, 0) &&
	    gompi_request_drop_refs(r))
		return;
	if (__builtin_expect(l->requests.free_count == GOMPI_REQUEST_MAX_FREE, 0)) {
		gompi_request_dealloc(r);
		return;
	}
	r->next = l->requests.free_list;
	l->requests.free_list = r;
	l->requests.free_count++;
}

// Creates a handle for a request. Returns false if out of memory or if the maximum number of requests is live.
static inline bool gompi_request_add_handle(struct gompi_request *r) {
	r->handle = (uint32_t)gompi_handles_add(&r->vci->requests.handles, r);
	r->has_handle = r->handle != 0;
	return r->has_handle;
}

// Persistent requests of messages: only application calls create them, so they need no VCI's lock (persistent.c).
extern struct gompi_object_pool gompi_persistent_requests;
// Returns a cleared persistent request with a handle. Returns NULL if out of memory or if the maximum number is live.
struct gompi_request *gompi_persistent_alloc(struct gompi_vci *l);
void gompi_persistent_drop_handle(struct gompi_request *r); // removes the handle
void gompi_persistent_release(struct gompi_request *r);
// Frees a persistent request that is complete or inactive. Returns false if this needs the VCI's lock.
bool gompi_persistent_free(struct gompi_request *r);

// Removes the handle of a request.
static inline void gompi_request_drop_handle(struct gompi_request *r) {
	if (__builtin_expect(r->in_persistent_table, 0))
		gompi_persistent_drop_handle(r);
	else
		gompi_handles_remove(&r->vci->requests.handles, r->handle);
	r->has_handle = false;
}

// Publishes the result of a request. Waiting threads are woken when the lock is released. Calls gompi_complete_slow if
// the request is freed, or if the low bits of its context show that the library itself sent the message
// (core/comm.Context). That function calls on_complete of the request's kind. Without a kind, it releases a freed
// request, and completes any other request and lets plans continue.
void gompi_complete_slow(struct gompi_vci *l, struct gompi_request *r);
static inline void gompi_complete(struct gompi_vci *l, struct gompi_request *r, int class) {
	r->result.class = class;
	if (__builtin_expect(r->freed || (r->context & 15) != 0, 0)) {
		gompi_complete_slow(l, r);
		return;
	}
	l->has_completions = true;
	// pairs with the acquire loads of waiters (gompi_is_complete, gompi_array_scan)
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

#pragma GCC visibility pop
#endif
