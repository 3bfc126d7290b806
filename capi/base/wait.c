// Waiting, waking, and the sleep of the progress thread.
//
//	sleeper: seen = wake_seq; has_sleepers = 1; membarrier(2);
//	         if the condition holds: done; futex_wait(wake_seq, seen)
//	waker:   make the condition true; if swap(has_sleepers, 0) == 1 { wake_seq++; futex_wake(wake_seq, all) }
//
// If a process of the node has no membarrier(2), both sides use a full fence instead: the waker has one before the
// swap.
//
// Any number of threads may sleep on one word, for different conditions; a wake-up makes all of them check again. The
// sleeper must read wake_seq before it sets has_sleepers. A waker that then clears has_sleepers changes wake_seq later
// than that read, so futex_wait returns at once. In the opposite order, a waker for another condition could run between
// the two steps. The thread would then sleep on the new value of wake_seq while has_sleepers is 0, and no waker would
// wake it.
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
#include "base/call_name.h"
#include "base/failure.h"
#include "base/tuning.h"
#include "base/go_callbacks.h"
#include "base/mutex.h"
#include "base/wait_time.h"

// A wait first polls for some microseconds if there is a core for each process: a partner on another core usually
// answers within that time. Then it yields its core between checks. A yield is cheap if no other thread wants the core.
// The partner may need this core, because systems run two processes on one core even if another core is idle. Finally
// the wait sleeps. The durations are in tuning.h.
//
// A wait that has served an operation polls without pause for the next operation of a series, which arrives within 200
// ns or not at all. A yield takes longer, and would delay each operation of the series.

void gompi_futex_wait(gompi_a32 *word, uint32_t seen, int64_t ns) {
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

bool gompi_yield_timed(int64_t *now) {
	int64_t before = *now;
	sched_yield();
	*now = gompi_now_ns();
	return *now - before >= gompi_node.policy.long_yield_ns;
}

// Sleeps like gompi_futex_wait. The sleep begins at `now`. A wake-up ends it only if it has one of the given bits.
static void futex_wait_bits(gompi_a32 *word, uint32_t seen, int64_t now, int64_t ns, uint32_t bits) {
	int64_t end = now + ns;
	struct timespec t = {end / 1000000000, end % 1000000000};
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, &t, NULL, bits);
}

void gompi_wake_sleepers_with(struct gompi_waitword *w, uint32_t bits) {
	gompi_add_seq_cst(&w->wake_seq, 1);
	syscall(SYS_futex, &w->wake_seq, FUTEX_WAKE_BITSET, 1 << 30, NULL, NULL, bits);
}

