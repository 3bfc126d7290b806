#include "base/biased.h"

#include <sched.h>
#include <unistd.h>

#include "base/node.h"
#include "base/sanitizer.h"

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
	DECIDED,   // to the thread where gompi_biased_to_me is true
	NOBODY,    // all are mutexes; so a sanitizer can be told
};
static gompi_a32 bias;

_Thread_local bool gompi_biased_to_me __attribute__((tls_model("initial-exec")));

// Returns true if this thread is the first, and they are biased to it from here on.
static bool is_first(void) {
	uint32_t undecided = UNDECIDED;
	bool can = gompi_has_membarrier && !gompi_tells_tsan();
	if (gompi_load(&bias) != UNDECIDED || !gompi_change_once(&bias, &undecided, can ? DECIDED : NOBODY))
		return false;
	gompi_biased_to_me = can;
	return can;
}

void gompi_biased_forget(void) {
	gompi_store(&bias, UNDECIDED);
	gompi_biased_to_me = false;
}

// Whoever has the mutex gets the lock: as soon as nobody is inside without it.
static void biased_get(struct gompi_biased *l) {
	if (gompi_biased_to_me) {
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
	while (gompi_load_acquire(&l->inside) != 0) // pairs with the release in gompi_biased_give
		sched_yield();
	l->by_mutex = true;
	if (gompi_tells_tsan())
		__tsan_acquire(l);
}

void gompi_biased_give_mutex(struct gompi_biased *l) {
	if (gompi_tells_tsan())
		__tsan_release(l);
	l->by_mutex = false;
	gompi_mutex_give(&l->mutex);
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
	if (gompi_biased_to_me && gompi_load(&l->inside) != 0) { // by this thread
		gompi_mutex_give(&l->mutex);
		return false;
	}
	biased_get(l);
	return true;
}
