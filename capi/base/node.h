// The shared memory of a node: the node header and the cells of the processes. core/gen generates the constants with
// which Go accesses both. core/shm/layout.go documents the rest of the memory.
#ifndef GOMPI_NODE_H
#define GOMPI_NODE_H

#include <stddef.h>

#include "base/process.h"

#define GOMPI_CACHE_LINE 64
#define GOMPI_ACTIVITY_SLOTS 16

// A word on which threads of any process of the node sleep. The protocol is in wait.c.
struct gompi_waitword {
	gompi_a32 wake_seq;     // futex; each wake-up of sleepers increments it
	gompi_a32 has_sleepers; // 1 if a thread may sleep on wake_seq
};

// The activity flag of one thread: seq is odd while the thread is inside a small accumulate. Each flag has its own
// cache line (update/mode.h).
struct gompi_activity {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 seq;
};

// Values of the field `peer` of a wait that depends on more than one process. ALL: the wait depends on all members of
// the object, or the processes are unknown. ANY: an event from any one member of the object ends the wait. SEVERAL: any
// of several events, possibly of different objects, ends the wait.
enum gompi_wait_peers { GOMPI_PEERS_ALL = -1, GOMPI_PEERS_ANY = -2, GOMPI_PEERS_SEVERAL = -3 };

// The event that ends a wait. For most reasons it is a call that the awaited process (the peer) must make.
enum gompi_wait_reason {
	// the event depends on the waiting MPI function: a collective waits until the other members call the same
	// collective; any other function waits for progress in the library, not for a call
	GOMPI_FOR_CALL,
	GOMPI_FOR_MESSAGE,    // the peer sends a message with the tag
	GOMPI_FOR_RECEIPT,    // the peer receives the message with the tag
	GOMPI_FOR_POST,       // the peer calls MPI_Win_post
	GOMPI_FOR_COMPLETE,   // all origins of the exposure epoch call MPI_Win_complete; some may have done so
	GOMPI_FOR_LOCK,       // the lock holder unlocks the peer's memory; the tag is the peer's rank in the window
	GOMPI_FOR_COLLECTIVE, // the members start the operation; the tag is its sequence number on the communicator
	GOMPI_FOR_PARTITIONS, // the peer marks the partitions of the message with the tag as ready
	GOMPI_FOR_SELF,       // another thread of this process calls the MPI function `operation`
};

// The wait record of a sleeping thread, for the report on a hang. The sleeping thread writes it; any thread or process
// may read it.
enum gompi_wait_record_state { RECORD_FREE, RECORD_RESERVED, RECORD_PUBLISHED };
enum {
	// the peer must act next, but a failure of any member of the object ends the wait
	WAIT_RECORD_ALL = 1 << 8,
	WAIT_RECORD_OTHER_JOBS = 1 << 9, // this process is connected to other jobs, whose processes may end the wait
};
enum { GOMPI_WAIT_RECORD_MEMBERS = 4, GOMPI_WAIT_RECORD_NAME_BYTES = 24, GOMPI_WAIT_MISSING_WORDS = 2 };
struct gompi_wait_record {
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 state;
	gompi_ai32 peer;        // number of the awaited process, or one of enum gompi_wait_peers
	gompi_a64 object;       // handle of the communicator, window or file; 0 if none
	_Atomic char call[32];  // name of the MPI function that the application called, NUL-terminated
	gompi_a32 wait_count;   // number of waits that this record has described so far
	gompi_a32 wakeup_count; // number of wake-ups during these waits
	gompi_ai32 thread;      // thread id (gettid)
	// tag of the message, or another number as enum gompi_wait_reason defines it
	gompi_ai32 tag;
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 id; // id of the object, the same at all members; 0 if unknown
	gompi_a32 reason;                        // enum gompi_wait_reason, and WAIT_RECORD_ bits
	// The members of the object, or only those members on which the wait depends. member_count is the number of
	// these members, and stride is the constant difference between the numbers of successive members. If stride is
	// 0, the differences vary, and member holds only the first GOMPI_WAIT_RECORD_MEMBERS members.
	gompi_ai32 member_count, stride;
	gompi_ai32 member[GOMPI_WAIT_RECORD_MEMBERS];
	gompi_ai32 pending_count; // GOMPI_FOR_COMPLETE, GOMPI_FOR_COLLECTIVE: members still awaited; -1 if unknown
	// name of the object, NUL-terminated unless truncated; "" if it has no name
	_Atomic char name[GOMPI_WAIT_RECORD_NAME_BYTES];
	_Alignas(GOMPI_CACHE_LINE) _Atomic char operation[32]; // awaited MPI function (enum gompi_wait_reason)
	gompi_a64 missing_bitmap[GOMPI_WAIT_MISSING_WORDS];    // GOMPI_FOR_COLLECTIVE: bit i is 1 if rank i is awaited
	gompi_a64 go_caller_frame; // frame from which the thread called Go; 0 if it is not inside Go
	// If any of several events may end a wait, each event has its own record, as long as records are free.
	// parent_record in the record of an event identifies the record of the wait. event_count in the record of the
	// wait is the number of events.
	gompi_ai32 parent_record; // index of the record of the wait + 1
	gompi_ai32 event_count;
};

