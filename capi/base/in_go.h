// A flag per thread, which is true while the thread runs Go. A signal handler of the application may call MPI_Abort. If
// the handler has interrupted Go, MPI_Abort must not enter Go again (runtime/cross.c).
#ifndef GOMPI_IN_GO_H
#define GOMPI_IN_GO_H

#include "base/atomics.h"

#pragma GCC visibility push(hidden)

// True while this thread runs Go, or C that Go has called. Signal handlers read it. The TLS model is initial-exec: with
// other models the first access may allocate memory, which a signal handler must not do.
extern _Thread_local atomic_bool gompi_in_go __attribute__((tls_model("initial-exec")));

// Returns true if this thread runs Go, or C that Go has called, except between gompi_leave_go and gompi_return_to_go.
static inline bool gompi_is_in_go(void) { return gompi_load(&gompi_in_go); }

static inline void gompi_set_in_go(bool in) {
	gompi_compiler_fence();
	gompi_store(&gompi_in_go, in);
	gompi_compiler_fence();
}

// Marks the thread as outside of Go and returns the previous state, to be passed to gompi_return_to_go. The two
// functions enclose each callback of the application that may run below Go frames, so that the callback may call
// MPI_Abort.
static inline bool gompi_leave_go(void) {
	bool was_in_go = gompi_is_in_go();
	gompi_set_in_go(false);
	return was_in_go;
}
static inline void gompi_return_to_go(bool was_in_go) { gompi_set_in_go(was_in_go); }

#pragma GCC visibility pop
#endif
