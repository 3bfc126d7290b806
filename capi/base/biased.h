// A lock for what programs do in loops and by one thread nearly always: the first thread of the process that takes any
// lock of this kind, the one that they are biased to, takes and gives all of them by plain stores. Another thread has
// the lock's bias ended by membarrier(2), and it is a struct gompi_mutex from then on; the first thread takes the bias
// back after it has taken the lock many times with nobody between, twice as many each time. Where there is no
// membarrier(2) all are mutexes.
#ifndef GOMPI_BIASED_H
#define GOMPI_BIASED_H

#include <stdbool.h>

#include "base/mutex.h"

struct gompi_biased {
	gompi_a32 inside; // 1: the thread that the locks are biased to has it, without the mutex
	gompi_a32 shared; // 1: only who has the mutex has it
	struct gompi_mutex mutex;
	bool by_mutex; // whoever has the lock has the mutex; guarded by the lock
	uint8_t times; // how often the bias has ended; guarded by the mutex, as is what follows
	uint32_t runs; // how often the first thread has taken the mutex since somebody else had it
};

#pragma GCC visibility push(hidden)

// True in the thread that the locks are biased to.
extern _Thread_local bool gompi_biased_to_me __attribute__((tls_model("initial-exec")));

void gompi_biased_wait(struct gompi_biased *l);
bool gompi_biased_wait_try(struct gompi_biased *l);
void gompi_biased_give_mutex(struct gompi_biased *l);

// Acquires the lock if this is the thread that it is biased to. Returns true if it has.
static inline bool gompi_biased_at_once(struct gompi_biased *l) {
	if (__builtin_expect(!gompi_biased_to_me, 0))
		return false;
	gompi_store(&l->inside, 1);
	gompi_compiler_fence(); // the processor's part of this fence is the membarrier in biased.c
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

// Acquires the lock unless a thread holds the mutex, or this thread the lock without the mutex. Returns true if it has.
static inline bool gompi_biased_try(struct gompi_biased *l) {
	return (gompi_load(&l->inside) == 0 && gompi_biased_at_once(l)) || gompi_biased_wait_try(l);
}

// Releases the lock. Returns true if that was the mutex: another thread may have found it held, and the release was one
// of the _total changes (order.h).
static inline bool gompi_biased_give(struct gompi_biased *l) {
	if (__builtin_expect(!l->by_mutex, 1)) {
		gompi_store_release(&l->inside, 0); // pairs with the acquire in biased.c
		return false;
	}
	gompi_biased_give_mutex(l);
	return true;
}

// Returns true if a thread seems to have it.
static inline bool gompi_biased_is_taken(struct gompi_biased *l) {
	return gompi_load_acquire(&l->inside) != 0 || gompi_load_acquire(&l->mutex.word) != 0;
}

// The first thread of all is no longer known: tests.
void gompi_biased_forget(void);

#pragma GCC visibility pop
#endif