// A copy in which two processes take part, the initiator and the helper (assisted_copy.h). It is in the cell of the
// initiator.
struct gompi_shared_copy {
	_Alignas(GOMPI_CACHE_LINE) gompi_a64 claimed_pieces; // number of pieces that either process has claimed
	gompi_a64 initiator_address, helper_address, bytes;  // where the data is in the two processes, and its size
	gompi_ai32 initiator_pid;
	gompi_a32 writes;       // 1: the data moves from the initiator to the helper
	gompi_a32 helper_state; // written by the helper at the end (assisted_copy.c)
};

// GOMPI_PROGRESS_THREADS: maximum number of the library's progress threads. wait_records with an index below
// GOMPI_WAIT_THREADS describe waits; the other wait_records describe events that may end one of these waits.
enum { GOMPI_UNREACHABLE_SLOTS = 16, GOMPI_WAIT_RECORDS = 32, GOMPI_WAIT_THREADS = 16, GOMPI_PROGRESS_THREADS = 6 };
struct gompi_cell {
	gompi_ai32 pid;
	gompi_a32 state;
	_Alignas(GOMPI_CACHE_LINE) struct gompi_waitword wait;
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 doorbell; // futex of the progress thread
	gompi_a32 progress_sleeps;                     // 1 if the progress thread sleeps or is about to sleep
	// Set to 1 by another process that waits for messages which this process' progress thread must send. While it
	// is 1, every message of a plan to this process also rings this process' doorbell (is_urgent, message/plan.c).
	gompi_a32 needs_doorbell;
	_Alignas(GOMPI_CACHE_LINE) gompi_ai32 poller_count; // number of threads that poll this process' rings
	gompi_ai32 blocked_count; // number of application threads inside a blocking call, polling or asleep
	// index + 1 of the process that requests help with a copy (assisted_copy.h); 0 if none
	gompi_a32 copy_offer;
	// number of threads that wait without a record, because none was free
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 unrecorded_waits;
	struct gompi_activity activity[GOMPI_ACTIVITY_SLOTS];
	gompi_a32 activity_used; // bitmap of the activity flags that threads use
	// Used by Go only. reserved_bytes: bytes of memory that are promised and not yet allocated
	// (core/shm/promise.go). releasing_bytes: bytes that a background task will still release
	// (core/shm/release.go). cached_bytes: bytes of unused blocks (core/shm/blocks.go).
	_Alignas(GOMPI_CACHE_LINE) int64_t reserved_bytes;
	int64_t releasing_bytes, cached_bytes;
	// Used by Go only. generation: number of processes that have used this cell before. heap_base: offset where
	// this process' heap begins. heap_peak: end of the heap memory that the processes with this cell have used.
	uint32_t generation;
	int64_t heap_base, heap_peak;
	// For tools that read the process from outside; written once.
	uint64_t code_address;                               // an address in the library's code
	uint64_t windows_address;                            // the address of the table of windows (win/win_table.h)
	gompi_ai32 progress_threads[GOMPI_PROGRESS_THREADS]; // thread ids; 0 after the last id
	// unreachable: rank + 1 of processes to which this process cannot connect. connect_requests: rank + 1 of
	// processes that cannot connect to this process and ask it to connect to them (fabric/connect_back.c). Free
	// elements of both are 0.
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 unreachable[GOMPI_UNREACHABLE_SLOTS];
	gompi_a32 connect_requests[GOMPI_UNREACHABLE_SLOTS];
	struct gompi_wait_record wait_records[GOMPI_WAIT_RECORDS];
	struct gompi_shared_copy shared_copy; // the copy for which this process has requested help
	// For tools that read the process from outside. comms_address: address of the table of communicators
	// (comm/comm.h). comm_world_address: address of the descriptor of MPI_COMM_WORLD, which is not in the table.
	uint64_t comms_address, comm_world_address;
	_Alignas(GOMPI_CACHE_LINE) gompi_a64
		completed_ops[]; // [i]: ring position + 1 of this process' last packet that process i has applied
};

