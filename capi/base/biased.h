// A biased lock, for critical sections that one thread nearly always enters. The first thread of the process that
// acquires any lock of this kind owns the bias of all of them: it acquires and releases them by plain stores. Another
// thread revokes the bias of a lock with membarrier(2); from then on the lock is a struct gompi_mutex. The first thread
// restores the bias after it has acquired the mutex many times without another thread in between. The required number
// doubles with each revocation. Without membarrier(2) all these locks are mutexes.
#ifndef GOMPI_BIASED_H
#define GOMPI_BIASED_H

#include <stdbool.h>

#include "base/mutex.h"

struct gompi_biased {
	gompi_a32 inside; // 1: the bias owner holds the lock, without the mutex
	gompi_a32 shared; // 1: the bias is revoked; only the holder of the mutex holds the lock
	struct gompi_mutex mutex;
	bool by_mutex; // the lock holder also holds the mutex; guarded by the lock
	uint8_t times; // number of revocations of the bias; guarded by the mutex, as is runs
	uint32_t runs; // consecutive acquisitions of the mutex by the bias owner
};

#pragma GCC visibility push(hidden)

// Tells whether the current thread owns the bias of these locks.
extern _Thread_local bool gompi_biased_to_me __attribute__((tls_model("initial-exec")));

void gompi_biased_wait(struct gompi_biased *l);
bool gompi_biased_wait_try(struct gompi_biased *l);
void gompi_biased_give_mutex(struct gompi_biased *l);

// Acquires the lock without waiting if this thread owns the bias and the lock is still biased. Returns true on success.
static inline bool gompi_biased_at_once(struct gompi_biased *l) {
	if (__builtin_expect(!gompi_biased_to_me, 0))
		return false;
	gompi_store(&l->inside, 1);
	gompi_compiler_fence(); // pairs with the membarrier(2) in biased.c, which is the CPU fence
	if (__builtin_expect(gompi_is_32(&l->shared, 0), 1))
		return true;
	gompi_store(&l->inside, 0);
	return false;
}

// Acquires the lock. The calling thread must not hold it.
static inline void gompi_biased_take(struct gompi_biased *l) {
	if (__builtin_expect(!gompi_biased_at_once(l), 0))
		gompi_biased_wait(l);
}

// Acquires the lock, unless another thread holds the mutex or this thread already holds the lock without the mutex.
// Returns true on success.
static inline bool gompi_biased_try(struct gompi_biased *l) {
	return (gompi_load(&l->inside) == 0 && gompi_biased_at_once(l)) || gompi_biased_wait_try(l);
}

// Releases the lock. Returns true if the lock is a mutex: then another thread may have found it held, and the release
// was a _total change (order.h).
static inline bool gompi_biased_give(struct gompi_biased *l) {
	if (__builtin_expect(!l->by_mutex, 1)) {
		gompi_store_release(&l->inside, 0); // pairs with the acquire in biased.c
		return false;
	}
	gompi_biased_give_mutex(l);
	return true;
}

// Returns true if a thread appears to hold the lock (unlocked check).
static inline bool gompi_biased_is_taken(struct gompi_biased *l) {
	return gompi_load_acquire(&l->inside) != 0 || gompi_load_acquire(&l->mutex.word) != 0;
}

// Forgets which thread owns the bias. For tests.
void gompi_biased_forget(void);

#pragma GCC visibility pop
#endif
