// When signals of this thread wait that the application has handlers for: while Go runs, and while C changes what a
// handler must not find half changed, or leave so by longjmp (lists of objects, malloc). handlers.c holds them.
#ifndef GOMPI_SIGNALS_H
#define GOMPI_SIGNALS_H

#include <stdbool.h>

#include "base/order.h"
#include "base/up.h"

// Read and written by the thread and by signal handlers that interrupt it: relaxed, and in the order of the program.
struct gompi_signals {
	atomic_bool in_go; // Go code runs on this thread, or is interrupted by a signal handler
	bool biased;       // the locks of base/biased.h are, or were, biased to this thread
	gompi_a32 depth;   // of gompi_signals_stop
	gompi_a64 held;    // signals that wait: bit n-1 is signal n
};

// Initial-exec: a signal handler asks, and must not meet the allocation of thread-local memory.
extern _Thread_local struct gompi_signals gompi_signals __attribute__((tls_model("initial-exec")));

// Signals wait until gompi_signals_go_on, which is called as often.
static inline void gompi_signals_stop(void) {
	gompi_store(&gompi_signals.depth, gompi_load(&gompi_signals.depth) + 1);
	gompi_compiler_fence();
}

// A handler either finds the depth 0, or has set held.
static inline void gompi_signals_go_on(void) {
	gompi_compiler_fence();
	uint32_t depth = gompi_load(&gompi_signals.depth) - 1;
	gompi_store(&gompi_signals.depth, depth);
	gompi_compiler_fence();
	if (__builtin_expect(gompi_load(&gompi_signals.held) != 0, 0) && depth == 0 &&
	    !gompi_load(&gompi_signals.in_go))
		gompi_up.take_signals();
}

#endif