// A failed process of another node. The entries fill the page of the node header.
enum { GOMPI_FAILED_ENTRIES = 440 };
struct gompi_failed_process {
	gompi_a32 rank;  // process number + 1; 0 if this entry and all later entries are free
	gompi_a32 cause; // enum gompi_failure_cause
};

struct gompi_node_header {
	uint64_t magic;
	uint32_t layout_version;
	gompi_a32 process_count; // number of processes that exist or have existed; the launcher may add some
	uint32_t slot_count;     // maximum number of processes
	uint32_t creator_pid;
	uint32_t core_count;
	uint32_t segment; // id + 1 of the System V segment that holds this memory; 0 if a memfd holds it
	// random number that identifies the processes which share this memory, for processes of other jobs
	uint64_t universe;
	// times of a system call that moves 8 bytes or 16 KiB within a process (transport/cma.h); 0 if not measured yet
	gompi_a32 cma_call_ns, cma_16k_call_ns;
	gompi_a32 no_membarrier; // 1 if some process has no membarrier(2): every waker then needs a full fence (wait.h)
	// number of failed processes and of revocations found; if not 0, each wait checks whether it depends on one of
	// them
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 failed_count;
	gompi_a32 revocation_count; // number of revocations in failed_count
	gompi_a32 job_is_ending;    // written by Go: 1 once the launcher has begun to end the job
	// Used by Go only. promise_lock: futex of the lock for promises of memory (core/shm/promise.go). Its value is
	// the index + 1 of the lock holder, or 0 if the lock is free. memory_events: futex that is incremented when a
	// promise is lowered or memory is released.
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 promise_lock;
	_Alignas(GOMPI_CACHE_LINE) gompi_a32 memory_events;
	// failed processes of other nodes, in the order of detection; the launcher writes entries too, always with the
	// cause GOMPI_FAILED_ENDED
	_Alignas(256) struct gompi_failed_process failed_processes[GOMPI_FAILED_ENTRIES];
	gompi_a32 failed_overflow; // 1 if there are more failed processes than entries
};

_Static_assert(sizeof(struct gompi_node_header) <= 4096, "the cells begin on the next page");

enum gompi_failure_cause {
	GOMPI_FAILED_ENDED = 1,    // ended without MPI_Finalize
	GOMPI_FAILED_CONNECTION,   // the connection is broken and cannot be re-established
	GOMPI_FAILED_TIMEOUT,      // it has sent nothing for GOMPIRMA_PEER_TIMEOUT
	GOMPI_FAILED_NODE_TIMEOUT, // no process of its node has sent anything for that time
	GOMPI_FAILED_UNREACHABLE,  // no connection to it can be established
};

