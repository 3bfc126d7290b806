// Plans: operations that consist of several messages, as lists of steps. core/coll compiles one member's part of a
// collective into a plan. The functions of this header run a plan, once or many times, on any thread that makes
// progress.
//
// A step only starts a send or receive. STEP_WAIT ends a round: the steps after it run when all messages started so far
// are complete. If a message has another length than planned, the plan records an error and continues, because other
// processes wait for data that this process passes on.
#ifndef GOMPI_PLAN_H
#define GOMPI_PLAN_H

#include "base/combining_lock.h"
#include "base/error_status.h"
#include "datatype/op.h"

struct gompi_messages;
struct gompi_request;
struct gompi_wait_details;

// Kinds of steps. In Go the type is p2p.StepKind.
enum gompi_step_kind {
	STEP_SEND,    // sends `bytes` bytes at address `from` to the peer
	STEP_FORWARD, // sends received data; after an error it sends a wrong length, so that the peer notices
	STEP_RECV,    // receives `bytes` bytes from the peer to address `to`
	STEP_WAIT,    // ends a round
	STEP_COPY,    // copies `bytes` bytes from address `from` to address `to`
	STEP_REDUCE,  // computes `to` = `from` op `to` on `bytes` bytes
	STEP_CALL_GO, // calls Go; the field `bytes` is the number of the action
};

// One step. Addresses are integers, because they may point to memory of Go. p2p.Step has the same layout;
// capi/engine/plan.go compares the two.
struct gompi_step {
	uint8_t kind;
	uint8_t context_index;  // index in gompi_plan_params.context of the message's context
	bool calls_application; // calls an application function, so progress threads must not run it
	bool skip_on_error;     // the step is skipped if the plan has an error
	int32_t peer;           // rank of the peer in the communicator
	int32_t world;          // process number of the peer (base/process.h)
	uintptr_t from, to;
	int64_t bytes;
};

// The parameters of a plan besides its steps.
struct gompi_plan_params {
	uint64_t context[2];    // contexts of messages inside the local group, and with the remote group
	int32_t source;         // rank of this process, used as the source of its messages
	int32_t tag;            // tag of all messages
	bool urgent;            // peers may be computing: large messages notify their progress threads
	uintptr_t comm;         // handle of the communicator on which errors are raised
	uintptr_t op, datatype; // handles of the predefined operation and datatype of STEP_REDUCE
	uint64_t element_bytes; // size of an element of datatype in bytes
	int64_t go_bytes;       // bytes of Go memory that the plan owns; large plans are not cached
	uintptr_t go_handle;    // argument of gompi_plan_call_go and gompi_plan_go_freed; 0 if Go takes no part
};

// The data of a message that is sent with a wrong length in order to report an error to the receiver.
struct gompi_plan_error_data {
	struct gompi_plan_error_data *next;
	char data[];
};

struct gompi_plan {
	struct gompi_plan_params params;
	gompi_kernel kernel; // the reduction function of STEP_REDUCE
	struct gompi_messages *messages;
	gompi_a32 is_complete;
	struct gompi_combining_lock lock; // held while a thread runs the plan
	bool needs_app_thread;            // the next step must run on an application thread
	uint32_t next_step;               // index of the next step
	uint32_t active_count;            // number of active messages
	uint32_t reminded_step;           // value of next_step at the last gompi_plan_remind
	uint32_t step_count;
	gompi_a32 ref_flags;             // PLAN_IN_USE: in use by a caller or request; PLAN_CACHED: cached for reuse
	struct gompi_error_status error; // first error; its class is MPI_SUCCESS until an error occurs
	struct gompi_plan_error_data *error_data;
	// Fields of active plans. plans_lock guards them.
	struct gompi_plan *next_active;
	uint32_t runner_count; // number of threads that run the plan in gompi_plans_progress
	bool is_listed;
	struct gompi_request *request; // request of a nonblocking or persistent call, else NULL
	struct gompi_request **active; // [number of messages]; the active messages
	struct gompi_step step[];
};

enum { PLAN_IN_USE = 1, PLAN_CACHED = 2 };

#pragma GCC visibility push(hidden)

// Callbacks into Go. gompi_plan_call_go performs action number `what` of the plan and returns 0 or an error class. It
// writes an error description to text, which has as many bytes as the text in struct gompi_error_status.
// gompi_plan_go_freed reports that the plan is being freed. gompi_plan_set_callbacks sets both pointers.
extern int (*gompi_plan_call_go)(uintptr_t go, int64_t what, char *text);
extern void (*gompi_plan_go_freed)(uintptr_t go);
void gompi_plan_set_callbacks(void *go, void *freed);