void gompi_wake_sleepers(struct gompi_waitword *w) {
	if (gompi_swap_seq_cst(&w->has_sleepers, 0) == 0)
		return;
	gompi_add_seq_cst(&w->wake_seq, 1);
	syscall(SYS_futex, &w->wake_seq, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

// --- Waits that a failure may end
//
// Threads sleep on words of many objects, so a process that learns of a failure cannot wake all sleepers of the node.
// It wakes those that sleep on the words in the cells, and the progress thread of each process, which wakes the other
// sleepers of its process.

// The waits of this process whose threads sleep, or are about to sleep, on another word than that in the cell.
static struct gompi_wait *sleeping_waits;
static struct gompi_mutex sleeping_waits_lock;

static void add_sleeping_wait(struct gompi_wait *t) {
	if (t->word == &gompi_my_cell()->wait)
		return;
	gompi_mutex_lock(&sleeping_waits_lock);
	t->next = sleeping_waits;
	sleeping_waits = t;
	gompi_mutex_unlock(&sleeping_waits_lock);
}

static void remove_sleeping_wait(struct gompi_wait *t) {
	if (t->word == &gompi_my_cell()->wait)
		return;
	gompi_mutex_lock(&sleeping_waits_lock);
	struct gompi_wait **at = &sleeping_waits;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	gompi_mutex_unlock(&sleeping_waits_lock);
}

static void wake_all(gompi_a32 *futex) {
	gompi_add_seq_cst(futex, 1);
	syscall(SYS_futex, futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

// Pairs with step_wait: a wait that is added to the list after this function has read it finds the failure before it
// sleeps, because the caller has changed gompi_failure_count before.
void gompi_recheck_waits(void) {
	wake_all(&gompi_my_cell()->wait.wake_seq);
	gompi_mutex_lock(&sleeping_waits_lock);
	for (struct gompi_wait *t = sleeping_waits; t != NULL; t = t->next)
		wake_all(&t->word->wake_seq);
	gompi_mutex_unlock(&sleeping_waits_lock);
}

void gompi_cell_recheck_waits(struct gompi_cell *c) {
	wake_all(&c->wait.wake_seq);
	wake_all(&c->doorbell);
}

void gompi_cell_ring_doorbell(struct gompi_cell *c) {
	gompi_full_fence();
	if (gompi_load(&c->poller_count) > 0)
		return;
	if (gompi_load(&c->progress_sleeps) == 0 || gompi_swap_seq_cst(&c->progress_sleeps, 0) == 0)
		return;
	gompi_add_seq_cst(&c->doorbell, 1);
	syscall(SYS_futex, &c->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

// Reserves a free wait record with an index in [first, end) for this thread. Returns its index, or end if none is free.
static int reserve_wait_record(struct gompi_cell *me, int first, int end) {
	for (int i = first; i < end; i++) {
		uint32_t state = RECORD_FREE;
		if (gompi_load(&me->wait_records[i].state) == RECORD_FREE &&
		    gompi_cas_strong(&me->wait_records[i].state, &state, RECORD_RESERVED))
			return i;
	}
	return end;
}

// Returns true if this process knows processes of other jobs, which may end its waits.
static bool knows_other_jobs(void) {
	const struct gompi_processes *p = gompi_node.processes;
	const int n = gompi_processes_count(p);
	return n > 0 && gompi_load(&gompi_process(p, n - 1)->job) != 0;
}

static void write_text(_Atomic char *to, size_t size, const char *text) {
	for (size_t k = 0; k < size; k++) {
		char c = text == NULL || k == size - 1 ? 0 : text[k];
		gompi_store(&to[k], c);
		if (c == 0)
			break;
	}
}

// Writes those fields of a wait record that may change during the wait.
static void write_pending_members(struct gompi_wait_record *r, const struct gompi_wait_details *t) {
	gompi_store(&r->pending_count, t->pending_count);
	for (int i = 0; i < GOMPI_WAIT_MISSING_WORDS; i++)
		gompi_store(&r->missing_bitmap[i], t->missing_bitmap[i]);
}

// Foreign members (gompi_awaited_foreign), by index of the wait record.
static gompi_ai32 foreign_members[GOMPI_WAIT_RECORDS];

enum { FOREIGN_MEMBER_NS = 1000000000 }; // how long a process probes one foreign member

// Selects a member of the wait's object that the network should probe: a process of another job on another node, but
// not the peer of the wait. If there are several, selects each of them for FOREIGN_MEMBER_NS, in turn. The first one
// depends on the number of this process, so that several processes probe different members. Returns the process number
// of the selected member, or -1 if the network need not probe any member.
static int find_foreign_member(const struct gompi_wait_desc *desc, int64_t now) {
	const struct gompi_processes *p = gompi_node.processes;
	if (!knows_other_jobs())
		return -1;
	int64_t count = 0, chosen = INT64_MAX;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0;; i++) {
			int member = gompi_services_member(desc->object, i);
			if (member < 0 && i < desc->member_count)
				member = desc->members[i];
			if (member < 0)
				break;
			if (member == desc->peer || !gompi_process_is_foreign(p, member) ||
			    gompi_process_has_ended(p, member))
				continue;
			if (pass == 0)
				count++;
			else if (chosen-- == 0)
				return member;
		}
		if (count == 0)
			return -1;
		chosen = (p->self - p->world_first + now / FOREIGN_MEMBER_NS) % count;
	}
	return -1;
}

int gompi_awaited_foreign(int record) { return gompi_load(&foreign_members[record]); }

// Writes the record of a wait, or of one of the events that may end it, and publishes it.
static void write_record(struct gompi_wait_record *r, const struct gompi_wait_desc *desc, struct gompi_wait_details *t,
			 int parent_record, int event_count) {
	static _Thread_local int thread;
	if (thread == 0)
		thread = (int)syscall(SYS_gettid);
	gompi_store(&r->peer, desc->peer);
	gompi_store(&r->object, desc->object);
	gompi_store(&foreign_members[r - gompi_my_cell()->wait_records], find_foreign_member(desc, gompi_now_ns()));
	write_text(r->call, sizeof r->call, desc->call);
	gompi_store(&r->thread, thread);
	gompi_add(&r->wait_count, 1);
	gompi_store(&r->tag, desc->tag);
	gompi_store(&r->reason, desc->reason | (desc->depends_on_all ? WAIT_RECORD_ALL : 0u) |
					(knows_other_jobs() ? WAIT_RECORD_OTHER_JOBS : 0u));
	gompi_fill_wait_details(desc, t);
	gompi_store(&r->id, t->id);
	gompi_store(&r->member_count, t->member_count);
	gompi_store(&r->stride, t->stride);
	for (int i = 0; i < GOMPI_WAIT_RECORD_MEMBERS; i++)
		gompi_store(&r->member[i], t->member[i]);
	for (int i = 0; i < GOMPI_WAIT_RECORD_NAME_BYTES; i++)
		gompi_store(&r->name[i], t->name[i]);
	write_text(r->operation, sizeof r->operation, t->operation);
	write_pending_members(r, t);
	gompi_store(&r->go_caller_frame, gompi_go_caller_frame);
	gompi_store(&r->parent_record, parent_record);
	gompi_store(&r->event_count, event_count);
	gompi_store_release(&r->state, RECORD_PUBLISHED); // pairs with the acquire of readers (wait_report.c)
}

enum { NO_RECORD = -1 };

// Publishes a record for each event that may end a wait, as long as records are free. The argument `record` is the
// index of the record of the wait itself. Returns the number of events.
static int publish_events(struct gompi_cell *me, int record, const struct gompi_wait_desc *desc) {
	int n = 0;
	for (int i = 0, at = GOMPI_WAIT_THREADS;; i++, n++) {
		struct gompi_wait_desc one = *desc;
		struct gompi_wait_details t = {.id = 0};
		i = desc->fill_details(desc->fill_details_arg, i, &one, &t);
		if (i < 0)
			return n;
		if (at < GOMPI_WAIT_RECORDS)
			at = reserve_wait_record(me, at, GOMPI_WAIT_RECORDS);
		if (at < GOMPI_WAIT_RECORDS)
			write_record(&me->wait_records[at++], &one, &t, record + 1, 0);
	}
}

int gompi_publish_wait(const struct gompi_wait_desc *desc) {
	if (desc->call == NULL || desc->call[0] == 0)
		return NO_RECORD; // not in a call of the application: a thread of the library waits
	struct gompi_cell *me = gompi_my_cell();
	int i = reserve_wait_record(me, 0, GOMPI_WAIT_THREADS);
	if (i == GOMPI_WAIT_THREADS) {
		gompi_add(&me->unrecorded_waits, 1);
		return i;
	}
	struct gompi_wait_desc one = *desc;
	struct gompi_wait_details t = {.id = 0};
	int event_count = 0;
	if (desc->fill_details != NULL && desc->peer == GOMPI_PEERS_SEVERAL)
		event_count = publish_events(me, i, desc);
	else if (desc->fill_details != NULL)
		desc->fill_details(desc->fill_details_arg, 0, &one, &t);
	write_record(&me->wait_records[i], &one, &t, 0, event_count);
	return i;
}

void gompi_withdraw_wait(int record) {
	struct gompi_cell *me = gompi_my_cell();
	if (record == GOMPI_WAIT_THREADS)
		gompi_sub(&me->unrecorded_waits, 1);
	if (record == NO_RECORD || record == GOMPI_WAIT_THREADS)
		return;
	for (int i = GOMPI_WAIT_THREADS;
	     gompi_load(&me->wait_records[record].event_count) > 0 && i < GOMPI_WAIT_RECORDS; i++)
		if (gompi_load(&me->wait_records[i].parent_record) == record + 1) {
			gompi_store(&me->wait_records[i].parent_record, 0);
			gompi_store_release(&me->wait_records[i].state, RECORD_FREE);
		}
	gompi_store_release(&me->wait_records[record].state, RECORD_FREE);
}

// Updates the missing members in the wait record. Members may have arrived since the wait was published, without ending
// the wait.
static void update_pending_members(int record, const struct gompi_wait_desc *desc) {
	if (record < 0 || record >= GOMPI_WAIT_THREADS ||
	    (desc->reason != GOMPI_FOR_COMPLETE && desc->fill_details == NULL))
		return;
	struct gompi_cell *me = gompi_my_cell();
	struct gompi_wait_desc one = *desc;
	struct gompi_wait_details t = {.id = 0};
	if (desc->fill_details == NULL) {
		gompi_fill_wait_details(desc, &t);
	} else if (desc->peer != GOMPI_PEERS_SEVERAL) {
		desc->fill_details(desc->fill_details_arg, 0, &one, &t);
	} else { // the records of the wait's events are in the order of the events
		for (int k = GOMPI_WAIT_THREADS, i = 0; k < GOMPI_WAIT_RECORDS; k++) {
			if (gompi_load(&me->wait_records[k].parent_record) != record + 1)
				continue;
			one = *desc;
			t = (struct gompi_wait_details){.id = 0};
			i = desc->fill_details(desc->fill_details_arg, i, &one, &t);
			if (i < 0)
				return;
			i++;
			write_pending_members(&me->wait_records[k], &t);
		}
		return;
	}
	write_pending_members(&me->wait_records[record], &t);
}

// Counts a wake-up of a thread that has published its wait.
static void count_wakeup(int record) {
	if (record >= 0 && record < GOMPI_WAIT_THREADS)
		gompi_add(&gompi_my_cell()->wait_records[record].wakeup_count, 1);
}

// On an oversubscribed node, polling helps only while the awaited processes get the cores that polling threads yield.
// They may not: other programs compute there, or the kernel groups processes by session (autogroups), and a yield then
// never gives the core to another session. A thread whose polling is often useless therefore polls only briefly in the
// next GOMPI_BRIEF_WAITS waits, and then tries again.
static _Thread_local struct {
	uint32_t useless; // increases with each wait that sleeps after polling, decreases with each other wait
	uint32_t brief;   // number of waits that will still poll briefly
} polling;

static int64_t polling_time(void) {
	return gompi_node.policy.is_oversubscribed && polling.brief > 0 ? GOMPI_WAIT_POLL_BRIEFLY_NS
									: gompi_node.policy.poll_ns;
}

// Notes the end of a wait's polling. The polling was useless if the wait now sleeps.
static void note_polling(bool useless) {
	if (!gompi_node.policy.is_oversubscribed)
		return;
	if (polling.brief > 0) {
		polling.brief--;
	} else if (!useless) {
		polling.useless -= polling.useless > 0;
	} else if (polling.useless < GOMPI_USELESS_POLLING_MAX) {
		polling.useless += GOMPI_USELESS_POLLING;
	} else {
		polling.brief = GOMPI_BRIEF_WAITS;
	}
}

// Begins a wait, and registers this thread as a poller of its process. Senders ring no doorbell while a poller is
// registered.
static inline void begin_wait(struct gompi_wait *t) {
	struct gompi_cell *me = gompi_my_cell();
	gompi_add(&me->blocked_count, 1);
	gompi_add_seq_cst(&me->poller_count, 1);
	gompi_full_fence_after_rmw(); // pairs with the fence in gompi_cell_ring_doorbell
	t->start_ns = t->now_ns = gompi_now_ns();
	t->poll_end_ns = t->now_ns + polling_time();
	t->poll_count = gompi_node.policy.is_oversubscribed ? GOMPI_PAUSED_POLLS : 0;
	t->eager_polls_left = 0;
	t->assistance.initiator = 0;
	t->stage = WAIT_POLLING;
}

// Executes one polling step between two checks. Returns false if the wait has polled for long enough and should sleep.
static inline bool poll_step(struct gompi_wait *t) {
	bool worked = gompi_serve();
	if ((t->assistance.initiator != 0 || gompi_is_help_requested()) && gompi_assist(&t->assistance)) {
		t->now_ns = gompi_now_ns();
		t->poll_end_ns = t->now_ns + gompi_node.policy.poll_ns;
		return true;
	}
	if (t->poll_count == GOMPI_LONG_WAIT_POLLS)
		gompi_notify_long_wait();
	if (worked) {
		t->now_ns = gompi_now_ns();
		t->eager_polls_left = gompi_node.policy.is_oversubscribed ? 0 : GOMPI_EAGER_POLLS;
	} else if (t->eager_polls_left > 0) {
		t->eager_polls_left--;
	} else if (t->poll_count >= GOMPI_PAUSED_POLLS) {
		if (gompi_yield_timed(&t->now_ns))
			return false;
	} else {
		gompi_pause();
	}
	t->poll_count++;
	return t->now_ns < t->poll_end_ns;
}

// Prepares to sleep (arms the wait): from here on, wakers notify this thread. The next check of the condition decides
// whether the thread sleeps.
static inline void arm_wait(struct gompi_wait *t) {
	// This load must precede the store to has_sleepers: see the top of this file.
	t->wake_seen = gompi_load_seq_cst(&t->word->wake_seq);
	gompi_store_seq_cst(&t->word->has_sleepers, 1);
	gompi_node_membarrier(); // supplies the CPU fence for the waker: pairs with gompi_wake_fence
	t->stage = WAIT_ARMED;
}

static void sleep_until_woken(struct gompi_wait *t) {
	struct gompi_cell *me = gompi_my_cell();
	// A sleeping thread serves no ring: from here on senders ring the doorbell of the progress thread. Senders that
	// saw this poller rang no doorbell, so gompi_serve_all serves their entries.
	gompi_sub_seq_cst(&me->poller_count, 1);
	gompi_full_fence_after_rmw();
	// after arm_wait: a member that arrives after this update wakes this thread
	update_pending_members(t->record_index, &t->desc);
	bool worked = gompi_serve_all();
	if (!worked) {
		gompi_notify_long_wait();
		int64_t start = gompi_now_ns();
		futex_wait_bits(&t->word->wake_seq, t->wake_seen, start, gompi_node.policy.max_sleep_ns,
				t->desc.wake_bits != 0 ? t->desc.wake_bits : FUTEX_BITSET_MATCH_ANY);
		if (gompi_load(&t->word->wake_seq) != t->wake_seen)
			count_wakeup(t->record_index);
		int64_t now = gompi_now_ns();
		if (now - start >= gompi_node.policy.max_sleep_ns) {
			gompi_go_callbacks.find_failed();
			if (t->record_index >= 0 && t->record_index < GOMPI_WAIT_THREADS)
				gompi_store(&foreign_members[t->record_index], find_foreign_member(&t->desc, now));
		}
	}
	gompi_add_seq_cst(&me->poller_count, 1);
	t->stage = WAIT_WOKEN;
	// Other processes have sent operations to this process. Their next operations will arrive soon, and a sleep is
	// expensive, so this thread polls again.
	if (worked) {
		remove_sleeping_wait(t);
		gompi_withdraw_wait(t->record_index);
		t->now_ns = gompi_now_ns();
		t->poll_end_ns = t->now_ns + gompi_node.policy.poll_ns;
		t->stage = WAIT_POLLING;
	}
}

static inline int step_wait(struct gompi_wait *t) {
	switch (t->stage) {
	case WAIT_POLLING:
		if (poll_step(t))
			return MPI_SUCCESS;
		note_polling(true);
		t->record_index = gompi_publish_wait(&t->desc);
		add_sleeping_wait(t);
		arm_wait(t);
		return MPI_SUCCESS;
	case WAIT_WOKEN:
		arm_wait(t);
		return MPI_SUCCESS;
	case WAIT_ARMED:
		break;
	}
	int failed = gompi_failed_for_wait(&t->desc, &t->stuck);
	if (__builtin_expect(failed != GOMPI_NONE_FAILED, 0)) {
		gompi_note_failed(failed);
		return MPI_ERR_PROC_ABORTED;
	}
	sleep_until_woken(t);
	return MPI_SUCCESS;
}

static inline void end_wait(struct gompi_wait *t) {
	struct gompi_cell *me = gompi_my_cell();
	if (t->stage != WAIT_POLLING) {
		remove_sleeping_wait(t);
		gompi_withdraw_wait(t->record_index);
	} else {
		note_polling(false);
	}
	gompi_end_assistance(&t->assistance);
	gompi_sub(&me->blocked_count, 1);
	gompi_sub_seq_cst(&me->poller_count, 1);
	gompi_full_fence_after_rmw();
	gompi_serve_at_wait_end();
	if (__builtin_expect(gompi_load(&gompi_wait_times_requested) != 0, 0))
		gompi_wait_time_add(&t->desc, gompi_now_ns() - t->start_ns);
}

// Checks at the start of a wait, which cost less than those after begin_wait: that registers the thread as a poller. On
// an oversubscribed node they are useless if the partner needs this core. So after a wait in which they were useless, a
// thread omits them in most waits. Returns true if the condition holds.
static inline bool poll_quietly(bool (*done)(void *), void *arg) {
	static _Thread_local uint32_t failed_waits; // number of waits since the checks last succeeded
	if (gompi_node.policy.is_oversubscribed && failed_waits % GOMPI_QUIET_WAITS_OVERSUB != 0) {
		failed_waits++;
		return false;
	}
	for (int i = 0; i < gompi_node.policy.quiet_polls && !gompi_is_help_requested(); i++) {
		if (done(arg)) {
			failed_waits = 0;
			return true;
		}
	}
	failed_waits++;
	return false;
}

int gompi_await(struct gompi_waitword *w, bool (*done)(void *), void *arg, const struct gompi_wait_desc *desc) {
	if (done(arg))
		return MPI_SUCCESS;
	if (poll_quietly(done, arg))
		return MPI_SUCCESS;
	struct gompi_wait t = {.word = w, .desc = *desc};
	int rc = MPI_SUCCESS;
	begin_wait(&t);
	while (rc == MPI_SUCCESS && !done(arg))
		rc = step_wait(&t);
	end_wait(&t);
	// the failed process may have made the condition true after the last check
	if (__builtin_expect(rc != MPI_SUCCESS, 0) && done(arg)) {
		gompi_note_failed(GOMPI_NONE_FAILED);
		return MPI_SUCCESS;
	}
	return rc;
}

void gompi_wait_begin(struct gompi_wait *t, int32_t peer, uint64_t object) {
	*t = (struct gompi_wait){.word = &gompi_my_cell()->wait,
				 .desc = {.call = gompi_current_call(), .peer = peer, .object = object}};
	begin_wait(t);
}

void gompi_wait_survive(struct gompi_wait *t) { t->desc.find_failed = gompi_ignore_failures; }
int gompi_wait_step(struct gompi_wait *t) { return step_wait(t); }
void gompi_wait_end(struct gompi_wait *t) { end_wait(t); }