// The state of a process in its cell. A process is absent until it maps the memory, and opening until it can receive
// messages. It is finishing in MPI_Finalize, and finalized afterwards and after its last session; a later session makes
// it running again. It is failed once its failure has been detected.
enum {
	GOMPI_STATE_ABSENT,
	GOMPI_STATE_OPENING,
	GOMPI_STATE_RUNNING,
	GOMPI_STATE_FINISHING,
	GOMPI_STATE_FINALIZED,
	GOMPI_STATE_FAILED,
};

// How threads of the node's processes wait. The values are in tuning.h.
struct gompi_wait_policy {
	// the values of GOMPI_WAIT_POLL_NS, GOMPI_LONG_YIELD_NS and GOMPI_WAIT_MAX_SLEEP_NS (tuning.h)
	int64_t poll_ns, long_yield_ns, max_sleep_ns;
	int32_t quiet_polls;
	// True if there are fewer cores than processes. Then a waiting thread yields its core after each check. If
	// false, it yields only after some time of polling, because the system may still run two processes on one core.
	bool is_oversubscribed;
};
struct gompi_wait_policy gompi_wait_policy_for(bool oversubscribed);

// This process' view of its node. gompi_node_open writes it once, before any call can use it.
struct gompi_node {
	char *control;                     // start of the shared memory: node header, cells
	int n, local_index;                // maximum number of processes on the node; index of this process
	int core_count;                    // number of cores that the processes of the node may use
	int self;                          // number of this process (process.h)
	struct gompi_processes *processes; // all known processes
	struct gompi_wait_policy policy;
	bool has_cma;           // process_vm_readv and process_vm_writev may be used: GOMPIRMA_NO_CMA=1 is not set
	bool is_fault_tolerant; // the job continues when a process fails: GOMPIRMA_FT=1
	bool has_membarrier;    // membarrier(2) works in this process, so small accumulates need no CPU fence
	size_t cell_stride;     // bytes from one process' cell to the next
	char *message_rings;    // inboxes of the n processes, message_stride bytes each (message/inbox.h)
	size_t message_stride;
	char *operation_rings; // rings of the n processes, operation_stride bytes each (transport/ring.h)
	size_t operation_stride;
};
extern struct gompi_node gompi_node;

// True if membarrier(2) is available and reaches this process.
extern bool gompi_has_membarrier __attribute__((visibility("hidden")));

// Points to no_membarrier in the node header. Before gompi_node_open, it points to a word that is 1, so wakers use a
// full fence.
extern gompi_a32 *gompi_no_membarrier __attribute__((visibility("hidden")));

static inline struct gompi_node_header *gompi_node_header(void) {
	return (struct gompi_node_header *)gompi_node.control;
}

// Returns the number of processes that exist or have existed on the node. Their indices are below it.
static inline int gompi_node_count(void) { return (int)gompi_load(&gompi_node_header()->process_count); }

static inline struct gompi_cell *gompi_cell(int i) {
	return (struct gompi_cell *)(gompi_node.control + 4096 + (size_t)i * gompi_node.cell_stride);
}

static inline struct gompi_cell *gompi_my_cell(void) { return gompi_cell(gompi_node.local_index); }

// Returns the index on this node of the process with this number; -1 if it is on another node or does not exist. This
// is the only function that decides whether a process is on this node.
static inline int gompi_local_index(int peer) { return gompi_process_index(gompi_node.processes, peer); }

// Copies *node to gompi_node and determines its fields self, has_membarrier and is_fault_tolerant. In this process'
// cell, sets code_address and clears progress_threads. Sets no_membarrier in the node header if this process has no
// membarrier(2). In a fault-tolerant job, may ignore SIGUSR1.
void gompi_node_open(const struct gompi_node *node);

// Registers the calling thread as one of the library's progress threads.
void gompi_add_progress_thread(void);

// Executes a full barrier in every running process of the node that has registered for membarrier(2), and in the
// calling thread.
void gompi_node_membarrier(void);

// Executes a full barrier in every running thread of this process, by membarrier(2). If membarrier(2) fails,
// returns false without a barrier, and makes all wakers of the node use a CPU fence from then on.
__attribute__((visibility("hidden"))) bool gompi_process_membarrier(void);

#endif
