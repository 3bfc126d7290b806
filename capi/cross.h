// The way from C into Go and back.
//
// An exported function of Go runs on a goroutine's stack, on the thread that called it. A signal handler that the
// application has installed without SA_ONSTACK runs on the stack that its thread is on. So the first call into Go on a
// thread makes that goroutine's stack large (core/stack), and leaves the thread's alternate stack and signal mask as
// they were. Handlers run at once, in Go as in C. Of MPI they may call MPI_Abort, which must not enter Go where the
// handler has interrupted Go: a flag of the thread tells it.
//
// Every call of an exported function passes here: the linker's --wrap puts __wrap_crosscall2 in the place of the
// runtime's crosscall2 (main.go).
#ifndef GOMPI_CROSS_H
#define GOMPI_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"

#pragma GCC visibility push(hidden)

enum { GOMPI_GO_STACK = 1 << 20 }; // a goroutine's stack after core/stack.Grow

struct gompi_thread {
	bool ready;         // the first call is over
	atomic_bool in_go;  // Go runs, or C that it has called; signal handlers read it
	uintptr_t go_stack; // an address near the top of the goroutine's stack
};

// Initial-exec: a signal handler must not enter the allocation of thread-local memory.
extern __thread struct gompi_thread gompi_thread __attribute__((tls_model("initial-exec")));

// Returns true if this thread runs Go, or C that Go has called and that is not between gompi_leave_go and
// gompi_back_to_go.
static inline bool gompi_is_in_go(void) { return gompi_load(&gompi_thread.in_go); }

static inline void gompi_set_in_go(bool in) {
	gompi_compiler_fence();
	gompi_store(&gompi_thread.in_go, in);
	gompi_compiler_fence();
}

// Around a function of the application that C calls and that Go may be below: it may call MPI_Abort. gompi_leave_go
// returns what gompi_back_to_go is given.
static inline bool gompi_leave_go(void) {
	bool was = gompi_is_in_go();
	gompi_set_in_go(false);
	return was;
}
static inline void gompi_back_to_go(bool was) { gompi_set_in_go(was); }

#pragma GCC visibility pop
#endif
