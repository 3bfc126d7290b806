// A biased lock, for critical sections that one thread enters far more often than all other threads. The first thread
// of the process that acquires any lock of this kind owns the bias of all of them: this thread acquires and releases
// the locks by plain stores. Another thread revokes the bias of a lock with membarrier(2); from then on the lock is a
// struct gompi_mutex. The bias owner restores the bias after many consecutive acquisitions of the mutex. Each
// revocation doubles the required number of acquisitions. Without membarrier(2) all these locks are mutexes.
#ifndef GOMPI_BIASED_MUTEX_H
#define GOMPI_BIASED_MUTEX_H

#include <stdbool.h>

#include "base/mutex.h"

struct gompi_biased_mutex {
	gompi_a32 held_by_owner; // 1 if the bias owner holds the lock without the mutex
	gompi_a32 is_revoked;    // 1 if the bias is revoked: the bias owner then must acquire the mutex, too
	struct gompi_mutex mutex;
	bool holds_mutex;      // the lock holder also holds the mutex; guarded by the lock
	uint8_t revocations;   // number of revocations of the bias; guarded by the mutex, as is owner_streak
	uint32_t owner_streak; // consecutive acquisitions of the mutex by the bias owner
};

#pragma GCC visibility push(hidden)

// True if the current thread owns the bias of these locks.
extern _Thread_local bool gompi_is_bias_owner __attribute__((tls_model("initial-exec")));

void gompi_biased_lock_slow(struct gompi_biased_mutex *l);
bool gompi_biased_trylock_slow(struct gompi_biased_mutex *l);
void gompi_biased_unlock_slow(struct gompi_biased_mutex *l);

// Acquires the lock without waiting if this thread owns the bias and the lock is still biased. Returns true on success.
static inline bool gompi_biased_lock_fast(struct gompi_biased_mutex *l) {
	if (__builtin_expect(!gompi_is_bias_owner, 0))
		return false;
	gompi_store(&l->held_by_owner, 1);
	gompi_compiler_fence(); // the CPU fence is the membarrier(2) in biased_mutex.c
	if (__builtin_expect(gompi_equals_acquire_32(&l->is_revoked, 0), 1))
		return true;
	gompi_store(&l->held_by_owner, 0);
	return false;
}

// Acquires the lock. The calling thread must not hold the lock.
static inline void gompi_biased_lock(struct gompi_biased_mutex *l) {
	if (__builtin_expect(!gompi_biased_lock_fast(l), 0))
		gompi_biased_lock_slow(l);
}

// Acquires the lock and returns true. Returns false if a thread holds the mutex, or if this thread already holds the
// lock without the mutex. If the bias owner is another thread and holds the lock without the mutex, the function does
// not return false: it revokes the bias and waits until that thread releases the lock.
static inline bool gompi_biased_trylock(struct gompi_biased_mutex *l) {
	return (gompi_load(&l->held_by_owner) == 0 && gompi_biased_lock_fast(l)) || gompi_biased_trylock_slow(l);
}

// Releases the lock. Returns true if the caller also held the mutex, that is, if another thread may have found the lock
// held. In this case the release is a seq_cst operation (atomics.h), so the caller can then check whether that thread
// has posted work.
static inline bool gompi_biased_unlock(struct gompi_biased_mutex *l) {
	if (__builtin_expect(!l->holds_mutex, 1)) {
		gompi_store_release(&l->held_by_owner, 0); // pairs with the acquire in biased_mutex.c
		return false;
	}
	gompi_biased_unlock_slow(l);
	return true;
}

// Returns true if a thread appears to hold the lock (unlocked check).
static inline bool gompi_biased_is_locked(struct gompi_biased_mutex *l) {
	return gompi_load_acquire(&l->held_by_owner) != 0 || gompi_load_acquire(&l->mutex.state) != 0;
}

// Makes the next thread that acquires a biased lock the bias owner. For tests.
void gompi_biased_reset_owner(void);

#pragma GCC visibility pop
#endif
