// A combining lock. A thread that finds the lock held does not wait: it posts its work, and the lock holder does that
// work too. The flag alone (gompi_missed_post, gompi_missed_consume) serves the same protocol with another kind of
// lock (message/vci.h).
//
//   A thread that finds the lock held:     The lock holder:
//   P1  stores missed = 1                  H1  releases the lock
//   P2  tries to acquire it once more      H2  reads missed; if set, swaps it to 0 and starts again
//
// No posted work is lost. P1, P2, H1 and H2 are seq_cst, so all threads agree on their order. P2 fails only if it comes
// before H1 of some holder. Then P1 < P2 < H1 < H2, and that holder reads 1, or another thread has swapped the flag to
// 0 since P1. The thread that has swapped it starts again: it acquires the lock, or posts again as in P1. Therefore one
// thread always does the work later than P1. The swap acquires what the poster has stored before P1.
//
// In each of these interleavings no thread reads the flag, and the lock is free:
//   - P2 fails, H1, H2 reads 0, P1. The order of P1 and P2 prevents that a load overtakes the store before it.
//   - H2 reads 0, P1, P2 fails, H1. The order of H1 and H2 prevents it.
//   - The first try fails, H1, H2 reads 0, P1. The second try P2 prevents it.
#ifndef GOMPI_COMBINING_LOCK_H
#define GOMPI_COMBINING_LOCK_H

#include "base/mutex.h"

// A thread that only waits for the lock, or that tries to acquire it without leaving work, uses mutex directly. Every
// holder, also one that used mutex directly, ends with gompi_combining_unlock or gompi_missed_consume, unless no work
// can have been posted.
struct gompi_combining_lock {
	struct gompi_mutex mutex;
	gompi_a32 missed; // a thread has found the lock held, and left its work
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
