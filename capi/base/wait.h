// Waiting, for C and Go: poll, yield the core, sleep. The protocol is in wait.c.
#ifndef GOMPI_WAIT_H
#define GOMPI_WAIT_H

#include "base/assisted_copy.h"
#include "base/clock.h"
#include "base/node.h"
#include "base/service.h"

// Wakes the sleepers of w, if there are any.
void gompi_wake_sleepers(struct gompi_waitword *w);

// Wakes the sleepers of w if a thread may sleep on it. The caller has executed a full barrier after it made the
// condition true.
static inline void gompi_wake_if_asleep(struct gompi_waitword *w) {
	if (__builtin_expect(gompi_load(&w->has_sleepers) != 0, 0))
		gompi_wake_sleepers(w);
}

// Executes the fence between the store that makes a condition true and the check for sleepers. If all processes of the
// node have membarrier(2), it is a compiler fence, and the sleeper supplies the CPU fence by membarrier(2)
// (gompi_node_membarrier). A CPU fence here would wait until the stores have left this core, some 100 ns for each
// message or collective.
static inline void gompi_wake_fence(void) {
	if (__builtin_expect(gompi_load(gompi_no_membarrier) != 0, 0))
		gompi_full_fence();
	else
		gompi_compiler_fence();
}

// Wakes the sleepers of w. The caller has made their condition true before. Executes gompi_wake_fence before the check
// for sleepers: without the fence, the check could miss a sleeper that has not seen the condition. The fence orders
// nothing else.
static inline void gompi_wake(struct gompi_waitword *w) {
	gompi_wake_fence();
	gompi_wake_if_asleep(w);
}

// Wakes the sleepers of v and of w, with a single fence as in gompi_wake.
static inline void gompi_wake_two(struct gompi_waitword *v, struct gompi_waitword *w) {
	gompi_wake_fence();
	gompi_wake_if_asleep(v);
	gompi_wake_if_asleep(w);
}

// Wakes those sleepers of w that have one of the given wake_bits (struct gompi_wait_desc). The others may also wake up.
// The caller's last action was a seq_cst read-modify-write. Threads count as sleepers until gompi_wake_after_rmw or
// gompi_wake is called.
void gompi_wake_sleepers_with(struct gompi_waitword *w, uint32_t bits);
static inline void gompi_wake_bits_after_rmw(struct gompi_waitword *w, uint32_t bits) {
	gompi_full_fence_after_rmw();
	if (__builtin_expect(gompi_load(&w->has_sleepers) != 0, 0))
		gompi_wake_sleepers_with(w, bits);
}

// Wakes the sleepers of w, for a caller whose last action was a seq_cst read-modify-write (atomics.h).
static inline void gompi_wake_after_rmw(struct gompi_waitword *w) {
	gompi_full_fence_after_rmw();
	gompi_wake_if_asleep(w);
}

// An entry in the ring or inbox of a process of the node that a sender has reserved and not filled. The process cannot
// read the entries after it (failure.c).
struct gompi_stuck_entry {
	int process;
	uint64_t entry_id;
	int64_t since_ns; // time when the wait first saw the entry; 0 if no entry is stuck
};

// Describes a wait. The description serves the launcher's report on a hang, and decides which failed processes end the
// wait.
struct gompi_wait_desc {
	const char *call; // name of the MPI function that the application called
	int32_t peer;     // number of the awaited process, or one of enum gompi_wait_peers
	int32_t tag;      // tag or other number, as enum gompi_wait_reason defines
	uint64_t object;  // handle of the communicator, window or file; 0 if none
	// Handle of another communicator, or 0: its revocation, and the failure of its members, also end the wait.
	uint64_t outer;
	// Numbers of the awaited processes of this node, for an object that has no handle, such as a communicator that
	// is being created. Ignored if `object` has members and only_members is false. May be NULL if all are of this
	// job.
	const int32_t *members;
	int member_count;
	bool only_members;   // the failure of a member of the object ends the wait only if it is one of `members`
	bool depends_on_all; // the peer must act next, but a failure of any member of the object ends the wait
	uint8_t reason;      // enum gompi_wait_reason
	uint32_t wake_bits;  // gompi_wake_bits_after_rmw wakes this thread if it passes one of these; 0: all bits
	// May be NULL. Replaces gompi_find_failed_for_wait for a wait that depends on other processes than `peer` and
	// `object` describe. The argument `of` is find_failed_arg.
	int (*find_failed)(const void *of, struct gompi_stuck_entry *place);
	const void *find_failed_arg;
	// May be NULL. Completes the report of the wait. The argument `on` is fill_details_arg. On entry, *what is a
	// copy of this struct, and *t is zeroed. If `peer` is GOMPI_PEERS_SEVERAL, any of several events may end the
	// wait. The function then describes the first event with a number >= first, and returns the number of this
	// event. It returns -1 if there is no such event.
	int (*fill_details)(const void *on, int first, struct gompi_wait_desc *what, struct gompi_wait_details *t);
	const void *fill_details_arg;
};

