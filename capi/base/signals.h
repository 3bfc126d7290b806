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
	// Of gompi_signals_stop, and above what base/biased.h knows of the thread: so that a lock which is taken in
	// the usual case asks once.
	gompi_a32 depth;
	gompi_a64 held; // signals that wait: bit n-1 is signal n
};
enum {
	GOMPI_SIGNALS_DEPTH = 0xffff,    // how deep
	GOMPI_NOT_BIASED_TO = 0x10000,   // base/biased.h's locks are not biased to this thread; each begins with it
	GOMPI_BIASED_BY_MUTEX = 0x20000, // times how many of them the thread that they are biased to has by their mutex
};

// Initial-exec: a signal handler asks, and must not meet the allocation of thread-local memory.
extern _Thread_local struct gompi_signals gompi_signals __attribute__((tls_model("initial-exec")));

// Signals wait until gompi_signals_go_on, which is called as often.
static inline void gompi_signals_stop(void) {
	gompi_store(&gompi_signals.depth, gompi_load(&gompi_signals.depth) + 1);
	gompi_compiler_fence();
}

static inline bool gompi_signals_wait(void) { return (gompi_load(&gompi_signals.depth) & GOMPI_SIGNALS_DEPTH) != 0; }

// Lets the signals in that have been held, if they need not wait any longer.
__attribute__((cold)) void gompi_signals_come(void);

// A handler either finds the depth 0, or has set held.
static inline void gompi_signals_let_in(void) {
	gompi_compiler_fence();
	if (__builtin_expect(!gompi_is(&gompi_signals.held, 0), 0))
		gompi_signals_come();
}

static inline void gompi_signals_go_on(void) {
	gompi_compiler_fence();
	gompi_store(&gompi_signals.depth, gompi_load(&gompi_signals.depth) - 1);
	gompi_signals_let_in();
}

#endif
