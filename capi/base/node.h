// The shared memory of a node as C sees it: the layout of core/shm/layout.go, compared with it at compile time in
// layout.go of this folder.
#ifndef GOMPI_NODE_H
#define GOMPI_NODE_H

#include <stddef.h>

#include "base/process.h"

#define GOMPI_LINE 64
#define GOMPI_MARK_SLOTS 16

// A word that threads of any process of the node sleep on; protocol in wait.c.
struct gompi_waitword {
	gompi_a32 wake;     // futex: changed by whoever wakes
	gompi_a32 sleeping; // 1 if a thread may sleep on it
};

// A thread's mark "in a small accumulate": odd while it is inside, on a line of its own (update/mode.h).
struct gompi_mark {
	_Alignas(GOMPI_LINE) gompi_a64 seq;
};

// Which processes a wait depends on if it is not one: all of its object's, or nobody has said; any of them, where the
// next to come ends it; several, of different objects, say.
enum gompi_depends { GOMPI_PEERS_ALL = -1, GOMPI_PEERS_ANY = -2, GOMPI_PEERS_SEVERAL = -3 };

// What ends a wait, if the process that it needs must call something for it.
enum gompi_awaited {
	GOMPI_FOR_UNSAID,   // the call says it: the members of a collective call it, too; or the library ends it
	GOMPI_FOR_MESSAGE,  // the peer sends a message with the tag
	GOMPI_FOR_RECEIPT,  // the peer receives the one with the tag
	GOMPI_FOR_POST,     // the peer calls MPI_Win_post
	GOMPI_FOR_COMPLETE, // all members call MPI_Win_complete, which some may have done
	GOMPI_FOR_LOCK,     // the peer's memory, whose rank in the window is the tag, is unlocked by who has it locked
	GOMPI_FOR_COLLECTIVE, // the members start the operation, which has the tag as its number on the communicator
	GOMPI_FOR_PARTITIONS, // the peer marks the partitions of the message with the tag as ready
	GOMPI_FOR_SELF,       // another thread of this process calls the operation
};

// What a thread that sleeps waits for, for the report on a hang. Written by that thread, read by whoever wants.
enum gompi_record_state { RECORD_FREE, RECORD_TAKEN, RECORD_TOLD };
enum {
	TOLD_ALL = 1 << 8,     // the peer is the next to do something, of the members
	TOLD_FOREIGN = 1 << 9, // this process knows processes of other jobs
};
enum { GOMPI_TOLD_MEMBERS = 4, GOMPI_TOLD_NAME = 24, GOMPI_TOLD_MISSING = 2 };
struct gompi_wait_record {
	_Alignas(GOMPI_LINE) gompi_a32 state;
	gompi_ai32 peer;       // number of the process that it needs, or one of enum gompi_depends
	gompi_a64 object;      // handle
	_Atomic char call[32]; // name of the function that the application has called, ended by 0
	gompi_a32 number;      // of waits that were told here so far
	gompi_a32 wakes;       // of times that threads which had told were woken
	gompi_ai32 thread;     // of the system
	gompi_ai32 tag;
	_Alignas(GOMPI_LINE) gompi_a64 id; // of the object: the same at all members, 0: not known
	gompi_a32 reason;                  // enum gompi_awaited, and TOLD_ bits
	// The members of the object, or those that the wait is for: so many, at a regular distance from the first. 0:
	// not regular, and the first GOMPI_TOLD_MEMBERS are here.
	gompi_ai32 members, stride;
	gompi_ai32 member[GOMPI_TOLD_MEMBERS];
	gompi_ai32 lacks; // GOMPI_FOR_COMPLETE, GOMPI_FOR_COLLECTIVE: members still awaited; -1: unknown
	_Atomic char name[GOMPI_TOLD_NAME]; // of the object, ended by 0, unless it is longer; "": it was given none
	_Alignas(GOMPI_LINE) _Atomic char operation[32]; // name of a function, see enum gompi_awaited
	gompi_a64 missing[GOMPI_TOLD_MISSING];           // GOMPI_FOR_COLLECTIVE: a bit for each of the first members
	gompi_a64 crossing;                              // frame by which the thread has called Go, 0: it has not
	// A wait that any of several things ends has a record for each of the first of them, which names that of the
	// wait; the wait's own record has how many there are.
	gompi_ai32 part_of; // number of that record + 1
	gompi_ai32 parts;
};

