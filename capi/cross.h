// The way from C into Go and back.
//
// An exported function of Go runs on a goroutine's stack, on the thread that called it. A signal handler that the
// application has installed without SA_ONSTACK runs on the stack that its thread is on. So the first call into Go on a
// thread makes that goroutine's stack large (core/stack), and leaves the thread's alternate stack and signal mask as
// they were. While Go runs on a thread, gompi_signals says so to the signals that should wait until it has been left
// (handlers.c).
//
// Every call of an exported function passes here: the linker's --wrap puts __wrap_crosscall2 in the place of the
// runtime's crosscall2 (main.go).
#ifndef GOMPI_CROSS_H
#define GOMPI_CROSS_H

#include "base/signals.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { GOMPI_GO_STACK = 1 << 20 }; // a goroutine's stack after core/stack.Grow

struct gompi_thread {
	bool ready;         // the first call is over
	uintptr_t go_stack; // an address near the top of the goroutine's stack
};

// Initial-exec, as gompi_signals is.
extern __thread struct gompi_thread gompi_thread __attribute__((tls_model("initial-exec")));

static inline bool gompi_is_in_go(void) { return gompi_load(&gompi_signals.in_go); }

// What comes after sees the signals that were held before: a handler either finds the thread out of Go, or has set
// held.
static inline void gompi_set_in_go(bool in) {
	gompi_compiler_fence();
	gompi_store(&gompi_signals.in_go, in);
	gompi_compiler_fence();
}

static inline bool gompi_holds_signals(void) { return gompi_load(&gompi_signals.held) != 0; }

// Returns true if the calling function belongs to a signal handler that has interrupted Go on this thread: Go must
// not be called.
bool gompi_in_handler(void);

// In C that Go has called: the thread is out of Go from here on, as long as a function of the application runs, which
// may call MPI, take signals or leave by longjmp. Returns what gompi_back_to_go is given.
bool gompi_leave_go(void);
void gompi_back_to_go(bool was);

// Lets the signals in that wait, if there are any; for waits in Go, in which a thread may stay for long.
void gompi_take_signals(void);

#pragma GCC visibility pop
#endif
