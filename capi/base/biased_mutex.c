#include "base/biased_mutex.h"

#include <sched.h>
#include <unistd.h>

#include "base/node.h"
#include "base/sanitizer.h"

enum {
	// Sleep that replaces membarrier(2) if the program has forbidden it meanwhile. After it, every store of the
	// other thread has left its core.
	REVOKE_SLEEP_US = 10000,
	// Number of acquisitions before the bias is restored after its first revocation; it doubles with each further
	// one. A revocation costs 2 to 10 us. After MAX_REVOCATIONS revocations the bias is never restored.
	RESTORE_STREAK = 8,
	MAX_REVOCATIONS = 20,
};

// The owner of the bias.
enum {
	OWNER_UNDECIDED, // no lock has been acquired yet
	OWNER_DECIDED,   // the thread in which gompi_is_bias_owner is true
	OWNER_NONE,      // all locks are mutexes: no membarrier(2), or ThreadSanitizer must see each acquisition
};
static gompi_a32 bias;

_Thread_local bool gompi_is_bias_owner __attribute__((tls_model("initial-exec")));

// Returns true if this thread is the first one, and makes it the owner of the bias.
static bool become_bias_owner(void) {
	uint32_t undecided = OWNER_UNDECIDED;
	bool can = gompi_has_membarrier && !gompi_tsan_is_linked();
	if (gompi_load(&bias) != OWNER_UNDECIDED ||
	    !gompi_cas_strong(&bias, &undecided, can ? OWNER_DECIDED : OWNER_NONE))
		return false;
	gompi_is_bias_owner = can;
	return can;
}

void gompi_biased_reset_owner(void) {
	gompi_store(&bias, OWNER_UNDECIDED);
	gompi_is_bias_owner = false;
}

// Acquires the lock for a thread that holds the mutex. Waits until the bias owner has released it.
static void revoke_bias_and_lock(struct gompi_biased_mutex *l) {
	if (gompi_is_bias_owner) {
		if (gompi_load(&l->is_revoked) != 0 && l->revocations < MAX_REVOCATIONS &&
		    ++l->owner_streak >= (uint32_t)RESTORE_STREAK << l->revocations)
			gompi_store(&l->is_revoked, 0); // other threads still acquire the mutex first
	} else {
		l->owner_streak = 0;
		if (gompi_load(&l->is_revoked) == 0) {
			gompi_store(&l->is_revoked, 1);
			l->revocations += l->revocations < MAX_REVOCATIONS;
			// After this barrier the bias owner sees is_revoked and acquires the mutex. If it checked
			// is_revoked before, held_by_owner is visible here.
			if (gompi_load(&bias) == OWNER_DECIDED && !gompi_process_membarrier()) {
				l->revocations = MAX_REVOCATIONS;
				usleep(REVOKE_SLEEP_US);
			}
		}
	}
	while (gompi_load_acquire(&l->held_by_owner) != 0) // pairs with the release in gompi_biased_unlock
		sched_yield();
	l->holds_mutex = true;
	if (gompi_tsan_is_linked())
		__tsan_acquire(l);
}

void gompi_biased_unlock_slow(struct gompi_biased_mutex *l) {
	if (gompi_tsan_is_linked())
		__tsan_release(l);
	l->holds_mutex = false;
	gompi_mutex_unlock(&l->mutex);
}

void gompi_biased_lock_slow(struct gompi_biased_mutex *l) {
	if (become_bias_owner() && gompi_biased_lock_fast(l))
		return;
	gompi_mutex_lock(&l->mutex);
	revoke_bias_and_lock(l);
}

bool gompi_biased_trylock_slow(struct gompi_biased_mutex *l) {
	if (become_bias_owner() && gompi_biased_lock_fast(l))
		return true;
	if (!gompi_mutex_trylock(&l->mutex))
		return false;
	if (gompi_is_bias_owner && gompi_load(&l->held_by_owner) != 0) { // held by this thread
		gompi_mutex_unlock(&l->mutex);
		return false;
	}
	revoke_bias_and_lock(l);
	return true;
}
