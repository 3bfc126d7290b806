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

void gompi_wake_lock_waiters(struct gompi_win_member *m) {
	gompi_wake_after_rmw(&m->lock_wait);
	if (__builtin_expect(gompi_load(&m->lock_remote_waiters) != 0, 0))
		gompi_ring_doorbell(gompi_local_index(m->peer));
}

// Ends the turn of the waiter at the queue's head, which has acquired the lock.
static void serve_next_ticket(struct gompi_win_member *m) {
	gompi_store(&m->lock_bypass_count, 0);
	gompi_add_seq_cst(&m->lock_serving, 1);
	gompi_wake_lock_waiters(m);
}

uint32_t gompi_lock_enqueue(struct gompi_win_member *m) {
	// Counts the remote waiter before the lock word shows a queued waiter. Pairs with gompi_unlock: an unlocker
	// that sees the waiter must also see that the waiter needs a doorbell.
	gompi_add_seq_cst(&m->lock_remote_waiters, 1);
	gompi_add_seq_cst(&m->lock, LOCK_QUEUED);
	uint32_t ticket = gompi_add(&m->lock_next, 1);
	gompi_full_fence(); // before the caller checks for its turn: pairs with the fence in gompi_wake_lock_waiters
	return ticket;
}

bool gompi_lock_try_ticket(struct gompi_win_member *m, uint32_t ticket, bool exclusive) {
	if (!try_ticket(&(struct lock_ticket){m, ticket, exclusive}))
		return false;
	gompi_sub_seq_cst(&m->lock_remote_waiters, 1);
	serve_next_ticket(m);
	return true;
}

static int failed_lock_member(const void *of, struct gompi_stuck_entry *place) { return gompi_win_failed_local(of); }

// A wait for a lock in a fault-tolerant job. The waiters need no turn, because the waiter whose turn it is may fail.
struct survivor {
	struct gompi_win *w;
	int rank;
	bool exclusive;
	uint32_t failures_seen; // lock_failures at the beginning of the wait
};

static bool try_as_survivor(void *arg) {
	struct survivor *s = arg;
	return gompi_lock_try(gompi_member(s->w, s->rank), s->exclusive, true);
}

// Releases the locks that failed members of the node hold at `rank`, and notifies the waiters.
static void release_failed_locks(struct gompi_win *w, int rank) {
	struct gompi_win_member *m = gompi_member(w, rank);
	for (int i = 0; i < w->local_size; i++) {
		_Atomic uint8_t *held = gompi_held_lock(w, i, rank);
		uint8_t kind = gompi_load(held);
		if (kind == GOMPI_HELD_NONE || !gompi_is_failed(gompi_member(w, gompi_win_rank_of_local(w, i))->peer) ||
		    gompi_swap_seq_cst(held, GOMPI_HELD_NONE) == GOMPI_HELD_NONE)
			continue;
		gompi_add_seq_cst(&m->lock_failures, 1);
		gompi_sub_seq_cst(&m->lock, kind == GOMPI_HELD_EXCLUSIVE ? LOCK_WRITER : 1);
		gompi_wake_lock_waiters(m);
	}
}

// Implements find_failed (struct gompi_wait_desc): the wait ends if the target or a holder of the lock has failed.
static int find_failed_holder(const void *of, struct gompi_stuck_entry *place) {
	const struct survivor *s = of;
	struct gompi_win_member *m = gompi_member(s->w, s->rank);
	if (gompi_is_failed(m->peer))
		return m->peer;
	release_failed_locks(s->w, s->rank);
	return gompi_load(&m->lock_failures) != s->failures_seen ? gompi_win_failed_local(s->w) : GOMPI_NONE_FAILED;
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
	if (rc != MPI_SUCCESS)
		gompi_sub_seq_cst(&m->lock, LOCK_QUEUED);
	return rc;
}

int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	struct gompi_win_member *m = gompi_member(w, rank);
	if (w->held_locks != NULL)
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
					  .find_failed = failed_lock_member,
					  .find_failed_arg = w};
	int rc = gompi_await(&m->lock_wait, try_ticket, &t, &waiting);
	if (rc != MPI_SUCCESS)
		return rc; // a process has failed: the job ends, so the ticket stays in the queue
	serve_next_ticket(m);
	return MPI_SUCCESS;
}
