#include "base/biased_mutex.h"

#include <sched.h>
#include <unistd.h>

#include "base/node.h"
#include "base/sanitizer.h"

enum {
	// Duration of the sleep that replaces membarrier(2) if the program has forbidden this system call after its
	// start (for example, by seccomp). After the sleep, every earlier store of the bias owner has left its core.
	REVOKE_SLEEP_US = 10000,
	// After r revocations, the bias owner restores the bias when it has acquired the mutex RESTORE_STREAK << r
	// times in succession. A revocation costs 2 to 10 us. After MAX_REVOCATIONS revocations the bias is never
	// restored.
	RESTORE_STREAK = 8,
	MAX_REVOCATIONS = 20,
};

// Which thread owns the bias of all biased locks.
enum {
	OWNER_UNDECIDED, // no lock has been acquired yet
	OWNER_DECIDED,   // the owner is the thread whose gompi_is_bias_owner is true
	OWNER_NONE,      // the locks are plain mutexes: no membarrier(2), or ThreadSanitizer must see each acquisition
};
static gompi_a32 bias;

_Thread_local bool gompi_is_bias_owner __attribute__((tls_model("initial-exec")));

// Makes this thread the bias owner if no thread has acquired a biased lock yet. Returns true if this thread becomes the
// owner.
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

// Acquires the lock for a thread that holds the mutex. If this thread is the bias owner, restores the bias after enough
// acquisitions. Otherwise revokes the bias, and waits until the bias owner has released the lock.
static void revoke_bias_and_lock(struct gompi_biased_mutex *l) {
	if (gompi_is_bias_owner) {
		if (gompi_load(&l->is_revoked) != 0 && l->revocations < MAX_REVOCATIONS &&
		    ++l->owner_streak >= (uint32_t)RESTORE_STREAK << l->revocations)
			// a plain store suffices: other threads check is_revoked only while they hold the mutex
			gompi_store(&l->is_revoked, 0);
	} else {
		l->owner_streak = 0;
		if (gompi_load(&l->is_revoked) == 0) {
			gompi_store(&l->is_revoked, 1);
			l->revocations += l->revocations < MAX_REVOCATIONS;
			// If the bias owner checks is_revoked after this membarrier, it sees 1 and acquires the mutex.
			// If it has checked is_revoked before, its store to held_by_owner is visible here.
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