// Returns true if the plan belongs to the application's message layer. In tests, one process has several message
// layers, each of which simulates one process. Waits in C serve only the application's message layer, so callers must
// poll the plans of other layers.
bool gompi_plan_is_app(const struct gompi_plan *p);
// Marks the calling thread as a progress thread, which calls no application function.
void gompi_set_progress_thread(void);

// Creates a plan from a copy of the steps; does not start it. Returns NULL if out of memory.
struct gompi_plan *gompi_plan_new(struct gompi_messages *m, const struct gompi_plan_params *head,
				  const struct gompi_step *steps, uint32_t n);
void gompi_plan_free(struct gompi_plan *p);

// Runs a plan as far as possible without waiting. Returns true if it is complete. If another thread runs the plan,
// returns false; that thread then also makes the progress for this thread (base/combining_lock.h).
bool gompi_plan_poll(struct gompi_plan *p);
// Resets a plan to its first step. The plan must be complete or never started.
void gompi_plan_reset(struct gompi_plan *p);
// Ends a plan whose messages cannot arrive any more. Cancels the plan's unmatched receives, so that they do not write
// to the plan's buffers afterwards.
void gompi_plan_abandon(struct gompi_plan *p, int class, const char *text);
// Notifies the processes of this node whose messages the plan waits for, so that their progress threads run. Called
// when a wait of this process takes long, or when other processes wait for data that its progress thread passes on. The
// first call in a step only notifies, if an application thread makes it. All other effective calls also set
// needs_doorbell of the notified processes: each message to them then wakes their progress threads. A progress thread's
// call has no effect if it is not the first in the step.
void gompi_plan_remind(struct gompi_plan *p);

// Reports which messages the plan waits for. For each incomplete message, increments t->pending_count. Also sets the
// bit of t->missing_bitmap whose number is the rank of the peer, if the rank is less than 64 *
// GOMPI_WAIT_MISSING_WORDS. Does nothing if another thread runs the plan. The plan must be active
// (gompi_plan_activate).
void gompi_plan_report_missing(struct gompi_plan *p, struct gompi_wait_details *t);

// Adds a started plan to the list of active plans, which each progress call advances. A plan without a request stays in
// the list until gompi_plan_deactivate. A plan with a request stays in the list until the plan is complete. Its request
// then completes too, and the plan may already be freed when the function returns.
void gompi_plan_activate(struct gompi_plan *p);
void gompi_plan_deactivate(struct gompi_plan *p);
// Runs a plan of the application's message layer and waits until it is complete. Returns MPI_SUCCESS or the class of
// p->error. If the communicator of the plan has no handle, the wait depends on the processes with the numbers
// `members`.
int gompi_plan_run(struct gompi_plan *p, const int32_t *members, int n);
// How a request uses its plan. PLAN_ONCE: one run. PLAN_ONCE_CACHED: one run, and the plan may be cached.
// PLAN_PERSISTENT: any number of runs by MPI_Start, and the plan may be cached.
enum gompi_plan_use { PLAN_ONCE, PLAN_ONCE_CACHED, PLAN_PERSISTENT };
// Creates a request for a plan. For PLAN_PERSISTENT the request is inactive, else the plan starts. The request owns the
// plan, which is freed with the request or upon completion. Returns NULL if out of memory or if too many requests are
// live; then the caller still owns the plan.
struct gompi_request *gompi_plan_request(struct gompi_plan *p, enum gompi_plan_use use);

// Returns the plan of this thread's last request with PLAN_ONCE_CACHED or PLAN_PERSISTENT, so that the caller can cache
// it for later requests. The caller owns a reference to the plan. Returns NULL if the plan is not worth caching, or
// depends on state that the application may change.
struct gompi_plan *gompi_plan_to_cache(void);
// Acquires a cached plan for another run. Returns false if the plan is in use.
bool gompi_plan_reuse(struct gompi_plan *p);
// Releases a plan that gompi_plan_reuse has acquired, without a run. The plan stays cached, unless it has been removed
// from the cache meanwhile; then it is freed.
void gompi_plan_return(struct gompi_plan *p);
// Removes a plan from the cache. The plan is freed once it is not in use.
void gompi_plan_uncache(struct gompi_plan *p);
// Returns true if a plan may be able to continue: a message has completed, or a progress thread has left a step to
// application threads.
#define gompi_plans_ready(m)                         \
	(gompi_load(&(m)->plan_may_continue) != 0 || \
	 (gompi_load(&(m)->plan_needs_app) != 0 && !gompi_is_progress_thread))
// Advances all active plans of a process. Returns true if a plan with a request has completed.
bool gompi_plans_progress(struct gompi_messages *m);
// Advances all plans, and calls gompi_plan_remind for them. Called when a wait takes long.
void gompi_plans_remind(struct gompi_messages *m);

#pragma GCC visibility pop
#endif
