#ifndef GOMPI_BRIEF_H
#define GOMPI_BRIEF_H

#include <sched.h>

#include "base/signals.h"

// A lock for a few instructions: one that is atomic takes it, a store gives it back. Who waits lets others run. The
// application's signal handlers wait meanwhile.
struct gompi_brief {
	gompi_a32 word; // 1: taken
};

static inline void gompi_brief_take(struct gompi_brief *b) {
	gompi_signals_stop();
	while (__builtin_expect(gompi_swap_total(&b->word, 1) != 0, 0))
		sched_yield();
}

static inline void gompi_brief_give(struct gompi_brief *b) {
	gompi_store_release(&b->word, 0); // pairs with gompi_brief_take
	gompi_signals_go_on();
}

#endif
