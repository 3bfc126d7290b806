// The shared memory of a node as C accesses it. The layout is that of core/shm/layout.go; capi/layout.go compares the
// two at compile time.
#ifndef GOMPI_NODE_H
#define GOMPI_NODE_H

#include <stddef.h>

#include "base/process.h"

#define GOMPI_LINE 64
#define GOMPI_MARK_SLOTS 16

// A word on which threads of any process of the node sleep. The protocol is in wait.c.
struct gompi_waitword {
	gompi_a32 wake;     // futex: each waker changes it
	gompi_a32 sleeping; // 1 if a thread may sleep on it
};

// The activity flag of one thread: seq is odd while the thread is inside a small accumulate. Each has its own cache
// line (update/mode.h).
struct gompi_mark {
	_Alignas(GOMPI_LINE) gompi_a64 seq;
};

// Which processes a wait depends on, if not on a single one. ALL: all members of the object, or unspecified. ANY: any
// member; the next event of one of them ends the wait. SEVERAL: several processes, for example of different objects.
enum gompi_depends { GOMPI_PEERS_ALL = -1, GOMPI_PEERS_ANY = -2, GOMPI_PEERS_SEVERAL = -3 };

// The event that ends a wait, if the awaited process must make a particular call for it.
enum gompi_awaited {
	// implied by the call: the members of a collective call it too; or the library itself ends the wait
	GOMPI_FOR_UNSAID,
	GOMPI_FOR_MESSAGE,    // the peer sends a message with the tag
	GOMPI_FOR_RECEIPT,    // the peer receives the message with the tag
	GOMPI_FOR_POST,       // the peer calls MPI_Win_post
	GOMPI_FOR_COMPLETE,   // all members call MPI_Win_complete; some may have done so already
	GOMPI_FOR_LOCK,       // the lock holder unlocks the peer's memory; the tag is the peer's rank in the window
	GOMPI_FOR_COLLECTIVE, // the members start the operation; the tag is its sequence number on the communicator
	GOMPI_FOR_PARTITIONS, // the peer marks the partitions of the message with the tag as ready
	GOMPI_FOR_SELF,       // another thread of this process calls the operation
};

// The wait record of a sleeping thread, for the report on a hang. The sleeping thread writes it; any thread or process
// may read it.
enum gompi_record_state { RECORD_FREE, RECORD_TAKEN, RECORD_TOLD };
enum {
	TOLD_ALL = 1 << 8,     // the peer must act next, but the wait depends on all members
	TOLD_FOREIGN = 1 << 9, // this process knows processes of other jobs
};
enum { GOMPI_TOLD_MEMBERS = 4, GOMPI_TOLD_NAME = 24, GOMPI_TOLD_MISSING = 2 };
struct gompi_wait_record {
	_Alignas(GOMPI_LINE) gompi_a32 state;
	gompi_ai32 peer;       // number of the awaited process, or one of enum gompi_depends
	gompi_a64 object;      // handle
	_Atomic char call[32]; // name of the MPI function that the application called, NUL-terminated
	gompi_a32 number;      // number of waits recorded here so far
	gompi_a32 wakes;       // number of wake-ups of threads with a wait recorded here
	gompi_ai32 thread;     // thread id (gettid)
	gompi_ai32 tag;
	_Alignas(GOMPI_LINE) gompi_a64 id; // id of the object, the same at all members; 0 if unknown
	gompi_a32 reason;                  // enum gompi_awaited, and TOLD_ bits
	// The members of the object, or those that the wait depends on: their number, and the constant stride between
	// them. A stride of 0 means that they are not regular; then member holds the first GOMPI_TOLD_MEMBERS of them.
	gompi_ai32 members, stride;
	gompi_ai32 member[GOMPI_TOLD_MEMBERS];
	gompi_ai32 lacks; // GOMPI_FOR_COMPLETE, GOMPI_FOR_COLLECTIVE: members still awaited; -1 if unknown
	_Atomic char name[GOMPI_TOLD_NAME]; // name of the object, NUL-terminated unless truncated; "" if it has no name
	_Alignas(GOMPI_LINE) _Atomic char operation[32]; // name of a function, see enum gompi_awaited
	gompi_a64 missing[GOMPI_TOLD_MISSING]; // GOMPI_FOR_COLLECTIVE: bitmap of the first members that are missing
	gompi_a64 crossing;                    // frame from which the thread called Go; 0 if it is not inside Go
	// If any of several events may end a wait, each of the first of them has a record of its own. Its part_of
	// identifies the record of the wait, and parts in that record is the number of events.
	gompi_ai32 part_of; // index of the record of the wait + 1
	gompi_ai32 parts;
};

