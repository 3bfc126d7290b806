// A lock for the threads of one process: a word, taken and given back by one instruction each while nobody else wants
// it.
#ifndef GOMPI_MUTEX_H
#define GOMPI_MUTEX_H

#include <sched.h>

#include "base/order.h"

// 0: free; 1: taken; 2: taken, and somebody may sleep until it is free.
struct gompi_mutex {
	gompi_a32 word;
};

#pragma GCC visibility push(hidden)

void gompi_mutex_wait(struct gompi_mutex *m);
void gompi_mutex_wake(struct gompi_mutex *m);

// Takes it if it is free. Returns true if it has.
static inline bool gompi_mutex_try(struct gompi_mutex *m) {
	uint32_t nobody = 0;
	return gompi_change_once(&m->word, &nobody, 1);
}

static inline void gompi_mutex_take(struct gompi_mutex *m) {
	if (__builtin_expect(!gompi_mutex_try(m), 0))
		gompi_mutex_wait(m);
}

// Gives it back. One of the _total changes (order.h), so that who has changed something under the lock may look at once
// who waits for that.
static inline void gompi_mutex_give(struct gompi_mutex *m) {
	if (__builtin_expect(gompi_swap_total(&m->word, 0) == 2, 0))
		gompi_mutex_wake(m);
}

#pragma GCC visibility pop
#endif
