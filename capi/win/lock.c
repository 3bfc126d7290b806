#include "win/lock.h"

#include <sched.h>

#include "base/loss.h"
#include "base/tuning.h"

struct turn {
	struct gompi_win_member *m;
	uint32_t ticket;
	bool exclusive;
};

static bool my_turn(void *arg) {
	struct turn *t = arg;
	return gompi_load_acquire(&t->m->lock_serving) == t->ticket && gompi_lock_try(t->m, t->exclusive, true);
}

void gompi_lock_tell(struct gompi_win_member *m) {
	gompi_wake_changed(&m->lock_wait);
	if (__builtin_expect(gompi_load(&m->lock_elsewhere) != 0, 0))
		gompi_ring_doorbell(gompi_on_node(m->peer));
}

// Ends the turn of the waiter at the queue's head, which has acquired the lock.
static void next_turn(struct gompi_win_member *m) {
	gompi_store(&m->lock_bypassed, 0);
	gompi_add_total(&m->lock_serving, 1);
	gompi_lock_tell(m);
}

uint32_t gompi_lock_queue(struct gompi_win_member *m) {
	// Before the lock word shows a queued waiter. Pairs with gompi_unlock: an unlocker that sees the waiter must
	// also see that it needs a doorbell.
	gompi_add_total(&m->lock_elsewhere, 1);
	gompi_add_total(&m->lock, LOCK_QUEUED);
	uint32_t ticket = gompi_add(&m->lock_next, 1);
	gompi_full_fence(); // before the caller checks for its turn: pairs with the fence in gompi_lock_tell
	return ticket;
}

bool gompi_lock_turn(struct gompi_win_member *m, uint32_t ticket, bool exclusive) {
	if (!my_turn(&(struct turn){m, ticket, exclusive}))
		return false;
	gompi_sub_total(&m->lock_elsewhere, 1);
	next_turn(m);
	return true;
}

static int loss_to_lock(const void *of, struct gompi_stuck *place) { return gompi_win_lost_here(of); }

int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	struct gompi_win_member *m = gompi_member(w, rank);
	for (int i = 0; i < (gompi_node.policy.oversubscribed ? GOMPI_LOCK_TRIES_OVERSUBSCRIBED : GOMPI_LOCK_TRIES);
	     i++) {
		if (gompi_node.policy.oversubscribed)
			sched_yield();
		else
			gompi_pause();
		if (gompi_lock_try(m, exclusive, false))
			return MPI_SUCCESS;
	}
	gompi_add(&m->lock, LOCK_QUEUED);
	struct turn t = {m, gompi_add(&m->lock_next, 1), exclusive};
	struct gompi_waiting what = {.call = call,
				     .peer = m->peer,
				     .tag = rank,
				     .object = w->handle,
				     .reason = GOMPI_FOR_LOCK,
				     .lost = loss_to_lock,
				     .of = w};
	int rc = gompi_await(&m->lock_wait, my_turn, &t, &what);
	if (rc != MPI_SUCCESS)
		return rc; // a process has died: the job ends, and the queue with it
	next_turn(m);
	return MPI_SUCCESS;
}
