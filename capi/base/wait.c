// Waiting, waking, and the sleep of the progress thread.
//
//	sleeper: seen = wake; sleeping = 1; membarrier(2); if the condition holds: done; futex_wait(wake, seen)
//	waker:   make the condition true; if swap(sleeping, 0) == 1 { wake++; futex_wake(wake, all) }
//
// If a process of the node has no membarrier(2), both sides use a full fence instead: the waker has one before the
// swap.
//
// Any number of threads may sleep on one word, for different conditions; a wake-up makes all of them check again. A
// waker that clears `sleeping` changes `wake` after the sleeper has read it, so no thread sleeps while `sleeping` is
// clear. The sleeper must therefore read `wake` before it sets `sleeping`. Otherwise a waker for another condition
// could run in between. The sleeper would then sleep on the new value of `wake` with `sleeping` clear, and no waker
// would wake it.
#define _GNU_SOURCE
#include "base/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/call.h"
#include "base/loss.h"
#include "base/tuning.h"
#include "base/up.h"

// A wait first polls for some microseconds if there is a core for each process: a partner on another core usually
// answers within that time. Then it yields its core between checks. That costs little if no other thread wants the
// core, and the partner may need this core, since systems run processes on one core even if another is idle. Then it
// sleeps. The durations are in tuning.h.
//
// A wait that has served something polls without pause for the next operation of a series, which comes within 200 ns or
// not at all. A yield takes longer, and would delay each operation of the series.

