#include "base/biased.h"

#include <sched.h>
#include <unistd.h>

#include "base/node.h"
#include "base/sanitizer.h"

enum {
	// Sleep in place of membarrier(2) if the program has forbidden it meanwhile: every store of the other thread
	// has left its core by then.
	END_US = 10000,
	// RUNS: number of acquisitions before the bias is restored after its first revocation; it doubles with each
	// further one. A revocation costs 2 to 10 us. After TIMES revocations the bias is never restored.
	RUNS = 8,
	TIMES = 20,
};

// The owner of the bias.
enum {
	UNDECIDED, // no lock has been taken yet
	DECIDED,   // the thread in which gompi_biased_to_me is true
	NOBODY,    // all locks are mutexes: no membarrier(2), or ThreadSanitizer must be told of each acquisition
};
static gompi_a32 bias;

_Thread_local bool gompi_biased_to_me __attribute__((tls_model("initial-exec")));

// Returns true if this thread is the first one, and makes it the owner of the bias.
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

// Acquires the lock for a thread that holds the mutex. Waits until the bias owner has released it.
static void biased_get(struct gompi_biased *l) {
	if (gompi_biased_to_me) {
		if (gompi_load(&l->shared) != 0 && l->times < TIMES && ++l->runs >= (uint32_t)RUNS << l->times)
			gompi_store(&l->shared, 0); // other threads still acquire the mutex first
	} else {
		l->runs = 0;
		if (gompi_load(&l->shared) == 0) {
			gompi_store(&l->shared, 1);
			l->times += l->times < TIMES;
			// After this barrier the bias owner sees shared and takes the mutex. If it checked shared
			// before, inside is visible here.
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
	if (gompi_biased_to_me && gompi_load(&l->inside) != 0) { // held by this thread
		gompi_mutex_give(&l->mutex);
		return false;
	}
	biased_get(l);
	return true;
}