// Waits until done(arg) is true and then returns 0. Returns MPI_ERR_PROC_ABORTED if a process on which the wait depends
// fails. This is the peer if desc names one; otherwise any member of the object. If the object has no known members, it
// is any process of this job, or of `members`. The thread sleeps on w; every thread that makes the condition true must
// wake the sleepers of w. While it polls, this thread serves the rings of its process.
int gompi_await(struct gompi_waitword *w, bool (*done)(void *), void *arg, const struct gompi_wait_desc *desc);

// Splits gompi_await into steps, for a caller that checks its condition itself, as Go does. Call gompi_wait_begin; then
// check the condition and call gompi_wait_step alternately until the condition holds or a step returns an error class;
// then call gompi_wait_end. gompi_wait_step sleeps on the wait word of this process. The wait record names the MPI
// function gompi_current_call().
enum gompi_wait_stage { WAIT_POLLING, WAIT_ARMED, WAIT_WOKEN };
struct gompi_wait {
	struct gompi_waitword *word;
	struct gompi_wait_desc desc;
	int64_t start_ns, now_ns, poll_end_ns; // start_ns, poll_end_ns: times when the wait began and when polling ends
	uint32_t poll_count, wake_seen;
	int32_t eager_polls_left, record_index; // record_index: index of the wait record while asleep
	enum gompi_wait_stage stage;            // WAIT_ARMED: the next step sleeps
	struct gompi_assistance assistance;
	struct gompi_stuck_entry stuck;
	struct gompi_wait *next; // next sleeping wait of this process (wait.c)
};
void gompi_wait_begin(struct gompi_wait *t, int32_t peer, uint64_t object);
// Makes a wait continue whichever processes fail.
void gompi_wait_survive(struct gompi_wait *t);
int gompi_wait_step(struct gompi_wait *t);
void gompi_wait_end(struct gompi_wait *t);

// Publishes a description of this thread's wait, until gompi_withdraw_wait is called with the returned index. Does
// nothing if desc->call is NULL or empty. gompi_await and gompi_wait_step call both functions around a sleep.
int gompi_publish_wait(const struct gompi_wait_desc *desc);
void gompi_withdraw_wait(int record);
// Returns a process of another job and node that is a member of the object in a published wait record, or -1. If there
// are several, returns each of them for one second.
int gompi_awaited_foreign(int record);

// Wakes all threads of this process that sleep in a wait, so that they check whether a failure or a revocation ends it.
// The caller has changed gompi_failure_count before.
void gompi_recheck_waits(void);
// Makes the process of this node with this cell call gompi_recheck_waits. Precondition: as for that function.
void gompi_cell_recheck_waits(struct gompi_cell *c);

// Sleeps until `*word` differs from `seen`, until a wake-up, or for `ns` nanoseconds.
void gompi_futex_wait(gompi_a32 *word, uint32_t seen, int64_t ns);

// Yields the core. The caller passes the current time in `*now`, and the function updates it. Returns true if another
// thread has used the core for at least long_yield_ns.
bool gompi_yield_timed(int64_t *now);

// Wakes the progress thread of the process with this cell, if it sleeps and no thread of that process polls. The caller
// has put an entry into the process' ring before. Executes a full fence before these two checks, so that they do not
// miss a thread that is about to sleep.
void gompi_cell_ring_doorbell(struct gompi_cell *c);
// Rings the doorbell of process i of this node.
static inline void gompi_ring_doorbell(int i) { gompi_cell_ring_doorbell(gompi_cell(i)); }

#endif
