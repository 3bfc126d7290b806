#include "base/biased.h"

#include <sched.h>
#include <unistd.h>

#include "base/node.h"

enum {
	// Where the program has had membarrier(2) forbidden meanwhile: every store of the other thread has left its
	// core by then.
	END_US = 10000,
	// Of runs, before the bias is taken back after the first time, twice as many after the next; it costs 2 to 10
	// us to end it. After so many times it has ended for good.
	RUNS = 8,
	TIMES = 20,
};

// Whom the locks are biased to.
enum {
	UNDECIDED, // no lock has been taken yet
	DECIDED,   // to the thread without GOMPI_NOT_BIASED_TO
	NOBODY,    // all are mutexes
};
static gompi_a32 bias;

// Returns true if this thread is the first, and they are biased to it from here on.
static bool is_first(void) {
	uint32_t undecided = UNDECIDED;
	if (gompi_load(&bias) != UNDECIDED ||
	    !gompi_change_once(&bias, &undecided, gompi_has_membarrier ? DECIDED : NOBODY))
		return false;
	if (gompi_has_membarrier)
		gompi_store(&gompi_signals.depth, gompi_load(&gompi_signals.depth) & ~(uint32_t)GOMPI_NOT_BIASED_TO);
	return gompi_has_membarrier;
}

void gompi_biased_forget(void) {
	gompi_store(&bias, UNDECIDED);
	gompi_store(&gompi_signals.depth, gompi_load(&gompi_signals.depth) | GOMPI_NOT_BIASED_TO);
}

// Whoever has the mutex gets the lock: as soon as nobody is inside without it.
static void biased_get(struct gompi_biased *l) {
	if (gompi_biased_to_me()) {
		if (gompi_load(&l->shared) != 0 && l->times < TIMES && ++l->runs >= (uint32_t)RUNS << l->times)
			gompi_store(&l->shared, 0); // others come for the mutex first
	} else {
		l->runs = 0;
		if (gompi_load(&l->shared) == 0) {
			gompi_store(&l->shared, 1);
			l->times += l->times < TIMES;
			// From here on the first thread takes the mutex; if it has got through before, inside tells.
			if (gompi_load(&bias) == DECIDED && !gompi_process_barrier()) {
				l->times = TIMES;
				usleep(END_US);
			}
		}
	}
	while (gompi_load_acquire(&l->inside) != 0) // pairs with the release in gompi_biased_leave
		sched_yield();
	l->by_mutex = true;
}

void gompi_biased_wait(struct gompi_biased *l) {
	if (is_first() && gompi_biased_at_once(l))
		return;
	gompi_mutex_take(&l->mutex);
	biased_get(l);
}

bool gompi_biased_wait_try(struct gompi_biased *l) {
	if (is_first() && gompi_biased_at_once(l))
		return true;
	if (!gompi_mutex_try(&l->mutex))
		return false;
	if (gompi_biased_to_me() && gompi_load(&l->inside) != 0) { // this very thread is, below a signal handler
		gompi_mutex_give(&l->mutex);
		return false;
	}
	biased_get(l);
	return true;
}

// The thread that the locks are biased to notes which it has by their mutex: that is no usual case when it gives them.
static void note_mutex(uint32_t more) {
	if (gompi_biased_to_me())
		gompi_store(&gompi_signals.depth, gompi_load(&gompi_signals.depth) + more);
}

void gompi_biased_take_unusual(struct gompi_biased *l) {
	gompi_signals_stop();
	if (gompi_biased_at_once(l))
		return;
	gompi_biased_wait(l);
	if (l->by_mutex)
		note_mutex(GOMPI_BIASED_BY_MUTEX);
}

void gompi_biased_give_unusual(struct gompi_biased *l) {
	if (gompi_biased_leave(l))
		note_mutex(-(uint32_t)GOMPI_BIASED_BY_MUTEX);
	gompi_signals_go_on();
}
