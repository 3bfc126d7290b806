// Calls from C into Go and back.
//
// An exported Go function runs on a goroutine's stack, on the thread that called it. A signal handler that the
// application installed without SA_ONSTACK runs on the current stack of the thread, which may be a goroutine's. So the
// first call into Go on a thread makes that goroutine's stack large (core/stack). This call keeps the thread's
// alternate signal stack and signal mask unchanged. Signal handlers run at once, both in Go and in C. The only MPI
// function that a handler may call is MPI_Abort. MPI_Abort must not enter Go if the handler has interrupted Go
// (base/in_go.h).
//
// Every call of an exported Go function passes through __wrap_crosscall2: the linker's --wrap substitutes it for the
// runtime's crosscall2 (runtime.go).
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call_name.h"
#include "base/in_go.h"
#include "base/sanitizer.h"

enum { GO_STACK_BYTES = 1 << 20 }; // size of a goroutine's stack after core/stack.Grow

// State of a thread. The TLS model is initial-exec: with other models the first access may allocate memory, which a
// signal handler must not do.
static _Thread_local struct {
	bool is_prepared;       // the first call into Go has prepared this thread
	uintptr_t go_stack_top; // an address near the top of the goroutine's stack
} thread __attribute__((tls_model("initial-exec")));

extern uintptr_t gompi_grow_stack(void);            // cross.go
extern uintptr_t _cgo_wait_runtime_init_done(void); // of the runtime
extern void __real_crosscall2(void (*fn)(void *), void *frame, int size, size_t context);
__attribute__((visibility("hidden"))) void __wrap_crosscall2(void (*fn)(void *), void *frame, int size, size_t context);

// Prepares a thread for Go at its first call. The runtime installs an alternate signal stack of 32 KiB for a thread
// that has none, and unblocks the signals that the runtime handles. But the application's handlers may need more than
// 32 KiB, and signals that the application blocked must remain blocked. gompirma needs neither change (go_start.c). So
// this function blocks all signals, makes the goroutine's stack large, and then restores the alternate stack and the
// signal mask.
static void prepare_thread(void) {
	sigset_t all, mask;
	stack_t stack;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	sigaltstack(NULL, &stack);
	thread.is_prepared = true;
	thread.go_stack_top = gompi_grow_stack();
	if (stack.ss_flags & SS_DISABLE)
		sigaltstack(&stack, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

// Returns true if the caller runs in a signal handler that interrupted Go on this thread. Such a handler, if it has no
// alternate signal stack, runs on the goroutine's stack. C code that Go calls never runs there.
static bool is_in_signal_handler(void) {
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	return here < thread.go_stack_top && thread.go_stack_top - here < GO_STACK_BYTES;
}

__attribute__((cold)) static void abort_in_signal_handler(void) {
	static const char text[] = "gompirma: a signal handler called MPI while it interrupted an MPI call; signal "
				   "handlers may call only MPI_Abort (README, Signals)\n";
	if (write(2, text, sizeof text - 1) < 0) {
		// standard error does not work, so the message is lost
	}
	abort();
}

// GOMPIRMA_SHOW_GO=1: each call into Go writes a line. tests/c/conformance/no_go_calls.c lists the MPI functions that
// must not call Go.
static bool show_go_calls;

// True in a child process of fork. A call into Go would hang there, because the threads of the runtime exist only in
// the parent.
static bool is_forked_child;

// True if show_go_calls or is_forked_child is true, or ThreadSanitizer is linked. With ThreadSanitizer, annotate_tsan
// orders each call into Go after the previous one.
static bool observe_go_calls;

static void note_fork(void) { is_forked_child = observe_go_calls = true; }

// Waits in fork until the runtime has started. Otherwise the child would wait for that before its first call into Go.
static void await_runtime(void) { _cgo_wait_runtime_init_done(); }

static __attribute__((constructor)) void read_show_go(void) {
	const char *value = getenv("GOMPIRMA_SHOW_GO");
	show_go_calls = value != NULL && strcmp(value, "1") == 0;
	observe_go_calls = show_go_calls || gompi_tsan_is_linked();
	pthread_atfork(await_runtime, NULL, note_fork);
}

__attribute__((cold)) static void abort_in_child(void) {
	char line[200];
	int n = snprintf(line, sizeof line,
			 "gompirma: %s was called in a child process of fork. Call MPI only in the parent, or let the "
			 "child start a program with exec\n",
			 gompi_call_name != NULL ? gompi_call_name : "MPI");
	if (write(2, line, (size_t)n) < 0) {
		// standard error does not work, so the message is lost
	}
	abort();
}

__attribute__((cold)) static void print_go_call(void) {
	char line[128];
	int n = snprintf(line, sizeof line, "gompirma: thread %d calls Go in %s\n", (int)gettid(),
			 gompi_call_name != NULL ? gompi_call_name : "C");
	if (write(2, line, (size_t)n) < 0) {
		// standard error does not work, so the line is lost
	}
}

__attribute__((cold)) static void annotate_tsan(void) {
	static char order;
	if (gompi_tsan_is_linked()) {
		__tsan_acquire(&order);
		__tsan_release(&order);
	}
}

void __wrap_crosscall2(void (*fn)(void *), void *frame, int size, size_t context) {
	bool was_in_go = gompi_is_in_go();
	if (__builtin_expect(observe_go_calls, 0)) {
		if (is_forked_child)
			abort_in_child();
		if (show_go_calls)
			print_go_call();
		annotate_tsan();
	}
	if (__builtin_expect(was_in_go || !thread.is_prepared, 0)) {
		if (was_in_go && is_in_signal_handler())
			abort_in_signal_handler();
		if (!thread.is_prepared)
			prepare_thread();
	}
	gompi_set_in_go(true);
	const uintptr_t outer = gompi_go_caller_frame;
	gompi_go_caller_frame = (uintptr_t)__builtin_frame_address(0);
	__real_crosscall2(fn, frame, size, context);
	gompi_go_caller_frame = outer;
	gompi_set_in_go(was_in_go);
	if (__builtin_expect(observe_go_calls, 0))
		annotate_tsan();
}
