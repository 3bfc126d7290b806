#include "win/lock.h"

#include <sched.h>

enum { TRIES_ALONE = 1000, TRIES_CROWDED = 2 };

struct turn {
	struct gompi_win_member *m;
	uint32_t ticket;
	bool exclusive;
};

static bool my_turn(void *arg) {
	struct turn *t = arg;
	return gompi_load_acquire(&t->m->lock_serving) == t->ticket && gompi_lock_try(t->m, t->exclusive, true);
}

int gompi_lock_wait(struct gompi_win *w, int rank, bool exclusive, const char *call) {
	struct gompi_win_member *m = gompi_member(w, rank);
	for (int i = 0; i < (gompi_node.policy.crowded ? TRIES_CROWDED : TRIES_ALONE); i++) {
		if (gompi_node.policy.crowded)
			sched_yield();
		else
			gompi_pause();
		if (gompi_lock_try(m, exclusive, false))
			return MPI_SUCCESS;
	}
	gompi_add(&m->lock, LOCK_QUEUED);
	struct turn t = {m, gompi_add(&m->lock_next, 1), exclusive};
	struct gompi_waiting what = {call, m->peer, w->handle};
	int rc = gompi_await(&m->lock_wait, my_turn, &t, &what);
	if (rc != MPI_SUCCESS)
		return rc; // a process died: the job is at its end, the queue with it
	gompi_store(&m->lock_bypassed, 0);
	gompi_add_total(&m->lock_serving, 1);
	gompi_wake_changed(&m->lock_wait);
	return MPI_SUCCESS;
}
