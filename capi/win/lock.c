#include "win/lock.h"

#include <sched.h>

#include "base/failure.h"
#include "base/tuning.h"

struct lock_ticket {
	struct gompi_win_member *member;
	uint32_t ticket;
	bool exclusive;
};

static bool try_ticket(void *arg) {
	struct lock_ticket *t = arg;
	return gompi_load_acquire(&t->member->lock_serving) == t->ticket &&
	       gompi_lock_try(t->member, t->exclusive, true);
}

static uint32_t wake_bit(uint32_t ticket) { return (uint32_t)1 << ticket % 32; }

void gompi_wake_lock_waiters(struct gompi_win_member *m) {
	// In a fault-tolerant job there are no tickets, and all waiters have all bits.
	gompi_wake_bits_after_rmw(&m->lock_wait, wake_bit(gompi_load(&m->lock_serving)));
	if (__builtin_expect(gompi_load(&m->lock_remote_waiters) != 0, 0))
		gompi_ring_doorbell(gompi_local_index(m->peer));
}

// Ends the turn of the waiter at the queue's head, which has acquired the lock. If it holds the lock exclusively, the
// next waiter cannot acquire the lock before the unlock, which wakes the waiters.
static void serve_next_ticket(struct gompi_win_member *m, bool exclusive) {
	gompi_store(&m->lock_bypass_count, 0);
	uint32_t next = gompi_add_seq_cst(&m->lock_serving, 1) + 1;
	if (next == gompi_load(&m->lock_next))
		gompi_wake_after_rmw(&m->lock_wait); // the queue is empty: threads no longer count as sleepers
	if (!exclusive)
		gompi_wake_lock_waiters(m);
}

// --- Fault-tolerant jobs

// Returns the number of shared locks that the member with index `origin` on the node holds, or is about to acquire, at
// the member `rank`.
static gompi_a32 *shared_locks_of(const struct gompi_win *w, int origin, int rank) {
	return &w->shared_locks[(size_t)gompi_win_local_rank(w, rank) * (size_t)w->local_size + (size_t)origin];
}

static bool has_readers(const struct gompi_win *w, int rank) {
	for (int i = 0; i < w->local_size; i++)
		if (gompi_load_seq_cst(shared_locks_of(w, i, rank)) != 0)
			return true;
	return false;
}

static void release_tolerant(struct gompi_win *w, int rank, bool exclusive) {
	struct gompi_win_member *m = gompi_member(w, rank);
	// seq_cst, hence a release: all accesses of this process under the lock come before it
	if (exclusive)
		gompi_sub_seq_cst(&m->lock, LOCK_WRITER | (uint64_t)w->local_rank);
	else
		gompi_sub_seq_cst(shared_locks_of(w, w->local_rank, rank), 1);
	if (gompi_load_seq_cst(&m->lock) >= LOCK_QUEUED)
		gompi_wake_lock_waiters(m);
}

// Tries once to acquire the lock. Returns true on success. seq_cst orders the write of a reader or writer before its
// check for the other one, and acquires the stores of the last holder.
static bool try_tolerant(struct gompi_win *w, int rank, bool exclusive) {
	struct gompi_win_member *m = gompi_member(w, rank);
	uint64_t v = gompi_load_seq_cst(&m->lock);
	if ((v & LOCK_WRITER) || (exclusive && has_readers(w, rank)))
		return false;
	if (exclusive) {
		while (!gompi_cas_weak_seq_cst(&m->lock, &v, v | LOCK_WRITER | (uint64_t)w->local_rank))
			if (v & LOCK_WRITER)
				return false;
	} else {
		gompi_add_seq_cst(shared_locks_of(w, w->local_rank, rank), 1);
	}
	if (!(exclusive ? has_readers(w, rank) : (gompi_load_seq_cst(&m->lock) & LOCK_WRITER) != 0))
		return true;
	release_tolerant(w, rank, exclusive);
	return false;
}

static bool has_member_failed(const struct gompi_win *w, int index) {
	return gompi_is_failed(gompi_member(w, gompi_win_rank_of_local(w, index))->peer);
}

uint32_t gompi_lock_release_failed(struct gompi_win *w, int rank) {
	struct gompi_win_member *m = gompi_member(w, rank);
	uint32_t released = 0;
	uint64_t v = gompi_load_seq_cst(&m->lock);
	while ((v & LOCK_WRITER) && has_member_failed(w, (int)(v & (LOCK_WRITER - 1))) && released == 0)
		released = gompi_cas_weak_seq_cst(&m->lock, &v, v & ~(LOCK_QUEUED - 1));
	for (int i = 0; i < w->local_size; i++) {
		gompi_a32 *shared = shared_locks_of(w, i, rank);
		if (gompi_load(shared) != 0 && has_member_failed(w, i) && gompi_swap_seq_cst(shared, 0) != 0)
			released++;
	}
	uint32_t total = gompi_add_seq_cst(&m->lock_failures, released) + released;
	if (released != 0)
		gompi_wake_lock_waiters(m);
	return total;
}

