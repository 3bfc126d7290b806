// A combining lock. A thread that finds the lock held does not wait: it posts its work, and the lock holder does that
// work too. message/vci.h uses the flag (gompi_missed_post, gompi_missed_consume) with another kind of lock, and
// follows the same protocol.
//
//   A thread that finds the lock held:     The lock holder:
//   P1  stores missed = 1                  H1  releases the lock
//   P2  tries to acquire the lock again    H2  reads missed; if set, swaps it to 0 and starts again
//
// No posted work is lost. P1, P2, H1 and H2 are seq_cst, so all threads agree on their order. P2 fails only if some
// thread still holds the lock. This holder executes H1 and H2 later, so P1 < P2 < H1 < H2. In H2 it reads 1, unless
// another thread has swapped the flag to 0 since P1. The thread that swaps the flag to 0 starts again: it acquires the
// lock, or posts again as in P1. Therefore some thread always does the work after P1. The swap in H2 is also an acquire
// operation, so that the lock holder sees what the poster stored before P1.
//
// In each of these interleavings H2 reads 0, so the previous holder does not see the flag that P1 sets:
//   - P2 fails, H1, H2 reads 0, P1. Impossible, because the load in P2 cannot overtake the store in P1.
//   - H2 reads 0, P1, P2 fails, H1. Impossible, because H2 cannot overtake H1.
//   - The first attempt fails, H1, H2 reads 0, P1. Harmless, because the second attempt P2 then acquires the lock.
#ifndef GOMPI_COMBINING_LOCK_H
#define GOMPI_COMBINING_LOCK_H

#include "base/mutex.h"

// A thread that waits for the lock, or that tries to acquire it without posting work, uses the field `mutex` directly.
// Every holder must finally call gompi_combining_unlock or gompi_missed_consume, even if it has acquired `mutex`
// directly. Otherwise posted work would be lost. A holder need not call them if no thread can post work while it holds
// the lock.
struct gompi_combining_lock {
	struct gompi_mutex mutex;
	gompi_a32 missed; // 1 if a thread has found the lock held and posted its work
};

// Posts work to the thread that releases the lock next (P1).
static inline void gompi_missed_post(gompi_a32 *missed) { gompi_store_seq_cst(missed, 1); }

// Returns true if a thread has posted work (H2). The caller has released the lock and must do that work.
static inline bool gompi_missed_consume(gompi_a32 *missed) {
	return __builtin_expect(gompi_load_seq_cst(missed) != 0, 0) && gompi_swap_seq_cst(missed, 0) != 0;
}

// Acquires the lock, or posts the caller's work to its holder. Returns true if the caller holds the lock.
static inline bool gompi_combining_try_lock(struct gompi_combining_lock *l) {
	if (__builtin_expect(gompi_mutex_trylock(&l->mutex), 1))
		return true;
	gompi_missed_post(&l->missed);
	return gompi_mutex_trylock(&l->mutex);
}

// Releases the lock. Returns true if another thread has posted work, which the caller must do.
static inline bool gompi_combining_unlock(struct gompi_combining_lock *l) {
	gompi_mutex_unlock(&l->mutex);
	return gompi_missed_consume(&l->missed);
}

#endif
