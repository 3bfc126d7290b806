// A lock for what programs do in loops and by one thread nearly always: the first thread of the process that takes any
// lock of this kind, the one that they are biased to, takes and gives all of them by plain stores. Another thread has
// the lock's bias ended by membarrier(2), and it is a struct gompi_mutex from then on; the first thread takes the bias
// back after it has taken the lock many times with nobody between, twice as many each time. Where there is no
// membarrier(2) all are mutexes.
#ifndef GOMPI_BIASED_H
#define GOMPI_BIASED_H

#include "base/mutex.h"
#include "base/signals.h"

struct gompi_biased {
	gompi_a32 inside; // 1: the thread that the locks are biased to has it, without the mutex
	gompi_a32 shared; // 1: only who has the mutex has it
	struct gompi_mutex mutex;
	bool by_mutex; // whoever has the lock has the mutex; guarded by the lock
	uint8_t times; // how often the bias has ended; guarded by the mutex, as is what follows
	uint32_t runs; // how often the first thread has taken the mutex since somebody else had it
};

#pragma GCC visibility push(hidden)

void gompi_biased_wait(struct gompi_biased *l);
bool gompi_biased_wait_try(struct gompi_biased *l);

static inline bool gompi_biased_to_me(void) { return (gompi_load(&gompi_signals.depth) & GOMPI_NOT_BIASED_TO) == 0; }

// Takes it if this is the thread that it is biased to.
static inline bool gompi_biased_at_once(struct gompi_biased *l) {
	if (__builtin_expect(!gompi_biased_to_me(), 0))
		return false;
	gompi_store(&l->inside, 1);
	gompi_compiler_fence(); // the processor's part of this fence is the membarrier in biased.c
	if (__builtin_expect(gompi_is_32(&l->shared, 0), 1))
		return true;
	gompi_store(&l->inside, 0);
	return false;
}

// Takes it. Signals are not held: a handler that comes between and wants it finds it taken, as it would a mutex.
static inline void gompi_biased_enter(struct gompi_biased *l) {
	if (__builtin_expect(gompi_load(&l->inside) != 0 || !gompi_biased_at_once(l), 0))
		gompi_biased_wait(l);
}

// Takes it unless a thread has the mutex. Returns true if it has.
static inline bool gompi_biased_try_enter(struct gompi_biased *l) {
	return (gompi_load(&l->inside) == 0 && gompi_biased_at_once(l)) || gompi_biased_wait_try(l);
}

// Gives it back. Returns true if that was the mutex: then somebody may have found it taken, and this was one of the
// _total changes (order.h).
static inline bool gompi_biased_leave(struct gompi_biased *l) {
	if (__builtin_expect(!l->by_mutex, 1)) {
		gompi_store_release(&l->inside, 0); // pairs with the acquire in biased.c
		return false;
	}
	l->by_mutex = false;
	gompi_mutex_give(&l->mutex);
	return true;
}

// Taking and giving it while the application's signal handlers wait, so that none finds it taken, or leaves with it.
// The usual case is the thread that the locks are biased to, which has none of them, and signals do not wait yet. What
// it stores then are constants: no call waits for the sums of the one before.
void gompi_biased_take_unusual(struct gompi_biased *l);
void gompi_biased_give_unusual(struct gompi_biased *l);

static inline void gompi_biased_take(struct gompi_biased *l) {
	if (__builtin_expect(!gompi_is_32(&gompi_signals.depth, 0), 0)) {
		gompi_biased_take_unusual(l);
		return;
	}
	gompi_store(&gompi_signals.depth, 1);
	gompi_store(&l->inside, 1);
	gompi_compiler_fence(); // as in gompi_biased_at_once
	if (__builtin_expect(!gompi_is_32(&l->shared, 0), 0)) {
		gompi_store(&l->inside, 0);
		gompi_store(&gompi_signals.depth, 0);
		gompi_biased_take_unusual(l);
	}
}

static inline void gompi_biased_give(struct gompi_biased *l) {
	if (__builtin_expect(!gompi_is_32(&gompi_signals.depth, 1), 0)) {
		gompi_biased_give_unusual(l);
		return;
	}
	gompi_store_release(&l->inside, 0); // pairs with the acquire in biased.c
	gompi_store(&gompi_signals.depth, 0);
	gompi_signals_let_in();
}

// Returns true if a thread seems to have it.
static inline bool gompi_biased_is_taken(struct gompi_biased *l) {
	return gompi_load_acquire(&l->inside) != 0 || gompi_load_acquire(&l->mutex.word) != 0;
}

// The first thread of all is no longer known: tests.
void gompi_biased_forget(void);

#pragma GCC visibility pop
#endif
