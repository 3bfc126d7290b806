// Calls from C into Go and back.
//
// An exported Go function runs on a goroutine's stack, on the thread that called it. A signal handler that the
// application installed without SA_ONSTACK runs on the current stack of its thread. So the first call into Go on a
// thread makes that goroutine's stack large (core/stack). It keeps the thread's alternate signal stack and signal mask
// unchanged. Signal handlers run at once, both in Go and in C. The only MPI function that a handler may call is
// MPI_Abort. MPI_Abort must not enter Go if the handler has interrupted Go, which the per-thread flag in_go shows.
//
// Every call of an exported Go function passes through __wrap_crosscall2: the linker's --wrap substitutes it for the
// runtime's crosscall2 (main.go).
#ifndef GOMPI_CROSS_H
#define GOMPI_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

#pragma GCC visibility push(hidden)

enum { GOMPI_GO_STACK = 1 << 20 }; // size of a goroutine's stack after core/stack.Grow, in bytes

struct gompi_thread {
	bool is_prepared;       // the first call into Go has prepared this thread
	atomic_bool in_go;      // this thread runs Go, or C called by Go; signal handlers read it
	uintptr_t go_stack_top; // an address near the top of the goroutine's stack
};

// Initial-exec, because a signal handler must not enter the allocator of thread-local memory.
extern __thread struct gompi_thread gompi_thread __attribute__((tls_model("initial-exec")));

// Returns true if this thread runs Go, or C called by Go outside of gompi_leave_go .. gompi_return_to_go.
static inline bool gompi_is_in_go(void) { return gompi_load(&gompi_thread.in_go); }

static inline void gompi_set_in_go(bool in) {
	gompi_compiler_fence();
	gompi_store(&gompi_thread.in_go, in);
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
