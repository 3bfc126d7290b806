// Plans: what one member of a communicator does in a collective, as a list of steps. core/coll compiles a call into a
// plan; here plans are run, any number of times, with the buffers of each call, by whatever thread makes progress.
//
// Sends and receives are only started by their step; a step STEP_WAIT ends a round: what is behind it runs when all
// messages that were started so far are done. A message of another length than planned is received all the same, since
// others wait for what this member passes on, and the run ends with an error then.
#ifndef GOMPI_PLAN_H
#define GOMPI_PLAN_H

#include "base/order.h"
#include "base/verdict.h"
#include "coll/reduction.h"

struct gompi_messages;
struct gompi_request;
struct gompi_type;

enum gompi_step_kind {
	STEP_SEND,    // from, bytes, to peer
	STEP_PASS,    // the same, of what came from others: has another length if what came had
	STEP_RECV,    // to, bytes, from peer
	STEP_WAIT,    // ends a round
	STEP_COPY,    // to, from, bytes
	STEP_COMBINE, // to = from op to, bytes
	STEP_PACK,    // to gets the data of count elements of type at from
	STEP_UNPACK,  // the other way
	STEP_GO,      // what Go keeps under number count
};

// Where a step's data is: behind one of the addresses that a run has.
enum { BASE_SEND, BASE_RECV, BASE_OWN, GOMPI_BASES };
struct gompi_spot {
	int64_t offset;
	uint8_t base;
};

struct gompi_step {
	uint8_t kind;
	uint8_t via;   // of the plan's contexts
	int32_t peer;  // the rank that messages are told by
	int32_t world; // a send: rank in MPI_COMM_WORLD
	struct gompi_spot from, to;
	int64_t bytes, count;
	const struct gompi_type *type; // kept by whoever keeps the plan
};

struct gompi_plan {
	uint32_t steps;
	uint32_t most;       // messages that are under way at once, at most
	int64_t own;         // bytes of memory that a run has for itself
	bool asks;           // a step calls a function of the application: not for the progress thread
	int32_t source;      // this member's rank, as its messages tell it
	uint64_t context[2]; // and their contexts, of one lane: among the group's own, and with the remote group
	bool once;           // goes with its only run
	uintptr_t comm;      // handle, which errors are raised on
	struct gompi_reduction reduction;
	struct gompi_step step[];
};

// A message of another length than planned.
struct gompi_plan_mark {
	struct gompi_plan_mark *next;
	char data[];
};

// One run of a plan.
struct gompi_plan_run {
	const struct gompi_plan *plan;
	struct gompi_messages *home;
	char *base[GOMPI_BASES];
	int32_t tag;  // of all its messages
	bool urgent;  // the threads of others may compute: their processes look at once
	bool stalled; // the next step is not for the thread that was at it last
	gompi_a32 over;
	uint32_t next;  // step
	uint32_t count; // of messages under way
	gompi_a32 busy, missed;
	struct gompi_verdict why; // class: MPI_SUCCESS so far
	uintptr_t go;             // what gompi_plan_go is told
	struct gompi_plan_mark *marks;
	struct gompi_plan_run *later;  // in the list of those under way
	uint32_t users;                // threads that go on with it; guarded as the list is
	struct gompi_request *request; // of a nonblocking or persistent call
	struct gompi_request *under_way[];
};

#pragma GCC visibility push(hidden)

// What Go is told of a run that has run->go, which capi/up.c fills in: to do a step STEP_GO, 0 or an error class, which
// v tells; and that the request of the run is no more.
extern int (*gompi_plan_go)(uintptr_t go, int64_t what, struct gompi_verdict *v);
extern void (*gompi_plan_gone)(uintptr_t go);

// Makes a plan of so many steps, which are to be filled in. NULL: there is no memory.
struct gompi_plan *gompi_plan_new(uint32_t steps);
struct gompi_step *gompi_plan_steps(struct gompi_plan *p);

// Makes a run, with zeroed memory of its own. NULL: there is no memory.
struct gompi_plan_run *gompi_plan_open(const struct gompi_plan *p, struct gompi_messages *m, const void *send,
				       void *recv, int32_t tag, bool urgent);
void gompi_plan_close(struct gompi_plan_run *run);
// Goes on as far as possible without waiting. Whether the run is over; if another thread is at it, that one does this
// thread's part. agent: the calling thread is none of the application's.
bool gompi_plan_poll(struct gompi_plan_run *run, bool agent);
// Begins it again: it is over.
void gompi_plan_reset(struct gompi_plan_run *run);
// Ends a run whose messages cannot come any longer; its buffers are not touched after that.
void gompi_plan_abandon(struct gompi_plan_run *run, int class, const char *text);

// Does a run to its end. MPI_SUCCESS or run->why's class.
int gompi_plan_do(struct gompi_plan_run *run, const char *call);
// Makes a request of a run, inactive if persistent; else the run begins. It goes with the request. NULL: there is no
// memory, or too many are live; the run is the caller's still.
struct gompi_request *gompi_plan_request(struct gompi_plan_run *run, bool persistent, uintptr_t *handle);
// The application's messages, which its runs go by.
struct gompi_messages *gompi_plan_home(void);
// Tells that the calling thread is none of the application's: it calls no function of that.
void gompi_plan_agent(void);

#pragma GCC visibility pop
#endif