// GOMPI_OWN_THREADS: the library's threads of the kind that makes progress. GOMPI_WAIT_THREADS: the first records are
// those of waits, the others those of what ends them.
enum { GOMPI_CALLS = 16, GOMPI_WAIT_RECORDS = 32, GOMPI_WAIT_THREADS = 16, GOMPI_OWN_THREADS = 6 };
struct gompi_cell {
	gompi_ai32 pid;
	gompi_a32 state;
	_Alignas(GOMPI_LINE) struct gompi_waitword wait;
	_Alignas(GOMPI_LINE) gompi_a32 doorbell; // futex of the progress thread
	gompi_a32 thread_sleeps;
	gompi_a32 called; // others wait for what this process' progress threads make of messages: who sends them rings
	_Alignas(GOMPI_LINE) gompi_ai32 pollers; // threads that serve this process' rings from inside a blocking call
	gompi_ai32 blocked;                      // threads of the application inside a blocking call, polling or asleep
	_Alignas(GOMPI_LINE) gompi_a32 waits_more; // threads that wait and have found no free record in waits
	struct gompi_mark marks[GOMPI_MARK_SLOTS];
	gompi_a32 marks_used;                  // a bit for each line that a thread has
	_Alignas(GOMPI_LINE) char promised[8]; // Go's (core/shm/promise.go)
	char given_and_kept[16];               // Go's, too
	// For who looks at the process from outside, written once.
	uint64_t code;                             // an address in the library's code
	uint64_t windows;                          // the address of the table of windows (win/win_table.h)
	gompi_ai32 own_threads[GOMPI_OWN_THREADS]; // of the system, 0: there are no more
	// Ranks + 1 that this process cannot connect to, and that cannot connect to it (fabric/call.c).
	_Alignas(GOMPI_LINE) gompi_a32 out_of_reach[GOMPI_CALLS];
	gompi_a32 asked_by[GOMPI_CALLS];
	struct gompi_wait_record waits[GOMPI_WAIT_RECORDS];
	// Where the communicators are (comm/comm.h), for who looks at the process from outside: the addresses of the
	// table and of what is not in it.
	uint64_t comms, comm_world;
	_Alignas(GOMPI_LINE)
		gompi_a64 acks[]; // [node size]: ring operations of this process that process i has completed
};

// A process of another node that is lost.
enum { GOMPI_LOSSES = 16 };
struct gompi_loss {
	gompi_a32 rank; // in MPI_COMM_WORLD, + 1; 0: nobody is here, nor in the entries behind
	gompi_a32 why;  // enum gompi_lost_why
};

struct gompi_header {
	uint64_t magic;
	uint32_t layout;
	uint32_t processes;
	uint32_t creator;
	uint32_t cores;
	uint32_t segment;        // Go's
	gompi_a32 no_membarrier; // 1: a process has none, so whoever wakes others needs a barrier (wait.h)
	_Alignas(GOMPI_LINE) gompi_a32 broken; // processes found lost: waits look whether they depend on one if not 0
	gompi_a32 ending;                      // Go's: 1 once the launcher has begun to end the job
	_Alignas(256) struct gompi_loss losses[GOMPI_LOSSES]; // of other nodes, in the order of their finding
	gompi_a32 losses_more;                                // 1: there are more than have an entry
};

enum gompi_lost_why {
	GOMPI_LOST_ENDED = 1,   // without MPI_Finalize
	GOMPI_LOST_CONNECTION,  // and cannot be made again
	GOMPI_LOST_SILENT,      // for too long
	GOMPI_LOST_SILENT_NODE, // and so are all processes of its node
	GOMPI_LOST_UNREACHABLE, // no connection to it can be made
};

enum { GOMPI_STATE_DEAD = 4 }; // of a cell: core/shm.State

// How threads of the node's processes wait; the figures are in tuning.h.
struct gompi_policy {
	int64_t poll, long_yield, slice; // nanoseconds
	int32_t quiet_looks;
	// Fewer cores than processes: a waiting thread offers its core each time that it looks. With a core for each it
	// does so only after a while, since the system may still have put two on one core, and others may use the rest.
	bool oversubscribed;
};
struct gompi_policy gompi_policy_for(bool oversubscribed);

// This process' place on the node; written once by gompi_node_open, before any call can use it.
struct gompi_node {
	char *control;                           // the control segment
	int n, me;                               // processes on the node, index of this one
	int self;                                // number of this process
	const struct gompi_processes *processes; // all that are known
	struct gompi_policy policy;
	bool cma;        // process_vm_readv and writev work between the processes of the job
	bool membarrier; // membarrier(2) is there: small accumulates need no fence, nor do those who wake others
	size_t cell_stride;
	char *message_rings; // [n] of message_stride bytes: only looked at, Go serves them
	size_t message_stride;
	char *operation_rings; // [n] of operation_stride bytes
	size_t operation_stride;
};
extern struct gompi_node gompi_node;

// membarrier(2) is there, and reaches this process.
extern bool gompi_has_membarrier __attribute__((visibility("hidden")));

// The node's flag that a process has no membarrier(2); 1 before there is a node.
extern gompi_a32 *gompi_no_membarrier __attribute__((visibility("hidden")));

static inline struct gompi_header *gompi_header(void) { return (struct gompi_header *)gompi_node.control; }

static inline struct gompi_cell *gompi_cell(int i) {
	return (struct gompi_cell *)(gompi_node.control + 4096 + (size_t)i * gompi_node.cell_stride);
}

static inline struct gompi_cell *gompi_my_cell(void) { return gompi_cell(gompi_node.me); }

// The index on this node of the process with a number; -1: it is on another, or there is none. The one place that tells
// who is on this node.
static inline int gompi_on_node(int peer) { return gompi_process_index(gompi_node.processes, peer); }

// Makes place the node; membarrier and self are found out.
void gompi_node_open(const struct gompi_node *place);

// Says that this thread is one of the library's own.
void gompi_own_thread(void);

// A full barrier in every running process of the node that has membarrier, and in this one.
void gompi_node_barrier(void);

// A full barrier in every running thread of this process, where there is membarrier. false: there was none.
__attribute__((visibility("hidden"))) bool gompi_process_barrier(void);

#endif