// A wait for a lock in a fault-tolerant job.
struct survivor {
	struct gompi_win *w;
	int rank;
	bool exclusive;
	uint32_t failures_seen; // lock_failures at the beginning of the wait
};

// Returns false if the lock of a failed holder has been released during the wait: then the wait ends with an error.
static bool try_as_survivor(void *arg) {
	struct survivor *s = arg;
	return gompi_load(&gompi_member(s->w, s->rank)->lock_failures) == s->failures_seen &&
	       try_tolerant(s->w, s->rank, s->exclusive);
}

// Implements find_failed (struct gompi_wait_desc): the wait ends if the target or a holder of the lock has failed.
static int find_failed_holder(const void *of, struct gompi_stuck_entry *place) {
	const struct survivor *s = of;
	struct gompi_win_member *m = gompi_member(s->w, s->rank);
	if (gompi_is_failed(m->peer))
		return m->peer;
	return gompi_lock_release_failed(s->w, s->rank) != s->failures_seen ? gompi_win_failed_local(s->w)
									    : GOMPI_NONE_FAILED;
}

static int wait_as_survivor(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	struct gompi_win_member *m = gompi_member(w, rank);
	struct survivor s = {w, rank, exclusive, gompi_load(&m->lock_failures)};
	const struct gompi_wait_desc waiting = {.call = call,
						.peer = m->peer,
						.tag = rank,
						.object = w->handle,
						.reason = GOMPI_FOR_LOCK,
						.find_failed = find_failed_holder,
						.find_failed_arg = &s};
	gompi_add_seq_cst(&m->lock, LOCK_QUEUED);
	int rc = gompi_await(&m->lock_wait, try_as_survivor, &s, &waiting);
	gompi_sub_seq_cst(&m->lock, LOCK_QUEUED);
	return rc;
}

// --- All jobs

bool gompi_lock_try_newcomer(struct gompi_win *w, int rank, bool exclusive) {
	return w->shared_locks == NULL ? gompi_lock_try(gompi_member(w, rank), exclusive, false)
				       : try_tolerant(w, rank, exclusive);
}

void gompi_unlock_any(struct gompi_win *w, int rank, bool exclusive) {
	if (w->shared_locks == NULL)
		gompi_unlock(w, rank, exclusive);
	else
		release_tolerant(w, rank, exclusive);
}

uint32_t gompi_lock_enqueue(struct gompi_win *w) {
	struct gompi_win_member *m = gompi_member(w, w->me);
	// Counts the remote waiter before the lock word shows a queued waiter. Pairs with gompi_unlock: an unlocker
	// that sees the waiter must also see that the waiter needs a doorbell.
	gompi_add_seq_cst(&m->lock_remote_waiters, 1);
	gompi_add_seq_cst(&m->lock, LOCK_QUEUED);
	uint32_t ticket = gompi_add(&m->lock_next, 1);
	gompi_full_fence(); // before the caller checks for its turn: pairs with the fence in gompi_wake_lock_waiters
	return ticket;
}

bool gompi_lock_try_ticket(struct gompi_win *w, uint32_t ticket, bool exclusive) {
	struct gompi_win_member *m = gompi_member(w, w->me);
	if (w->shared_locks != NULL ? !try_tolerant(w, w->me, exclusive)
				    : !try_ticket(&(struct lock_ticket){m, ticket, exclusive}))
		return false;
	gompi_sub_seq_cst(&m->lock_remote_waiters, 1);
	if (w->shared_locks != NULL)
		gompi_sub_seq_cst(&m->lock, LOCK_QUEUED);
	else
		serve_next_ticket(m, exclusive);
	return true;
}

static int failed_lock_member(const void *of, struct gompi_stuck_entry *place) { return gompi_win_failed_local(of); }

int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	struct gompi_win_member *m = gompi_member(w, rank);
	if (w->shared_locks != NULL)
		return wait_as_survivor(w, rank, exclusive, call);
	for (int i = 0; i < (gompi_node.policy.is_oversubscribed ? GOMPI_LOCK_TRIES_OVERSUB : GOMPI_LOCK_TRIES); i++) {
		if (gompi_node.policy.is_oversubscribed)
			sched_yield();
		else
			gompi_pause();
		if (gompi_lock_try(m, exclusive, false))
			return MPI_SUCCESS;
	}
	gompi_add(&m->lock, LOCK_QUEUED);
	struct lock_ticket t = {m, gompi_add(&m->lock_next, 1), exclusive};
	struct gompi_wait_desc waiting = {.call = call,
					  .peer = m->peer,
					  .tag = rank,
					  .object = w->handle,
					  .reason = GOMPI_FOR_LOCK,
					  .wake_bits = wake_bit(t.ticket),
					  .find_failed = failed_lock_member,
					  .find_failed_arg = w};
	int rc = gompi_await(&m->lock_wait, try_ticket, &t, &waiting);
	if (rc != MPI_SUCCESS)
		return rc; // a process has failed: the job ends, so the ticket stays in the queue
	serve_next_ticket(m, exclusive);
	return MPI_SUCCESS;
}
