#define _GNU_SOURCE
#include "cross.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"
#include "base/call.h"
#include "base/sanitizer.h"

__thread struct gompi_thread gompi_thread __attribute__((tls_model("initial-exec")));

extern void __real_crosscall2(void (*fn)(void *), void *frame, int size, size_t context);
__attribute__((visibility("hidden"))) void __wrap_crosscall2(void (*fn)(void *), void *frame, int size, size_t context);

// Prepares a thread for Go at its first call. The runtime installs an alternate signal stack of 32 KiB for a thread
// that has none, and unblocks the signals that it wants for itself. The application's handlers may need more than 32
// KiB, and the signals that it blocked must stay blocked. gompirma needs neither change (go_start.c). So this function
// blocks all signals until both are restored and the goroutine's stack is large.
static void first_call(struct gompi_thread *t) {
	sigset_t all, mask;
	stack_t stack;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	sigaltstack(NULL, &stack);
	t->ready = true;
	t->go_stack = gompi_grow_stack();
	if (stack.ss_flags & SS_DISABLE)
		sigaltstack(&stack, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

// Returns true if the caller runs in a signal handler that interrupted Go on this thread, on the goroutine's stack
// (without an alternate signal stack). C code that Go calls never runs on the goroutine's stack.
static bool in_handler(void) {
	const struct gompi_thread *t = &gompi_thread;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	return here < t->go_stack && t->go_stack - here < GOMPI_GO_STACK;
}

__attribute__((cold)) static void refuse_handler(void) {
	static const char text[] = "gompirma: a signal handler called MPI while its thread was inside MPI; "
				   "signal handlers may call only MPI_Abort (README, Signals)\n";
	if (write(2, text, sizeof text - 1) < 0) {
		// standard error does not work, so the message is lost
	}
	abort();
}

// GOMPIRMA_SHOW_GO=1: each call into Go writes a line. tests/c/conformance/no_go.c lists the MPI functions that must
// not call Go.
static bool shown;

// True if shown, or if ThreadSanitizer is present and must be told that each call happens after the previous one.
static bool observed;

static __attribute__((constructor)) void ask_shown(void) {
	const char *value = getenv("GOMPIRMA_SHOW_GO");
	shown = value != NULL && strcmp(value, "1") == 0;
	observed = shown || gompi_tells_tsan();
}

__attribute__((cold)) static void show_call(void) {
	char line[128];
	int n = snprintf(line, sizeof line, "gompirma: thread %d calls Go in %s\n", (int)gettid(),
			 gompi_call != NULL ? gompi_call : "C");
	if (write(2, line, (size_t)n) < 0) {
		// standard error does not work, so the line is lost
	}
}

__attribute__((cold)) static void tell_tsan(void) {
	static char order;
	if (gompi_tells_tsan()) {
		__tsan_acquire(&order);
		__tsan_release(&order);
	}
}

void __wrap_crosscall2(void (*fn)(void *), void *frame, int size, size_t context) {
	bool was = gompi_is_in_go();
	if (__builtin_expect(observed, 0)) {
		if (shown)
			show_call();
		tell_tsan();
	}
	if (__builtin_expect(was || !gompi_thread.ready, 0)) {
		if (was && in_handler())
			refuse_handler();
		if (!gompi_thread.ready)
			first_call(&gompi_thread);
	}
	gompi_set_in_go(true);
	const uintptr_t outer = gompi_crossing;
	gompi_crossing = (uintptr_t)__builtin_frame_address(0);
	__real_crosscall2(fn, frame, size, context);
	gompi_crossing = outer;
	gompi_set_in_go(was);
	if (__builtin_expect(observed, 0))
		tell_tsan();
}
