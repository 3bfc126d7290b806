// Plans: operations of several messages, as lists of steps. core/coll compiles what a member does in a collective into
// one; here it is run, once or often, by whatever thread makes progress.
//
// Sends and receives are only started by their step; STEP_WAIT ends a round: what is behind it runs when all messages
// that were started so far are done. A message of another length than planned is received all the same, since others
// wait for what this process passes on, and the plan ends with an error then.
#ifndef GOMPI_PLAN_H
#define GOMPI_PLAN_H

#include "base/order.h"
#include "base/verdict.h"
#include "datatype/op.h"

struct gompi_messages;
struct gompi_request;
struct gompi_told;

// The kinds of steps; the numbers are core/p2p's.
enum gompi_step_kind {
	STEP_SEND,    // from, bytes, to peer
	STEP_PASS,    // the same, of what came from others: has another length if what came had
	STEP_RECV,    // to, bytes, from peer
	STEP_WAIT,    // ends a round
	STEP_COPY,    // to, from, bytes
	STEP_COMBINE, // to = from op to, bytes
	STEP_GO,      // what Go keeps under the number that is bytes
};

// Addresses are numbers, since they may be of Go's memory. The layout is p2p.Step's, compared in capi/engine/plan.go.
struct gompi_step {
	uint8_t kind;
	uint8_t via;   // of the plan's contexts
	bool asks;     // calls a function of the application: not for progress threads
	bool right;    // left out if something is wrong
	int32_t peer;  // the rank that messages are told by
	int32_t world; // rank of that in MPI_COMM_WORLD
	uintptr_t from, to;
	int64_t bytes;
};

// What a plan is made of besides its steps.
struct gompi_plan_head {
	uint64_t context[2];    // of messages among the group's own, and with the remote group
	int32_t source;         // this process' rank, as its messages tell it
	int32_t tag;            // of all messages
	bool urgent;            // others may compute: progress threads look at what is much
	uintptr_t comm;         // handle, which errors are raised on
	uintptr_t op, datatype; // handles of what is predefined for the steps STEP_COMBINE, on elements of
	uint64_t element;       // so many bytes
	int64_t own;            // bytes of Go's memory that it has for itself
	uintptr_t go;           // what Go is told by gompi_plan_go and gompi_plan_gone; 0: it has nothing to do with it
};

// A message of another length than planned.
struct gompi_plan_mark {
	struct gompi_plan_mark *next;
	char data[];
};

struct gompi_plan {
	struct gompi_plan_head head;
	gompi_kernel kernel;
	struct gompi_messages *home;
	gompi_a32 over;
	gompi_a32 busy, missed; // a thread is at it; another one wanted to be
	bool stalled;           // the next step is not for the thread that was at it last
	uint32_t next;          // step
	uint32_t count;         // messages under way
	uint32_t reminded;      // the step at which those that this process waits for have been reminded
	uint32_t steps;
	gompi_a32 held;           // PLAN_USED: by who runs it, PLAN_KEPT: to be run again
	struct gompi_verdict why; // class: MPI_SUCCESS so far
	struct gompi_plan_mark *marks;
	// Of those under way; guarded by the lock of their list.
	struct gompi_plan *later;
	uint32_t users; // threads that go on with it
	bool listed;
	struct gompi_request *request;    // of a nonblocking or persistent call, else NULL
	struct gompi_request **under_way; // [messages]
	struct gompi_step step[];
};

enum { PLAN_USED = 1, PLAN_KEPT = 2 };

#pragma GCC visibility push(hidden)

// What Go is told of a plan that it has something to do with: to do step number what, 0 or an error class, which text
// has room to say; and that it is no more.
extern int (*gompi_plan_go)(uintptr_t go, int64_t what, char *text);
extern void (*gompi_plan_gone)(uintptr_t go);
void gompi_plan_tell(void *go, void *gone);

// Returns true if it is of the application's messages.
bool gompi_plan_is_here(const struct gompi_plan *p);
// Tells that the calling thread makes progress only, and calls no function of the application.
void gompi_plan_in_progress_thread(void);

// Makes a plan that has not begun, of a copy of the steps. NULL: there is no memory.
struct gompi_plan *gompi_plan_new(struct gompi_messages *m, const struct gompi_plan_head *head,
				  const struct gompi_step *steps, uint32_t n);
void gompi_plan_free(struct gompi_plan *p);

// Goes on as far as possible without waiting. Returns true if it is over; if another thread is at it, that one does
// this thread's part.
bool gompi_plan_poll(struct gompi_plan *p);
// Begins it again: it is over, or has never begun.
void gompi_plan_reset(struct gompi_plan *p);
// Ends one whose messages cannot come any longer; its buffers are not touched after that.
void gompi_plan_abandon(struct gompi_plan *p, int class, const char *text);
// Has those look at their messages that this process waits for: a wait of it lasts, or others wait for what its
// progress thread makes of them. From the second time on they are to look at each message.
void gompi_plan_remind(struct gompi_plan *p);

// Finds the peers that the messages under way are with: sets a bit of t->missing for each of the first, and t->lacks to
// how many messages there are; nothing if another thread is at the plan, which has been entered.
void gompi_plan_missing(struct gompi_plan *p, struct gompi_told *t);

// Makes the process go on with a plan that has begun until gompi_plan_leave, or, if it has a request, until it is over,
// which completes that; it may be no more when this returns.
void gompi_plan_enter(struct gompi_plan *p);
void gompi_plan_leave(struct gompi_plan *p);
// Does a plan of the application's messages to its end. MPI_SUCCESS or p->why's class.
int gompi_plan_do(struct gompi_plan *p);
// What a request is made of a plan for: one run; one, or any number by MPI_Start, and then the plan may be kept for
// others.
enum gompi_plan_use { PLAN_ONCE, PLAN_KEEP, PLAN_AGAIN };
// Makes a request of a plan, inactive if it is for MPI_Start; else the plan begins. The plan goes with it, or when it
// is over. NULL: there is no memory, or too many are live; the plan is the caller's still.
struct gompi_request *gompi_plan_request(struct gompi_plan *p, enum gompi_plan_use use);

// Plans that are kept by somebody for requests to come. The last new one that this thread has made a request of as
// PLAN_KEEP or PLAN_AGAIN, which the caller keeps from now on; NULL: it is not worth that, or depends on what the
// application may change.
struct gompi_plan *gompi_plan_for_later(void);
// Returns true if it is not under way, but kept: then it is the caller's, to be run again.
bool gompi_plan_reuse(struct gompi_plan *p);
// It is not run, after all; it is kept still.
void gompi_plan_leave_it(struct gompi_plan *p);
// It is not kept any longer, and goes as soon as it is not under way.
void gompi_plan_unkeep(struct gompi_plan *p);
// Returns true if a plan may go on: with the end of a message, or because a progress thread has left that to others.
#define gompi_plans_ready(m) \
	(gompi_load(&(m)->stepped) != 0 || (gompi_load(&(m)->stalled) != 0 && !gompi_progress_thread))
// Goes on with all plans of a process that have been entered. Returns true if one was over.
bool gompi_plans_step(struct gompi_messages *m);
// A wait lasts.
void gompi_plans_remind(struct gompi_messages *m);

#pragma GCC visibility pop
#endif
