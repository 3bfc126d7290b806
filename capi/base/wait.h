// Waiting, the one way for C and Go: poll, give the core away, sleep; the protocol is in wait.c.
#ifndef GOMPI_WAIT_H
#define GOMPI_WAIT_H

#include "base/clock.h"
#include "base/node.h"
#include "base/service.h"

void gompi_wake_sleepers(struct gompi_waitword *w);

// Looks whether somebody sleeps on w. The caller is behind a full barrier.
static inline void gompi_wake_if_asleep(struct gompi_waitword *w) {
	if (__builtin_expect(gompi_load(&w->sleeping) != 0, 0))
		gompi_wake_sleepers(w);
}

// The barrier between making a condition true and the look at who sleeps. The processor's part of it is that of the
// sleepers, by membarrier(2), if all processes of the node have that: a barrier would wait until what has been stored
// has left this core, some 100 ns for each message or collective.
static inline void gompi_wake_fence(void) {
	if (__builtin_expect(gompi_load(gompi_no_membarrier) != 0, 0))
		gompi_full_fence();
	else
		gompi_compiler_fence();
}

// Wakes whoever sleeps on w. The caller has made their condition true; the barrier between that and the look at who
// sleeps is in here, so that nobody forgets it. It orders nothing else.
static inline void gompi_wake(struct gompi_waitword *w) {
	gompi_wake_fence();
	gompi_wake_if_asleep(w);
}

// The same for two words.
static inline void gompi_wake_two(struct gompi_waitword *v, struct gompi_waitword *w) {
	gompi_wake_fence();
	gompi_wake_if_asleep(v);
	gompi_wake_if_asleep(w);
}

// The same where the last thing that the caller did was one of the _total changes of a word (order.h).
static inline void gompi_wake_changed(struct gompi_waitword *w) {
	gompi_full_fence_after_change();
	gompi_wake_if_asleep(w);
}

// A place in the memory of a process of the node that keeps it from what others have put behind it (loss.c).
struct gompi_stuck {
	int process;
	uint64_t at;
	int64_t since; // 0: none is known
};

// What a wait is for, for the launcher's report on a hang and to know whose loss ends it.
struct gompi_waiting {
	const char *call; // name of the function that the application called
	int32_t peer;     // number of the process waited for, or one of enum gompi_depends
	int32_t tag;      // of a message; see enum gompi_awaited
	uint64_t object;  // handle
	bool all;         // peer is the next to do something, but it may wait for any of the object's
	uint8_t reason;   // enum gompi_awaited
	// NULL, or returns whose loss ends a wait that depends on more than that, as gompi_loss_to does.
	int (*lost)(const void *of, struct gompi_stuck *place);
	const void *of;
	// NULL, or fills in the report of a wait whose object is `on`. what and t hold the values of this wait and are
	// completed. If peer is GOMPI_PEERS_SEVERAL, any of several events may end the wait: then it describes the
	// first event with a number >= first, and returns that number, or -1 if there is no further event.
	int (*describe)(const void *on, int first, struct gompi_waiting *what, struct gompi_told *t);
	const void *on;
};

// Returns 0 as soon as done(arg) is true, MPI_ERR_PROC_ABORTED if a process is lost that the wait depends on: the peer,
// all members of the object if there is no single peer, any process if neither is known. Sleeps on w, which must be
// woken by whoever makes the condition true. While it polls, this thread serves the rings of its process.
int gompi_await(struct gompi_waitword *w, bool (*done)(void *), void *arg, const struct gompi_waiting *what);

// The same in steps, for who looks at its condition itself, which Go does: begin, then look and step in turn until the
// condition holds or a step returns an error class, then end. Sleeps on the process' own word; call is the one that
// this thread is in.
enum gompi_wait_stage { WAIT_POLLS, WAIT_ARMED, WAIT_WOKEN };
struct gompi_wait {
	struct gompi_waitword *word;
	struct gompi_waiting what;
	int64_t now, end; // of polling
	uint32_t looks, seen;
	int32_t eager, record;       // number of the record, once it sleeps
	enum gompi_wait_stage stage; // armed: the next step sleeps
	struct gompi_stuck stuck;
};
void gompi_wait_begin(struct gompi_wait *t, int32_t peer, uint64_t object);
int gompi_wait_step(struct gompi_wait *t);
void gompi_wait_end(struct gompi_wait *t);

// Says what this thread waits for until it withdraws what was returned; nothing, if it is in no call. Waits that sleep
// do it themselves.
int gompi_publish_wait(const struct gompi_waiting *what);
void gompi_withdraw_wait(int record);

// Sleeps until *word differs from seen, a wake-up, or so many nanoseconds.
void gompi_sleep_on(gompi_a32 *word, uint32_t seen, int64_t ns);

// Gives the core away at the time *now, which moves on. Returns true if somebody has kept it.
bool gompi_yield_long(int64_t *now);

// Wakes the progress thread of the process with this cell if it sleeps, unless somebody there polls. The caller has put
// something into its ring; the barrier after that is in here.
void gompi_doorbell(struct gompi_cell *c);
// The same for process i of this node.
static inline void gompi_ring_doorbell(int i) { gompi_doorbell(gompi_cell(i)); }

#endif
