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

int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	struct gompi_win_member *m = gompi_member(w, rank);
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