// GOMPI_OWN_THREADS: maximum number of the library's progress threads. Records below GOMPI_WAIT_THREADS describe waits;
// the records from there on describe the events that may end one of them.
enum { GOMPI_CALLS = 16, GOMPI_WAIT_RECORDS = 32, GOMPI_WAIT_THREADS = 16, GOMPI_OWN_THREADS = 6 };
struct gompi_cell {
	gompi_ai32 pid;
	gompi_a32 state;
	_Alignas(GOMPI_LINE) struct gompi_waitword wait;
	_Alignas(GOMPI_LINE) gompi_a32 doorbell; // futex of the progress thread
	gompi_a32 thread_sleeps;
	// 1 if other processes wait for work of this process' progress threads on messages: senders must ring the
	// doorbell
	gompi_a32 called;
	_Alignas(GOMPI_LINE) gompi_ai32 pollers;   // threads that poll this process' rings inside a blocking call
	gompi_ai32 blocked;                        // application threads inside a blocking call, polling or asleep
	_Alignas(GOMPI_LINE) gompi_a32 waits_more; // waiting threads that found no free record in waits
	struct gompi_mark marks[GOMPI_MARK_SLOTS];
	gompi_a32 marks_used;                  // bitmap of the marks that threads use
	_Alignas(GOMPI_LINE) char promised[8]; // written by Go (core/shm/promise.go)
	char given_and_kept[16];               // written by Go
	// For tools that read the process from outside; written once.
	uint64_t code;                             // an address in the library's code
	uint64_t windows;                          // the address of the table of windows (win/win_table.h)
	gompi_ai32 own_threads[GOMPI_OWN_THREADS]; // thread ids; 0 after the last one
	// Rank + 1 of the processes that this process cannot connect to, and of those that cannot connect to it
	// (fabric/call.c).
	_Alignas(GOMPI_LINE) gompi_a32 out_of_reach[GOMPI_CALLS];
	gompi_a32 asked_by[GOMPI_CALLS];
	struct gompi_wait_record waits[GOMPI_WAIT_RECORDS];
	// Addresses of the table of communicators (comm/comm.h), and of the communicator that is not in it, for tools
	// that read the process from outside.
	uint64_t comms, comm_world;
	_Alignas(GOMPI_LINE)
		gompi_a64 acks[]; // [node size]: number of ring operations of this process that process i has completed
};

// A failed process of another node.
enum { GOMPI_LOSSES = 16 };
struct gompi_loss {
	gompi_a32 rank; // rank in MPI_COMM_WORLD + 1; 0: this entry and all later ones are free
	gompi_a32 why;  // enum gompi_lost_why
};

struct gompi_header {
	uint64_t magic;
	uint32_t layout;
	uint32_t processes;
	uint32_t creator;
	uint32_t cores;
	uint32_t segment;        // written by Go
	gompi_a32 no_membarrier; // 1: some process has no membarrier(2), so every waker needs a full fence (wait.h)
	// number of failed processes found; if not 0, each wait checks whether it depends on one
	_Alignas(GOMPI_LINE) gompi_a32 broken;
	gompi_a32 ending; // written by Go: 1 once the launcher has begun to end the job
	// failed processes of other nodes, in the order of detection
	_Alignas(256) struct gompi_loss losses[GOMPI_LOSSES];
	gompi_a32 losses_more; // 1: there are more failed processes than entries
};

enum gompi_lost_why {
	GOMPI_LOST_ENDED = 1,   // ended without MPI_Finalize
	GOMPI_LOST_CONNECTION,  // the connection is broken and cannot be re-established
	GOMPI_LOST_SILENT,      // no sign of life for too long
	GOMPI_LOST_SILENT_NODE, // no sign of life of any process of its node
	GOMPI_LOST_UNREACHABLE, // no connection to it can be established
};

enum { GOMPI_STATE_DEAD = 4 }; // state of a cell: core/shm.State

// How threads of the node's processes wait. The values are in tuning.h.
struct gompi_policy {
	int64_t poll, long_yield, slice; // nanoseconds
	int32_t quiet_looks;
	// There are fewer cores than processes: a waiting thread yields its core after each check. With a core for each
	// process it yields only after a while, since the system may still run two processes on one core, and other
	// programs may use the remaining cores.
	bool oversubscribed;
};
struct gompi_policy gompi_policy_for(bool oversubscribed);

// This process' view of its node. gompi_node_open writes it once, before any call can use it.
struct gompi_node {
	char *control;                           // the control segment
	int n, me;                               // processes on the node, index of this one
	int self;                                // number of this process
	const struct gompi_processes *processes; // all known processes
	struct gompi_policy policy;
	bool cma;        // process_vm_readv and writev work between the processes of the job
	bool membarrier; // membarrier(2) works: small accumulates and wakers need no CPU fence
	size_t cell_stride;
	char *message_rings; // [n] of message_stride bytes: C only reads them, Go serves them
	size_t message_stride;
	char *operation_rings; // [n] of operation_stride bytes
	size_t operation_stride;
};
extern struct gompi_node gompi_node;

// Tells whether membarrier(2) is available and reaches this process.
extern bool gompi_has_membarrier __attribute__((visibility("hidden")));

// Points to the node's flag "some process has no membarrier(2)"; to a word that is 1 before the node is opened.
extern gompi_a32 *gompi_no_membarrier __attribute__((visibility("hidden")));

static inline struct gompi_header *gompi_header(void) { return (struct gompi_header *)gompi_node.control; }

static inline struct gompi_cell *gompi_cell(int i) {
	return (struct gompi_cell *)(gompi_node.control + 4096 + (size_t)i * gompi_node.cell_stride);
}

static inline struct gompi_cell *gompi_my_cell(void) { return gompi_cell(gompi_node.me); }

// Returns the index on this node of the process with this number; -1 if it is on another node or does not exist. This
// is the only function that decides whether a process is on this node.
static inline int gompi_on_node(int peer) { return gompi_process_index(gompi_node.processes, peer); }

// Copies *place to gompi_node and determines its fields self and membarrier.
void gompi_node_open(const struct gompi_node *place);

// Registers the calling thread as one of the library's own.
void gompi_own_thread(void);

// Executes a full barrier in every running process of the node that has registered for membarrier(2), and in the
// calling thread.
void gompi_node_barrier(void);

// Executes a full barrier in every running thread of this process, by membarrier(2). Returns false if membarrier(2) has
// failed, so that no barrier took place.
__attribute__((visibility("hidden"))) bool gompi_process_barrier(void);

#endif
