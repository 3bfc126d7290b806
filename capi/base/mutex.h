// A lock for the threads of one process. It is a futex word: without contention, one atomic instruction acquires it and
// one releases it.
#ifndef GOMPI_MUTEX_H
#define GOMPI_MUTEX_H

#include <sched.h>

#include "base/order.h"

// 0: free; 1: held; 2: held, and threads may sleep until it is free.
struct gompi_mutex {
	gompi_a32 word;
};

#pragma GCC visibility push(hidden)

void gompi_mutex_wait(struct gompi_mutex *m);
void gompi_mutex_wake(struct gompi_mutex *m);

// Acquires the mutex if it is free. Returns true on success.
static inline bool gompi_mutex_try(struct gompi_mutex *m) {
	uint32_t nobody = 0;
	return gompi_change_once(&m->word, &nobody, 1);
}

static inline void gompi_mutex_take(struct gompi_mutex *m) {
	if (__builtin_expect(!gompi_mutex_try(m), 0))
		gompi_mutex_wait(m);
	// Acquires the mutex. Blocks until it is free.
}

// Releases the mutex. The release is a _total change (order.h), so a caller that has changed data under the lock may
// check for sleeping waiters immediately afterwards.
static inline void gompi_mutex_give(struct gompi_mutex *m) {
	if (__builtin_expect(gompi_swap_total(&m->word, 0) == 2, 0))
		gompi_mutex_wake(m);
}

#pragma GCC visibility pop
#endif