void gompi_sleep_on(gompi_a32 *word, uint32_t seen, int64_t ns) {
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

// Yields the core at the time *now, and updates *now. Returns true if another thread has kept the core for long.
bool gompi_yield_long(int64_t *now) {
	int64_t before = *now;
	sched_yield();
	*now = gompi_now_ns();
	return *now - before >= gompi_node.policy.long_yield;
}

void gompi_wake_sleepers(struct gompi_waitword *w) {
	if (gompi_swap_total(&w->sleeping, 0) == 0)
		return;
	gompi_add_total(&w->wake, 1);
	syscall(SYS_futex, &w->wake, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

void gompi_doorbell(struct gompi_cell *c) {
	gompi_full_fence();
	if (gompi_load(&c->pollers) > 0)
		return;
	if (gompi_load(&c->thread_sleeps) == 0 || gompi_swap_total(&c->thread_sleeps, 0) == 0)
		return;
	gompi_add_total(&c->doorbell, 1);
	syscall(SYS_futex, &c->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

// Reserves a free wait record with an index in [first, end) for this thread. Returns its index, or end if none is free.
static int take_wait_record(struct gompi_cell *me, int first, int end) {
	for (int i = first; i < end; i++) {
		uint32_t state = RECORD_FREE;
		if (gompi_load(&me->waits[i].state) == RECORD_FREE &&
		    gompi_change_once(&me->waits[i].state, &state, RECORD_TAKEN))
			return i;
	}
	return end;
}

// Returns true if this process knows processes of other jobs, which may end its waits.
static bool knows_other_jobs(void) {
	const struct gompi_processes *p = gompi_node.processes;
	const int n = gompi_processes_n(p);
	return n > 0 && gompi_process(p, n - 1)->job != 0;
}

static void write_text(_Atomic char *to, size_t size, const char *text) {
	for (size_t k = 0; k < size; k++) {
		char c = text == NULL || k == size - 1 ? 0 : text[k];
		gompi_store(&to[k], c);
		if (c == 0)
			break;
	}
}

// Writes the fields that may change during a wait.
static void write_missing(struct gompi_wait_record *r, const struct gompi_told *t) {
	gompi_store(&r->lacks, t->lacks);
	for (int i = 0; i < GOMPI_TOLD_MISSING; i++)
		gompi_store(&r->missing[i], t->missing[i]);
}

// Writes the record of a wait, or of one of the events that may end it, and publishes it.
static void write_record(struct gompi_wait_record *r, const struct gompi_waiting *what, struct gompi_told *t,
			 int part_of, int parts) {
	static _Thread_local int thread;
	if (thread == 0)
		thread = (int)syscall(SYS_gettid);
	gompi_store(&r->peer, what->peer);
	gompi_store(&r->object, what->object);
	write_text(r->call, sizeof r->call, what->call);
	gompi_store(&r->thread, thread);
	gompi_add(&r->number, 1);
	gompi_store(&r->tag, what->tag);
	gompi_store(&r->reason, what->reason | (what->all ? TOLD_ALL : 0u) | (knows_other_jobs() ? TOLD_FOREIGN : 0u));
	gompi_services_tell(what, t);
	gompi_store(&r->id, t->id);
	gompi_store(&r->members, t->members);
	gompi_store(&r->stride, t->stride);
	for (int i = 0; i < GOMPI_TOLD_MEMBERS; i++)
		gompi_store(&r->member[i], t->member[i]);
	for (int i = 0; i < GOMPI_TOLD_NAME; i++)
		gompi_store(&r->name[i], t->name[i]);
	write_text(r->operation, sizeof r->operation, t->operation);
	write_missing(r, t);
	gompi_store(&r->crossing, gompi_crossing);
	gompi_store(&r->part_of, part_of);
	gompi_store(&r->parts, parts);
	gompi_store_release(&r->state, RECORD_TOLD); // pairs with the acquire in the reader
}

enum { NO_RECORD = -1 };

// Publishes the events that may end a wait whose record has been reserved. Returns their number.
static int publish_parts(struct gompi_cell *me, int record, const struct gompi_waiting *what) {
	int n = 0;
	for (int i = 0, at = GOMPI_WAIT_THREADS;; i++, n++) {
		struct gompi_waiting one = *what;
		struct gompi_told t = {.id = 0};
		i = what->describe(what->on, i, &one, &t);
		if (i < 0)
			return n;
		if (at < GOMPI_WAIT_RECORDS)
			at = take_wait_record(me, at, GOMPI_WAIT_RECORDS);
		if (at < GOMPI_WAIT_RECORDS)
			write_record(&me->waits[at++], &one, &t, record + 1, 0);
	}
}

int gompi_publish_wait(const struct gompi_waiting *what) {
	if (what->call == NULL || what->call[0] == 0)
		return NO_RECORD; // a thread of the library itself
	struct gompi_cell *me = gompi_my_cell();
	int i = take_wait_record(me, 0, GOMPI_WAIT_THREADS);
	if (i == GOMPI_WAIT_THREADS) {
		gompi_add(&me->waits_more, 1);
		return i;
	}
	struct gompi_waiting one = *what;
	struct gompi_told t = {.id = 0};
	int parts = 0;
	if (what->describe != NULL && what->peer == GOMPI_PEERS_SEVERAL)
		parts = publish_parts(me, i, what);
	else if (what->describe != NULL)
		what->describe(what->on, 0, &one, &t);
	write_record(&me->waits[i], &one, &t, 0, parts);
	return i;
}

void gompi_withdraw_wait(int record) {
	struct gompi_cell *me = gompi_my_cell();
	if (record == GOMPI_WAIT_THREADS)
		gompi_sub(&me->waits_more, 1);
	if (record == NO_RECORD || record == GOMPI_WAIT_THREADS)
		return;
	for (int i = GOMPI_WAIT_THREADS; gompi_load(&me->waits[record].parts) > 0 && i < GOMPI_WAIT_RECORDS; i++)
		if (gompi_load(&me->waits[i].part_of) == record + 1) {
			gompi_store(&me->waits[i].part_of, 0);
			gompi_store_release(&me->waits[i].state, RECORD_FREE);
		}
	gompi_store_release(&me->waits[record].state, RECORD_FREE);
}

// Updates which members are missing: some may have arrived since the wait was published, without ending it.
static void tell_missing(int record, const struct gompi_waiting *what) {
	if (record < 0 || record >= GOMPI_WAIT_THREADS ||
	    (what->reason != GOMPI_FOR_COMPLETE && what->describe == NULL))
		return;
	struct gompi_cell *me = gompi_my_cell();
	struct gompi_waiting one = *what;
	struct gompi_told t = {.id = 0};
	if (what->describe == NULL) {
		gompi_services_tell(what, &t);
	} else if (what->peer != GOMPI_PEERS_SEVERAL) {
		what->describe(what->on, 0, &one, &t);
	} else { // the records of its events are in the order of the events
		for (int k = GOMPI_WAIT_THREADS, i = 0; k < GOMPI_WAIT_RECORDS; k++) {
			if (gompi_load(&me->waits[k].part_of) != record + 1)
				continue;
			one = *what;
			t = (struct gompi_told){.id = 0};
			i = what->describe(what->on, i, &one, &t);
			if (i < 0)
				return;
			i++;
			write_missing(&me->waits[k], &t);
		}
		return;
	}
	write_missing(&me->waits[record], &t);
}

// Counts a wake-up of a thread that has published its wait.
static void tell_woken(int record) {
	if (record >= 0 && record < GOMPI_WAIT_THREADS)
		gompi_add(&gompi_my_cell()->waits[record].wakes, 1);
}

// Begins a wait. From here on this thread polls for its process, and other processes rely on it.
static inline void wait_begins(struct gompi_wait *t) {
	struct gompi_cell *me = gompi_my_cell();
	gompi_add(&me->blocked, 1);
	gompi_add_total(&me->pollers, 1);
	gompi_full_fence_after_change(); // pairs with the fence in gompi_doorbell
	t->now = gompi_now_ns();
	t->end = t->now + gompi_node.policy.poll;
	t->looks = gompi_node.policy.oversubscribed ? GOMPI_PAUSED_LOOKS : 0;
	t->eager = 0;
	t->stage = WAIT_POLLS;
}

// Executes one polling step between two checks. Returns false if the wait has polled for long enough.
static inline bool wait_polls(struct gompi_wait *t) {
	bool worked = gompi_serve();
	if (t->looks == GOMPI_LASTING_LOOKS)
		gompi_serve_lasts();
	if (worked) {
		t->now = gompi_now_ns();
		t->eager = gompi_node.policy.oversubscribed ? 0 : GOMPI_EAGER_LOOKS;
	} else if (t->eager > 0) {
		t->eager--;
	} else if (t->looks >= GOMPI_PAUSED_LOOKS) {
		if (gompi_yield_long(&t->now))
			return false;
	} else {
		gompi_pause();
	}
	t->looks++;
	return t->now < t->end;
}

// Arms the wait. The next check of the condition decides whether the thread sleeps.
static inline void wait_arms(struct gompi_wait *t) {
	t->seen = gompi_load_total(&t->word->wake); // before the store to sleeping: see the top of this file
	gompi_store_total(&t->word->sleeping, 1);
	gompi_node_barrier(); // pairs with gompi_wake_fence, for which it supplies the CPU fence
	t->stage = WAIT_ARMED;
}

static void wait_sleeps(struct gompi_wait *t) {
	struct gompi_cell *me = gompi_my_cell();
	// A sleeping thread serves no ring; the progress thread takes over. Entries of senders that rang no doorbell
	// because they saw this poller are served here.
	gompi_sub_total(&me->pollers, 1);
	gompi_full_fence_after_change();
	tell_missing(t->record, &t->what); // after arming: later changes wake this thread
	bool worked = gompi_serve_all();
	if (!worked) {
		gompi_serve_lasts();
		int64_t start = gompi_now_ns();
		gompi_sleep_on(&t->word->wake, t->seen, gompi_node.policy.slice);
		if (gompi_load(&t->word->wake) != t->seen)
			tell_woken(t->record);
		if (gompi_now_ns() - start >= gompi_node.policy.slice)
			gompi_up.find_dead();
	}
	gompi_add_total(&me->pollers, 1);
	t->stage = WAIT_WOKEN;
	// Other processes use this one: their next operations come soon, and going to sleep is expensive.
	if (worked) {
		gompi_withdraw_wait(t->record);
		t->now = gompi_now_ns();
		t->end = t->now + gompi_node.policy.poll;
		t->stage = WAIT_POLLS;
	}
}

static inline int wait_steps(struct gompi_wait *t) {
	switch (t->stage) {
	case WAIT_POLLS:
		if (wait_polls(t))
			return MPI_SUCCESS;
		t->record = gompi_publish_wait(&t->what);
		wait_arms(t);
		return MPI_SUCCESS;
	case WAIT_WOKEN:
		wait_arms(t);
		return MPI_SUCCESS;
	case WAIT_ARMED:
		break;
	}
	int lost = gompi_loss_to(&t->what, &t->stuck);
	if (__builtin_expect(lost != GOMPI_NOBODY, 0)) {
		gompi_loss_note(lost);
		return MPI_ERR_PROC_ABORTED;
	}
	wait_sleeps(t);
	return MPI_SUCCESS;
}

static inline void wait_ends(struct gompi_wait *t) {
	struct gompi_cell *me = gompi_my_cell();
	if (t->stage != WAIT_POLLS)
		gompi_withdraw_wait(t->record);
	gompi_sub(&me->blocked, 1);
	gompi_sub_total(&me->pollers, 1);
	gompi_full_fence_after_change();
	gompi_serve_last();
}

int gompi_await(struct gompi_waitword *w, bool (*done)(void *), void *arg, const struct gompi_waiting *what) {
	if (done(arg))
		return MPI_SUCCESS;
	for (int i = 0; i < gompi_node.policy.quiet_looks; i++) // not worth announcing this thread as a poller
		if (done(arg))
			return MPI_SUCCESS;
	struct gompi_wait t = {.word = w, .what = *what};
	int rc = MPI_SUCCESS;
	wait_begins(&t);
	while (rc == MPI_SUCCESS && !done(arg))
		rc = wait_steps(&t);
	wait_ends(&t);
	return rc;
}

void gompi_wait_begin(struct gompi_wait *t, int32_t peer, uint64_t object) {
	*t = (struct gompi_wait){.word = &gompi_my_cell()->wait,
				 .what = {.call = gompi_current_call(), .peer = peer, .object = object}};
	wait_begins(t);
}

int gompi_wait_step(struct gompi_wait *t) { return wait_steps(t); }
void gompi_wait_end(struct gompi_wait *t) { wait_ends(t); }
