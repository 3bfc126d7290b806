// A lock for the threads of one process. It is a futex word: without contention, one atomic instruction acquires it and
// one releases it.
#ifndef GOMPI_MUTEX_H
#define GOMPI_MUTEX_H

#include <sched.h>

#include "base/atomics.h"

// Values of `state`: 0 if free; 1 if held; 2 if held and threads may sleep until it is free.
struct gompi_mutex {
	gompi_a32 state;
};

#pragma GCC visibility push(hidden)

void gompi_mutex_lock_slow(struct gompi_mutex *m);
void gompi_mutex_wake_one(struct gompi_mutex *m);

// Acquires the mutex if it is free. Returns true on success.
static inline bool gompi_mutex_trylock(struct gompi_mutex *m) {
	uint32_t expected = 0;
	return gompi_cas_strong(&m->state, &expected, 1);
}

// Acquires the mutex. Blocks until it is free.
static inline void gompi_mutex_lock(struct gompi_mutex *m) {
	if (__builtin_expect(!gompi_mutex_trylock(m), 0))
		gompi_mutex_lock_slow(m);
}

// Releases the mutex, and wakes one of the threads that sleep until it is free. The release is a seq_cst operation
// (atomics.h), so no later seq_cst load of the caller overtakes it. The check for posted work in combining_lock.h needs
// this order.
static inline void gompi_mutex_unlock(struct gompi_mutex *m) {
	if (__builtin_expect(gompi_swap_seq_cst(&m->state, 0) == 2, 0))
		gompi_mutex_wake_one(m);
}

#pragma GCC visibility pop
#endif
