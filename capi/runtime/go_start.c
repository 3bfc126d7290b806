// Prevents the Go runtime from handling signals of the process.
//
// The runtime starts while the library is loaded, from an entry in .init_array. By default it would install its own
// handlers for five signals and add SA_ONSTACK to the application's handlers for other signals. It also creates a
// thread, and all threads of the runtime inherit that thread's signal mask. Constructors with a priority run before the
// runtime's entry. Constructors without a priority run after it, if this file follows Go's object in link order. The
// first constructor below changes the runtime's signal table so that the runtime installs no handler, and blocks all
// signals. The second constructor restores the thread's signal mask. As a result, the runtime never installs a handler,
// and its threads block all signals, so signals of the process reach only application threads.
//
// Without its handlers the runtime cannot preempt goroutines by SIGURG (scripts/build.sh turns this preemption off),
// and cannot convert a fault to a panic. So a fault in Go, or in an application function that Go has called, ends the
// process as in a C program: with the signal of the fault, and with a core dump that shows its location.
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/rlimit.h"

// An entry of the runtime's signal table (runtime.sigtable). C cannot link to a symbol of Go, so patch_signal_table
// finds the table by its contents. The test TestDeniedSignals fails if a later runtime has a different layout.
struct runtime_signal {
	int32_t flags;
	const char *name;
	int64_t length;
};
enum {
	RUNTIME_SIGNALS = 65,
	RUNTIME_NOTIFY = 1 << 0,
	RUNTIME_DEFAULT = 1 << 4, // the runtime does not change the action
	RUNTIME_UNBLOCK = 1 << 7, // the runtime unblocks the signal in each of its threads
};

static int patch_signal_table(struct dl_phdr_info *object, size_t size, void *arg) {
	static const char name[] = "SIGPROF: ";
	// the program segment that contains this variable also contains Go's table
	static int in_this_object = 1;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + p->p_vaddr, to = from + p->p_filesz;
		if (p->p_type != PT_LOAD || (uintptr_t)&in_this_object < from || (uintptr_t)&in_this_object >= to)
			continue;
		from = (from + 7) & ~(uintptr_t)7;
		for (uintptr_t at = from; at + sizeof(struct runtime_signal) <= to; at += 8) {
			struct runtime_signal *s = (struct runtime_signal *)at, *table = s - SIGPROF;
			if (s->flags != (RUNTIME_NOTIFY | RUNTIME_UNBLOCK) || s->length <= (int64_t)sizeof name ||
			    s->length >= 100 || memcmp(s->name, name, sizeof name - 1) != 0)
				continue;
			for (int sig = 1; sig < RUNTIME_SIGNALS; sig++)
				table[sig].flags |= RUNTIME_DEFAULT;
			s->flags &= ~RUNTIME_UNBLOCK; // the runtime needs SIGPROF only to profile Go code
			return 1;
		}
		return 1;
	}
	return 0;
}

static sigset_t saved_mask;
static bool has_saved_mask;

__attribute__((constructor(101))) static void before_go(void) {
	gompi_check_limits();
	dl_iterate_phdr(patch_signal_table, NULL);
	sigset_t all;
	sigfillset(&all);
	has_saved_mask = pthread_sigmask(SIG_SETMASK, &all, &saved_mask) == 0;
}

__attribute__((constructor)) static void after_go(void) {
	if (has_saved_mask)
		pthread_sigmask(SIG_SETMASK, &saved_mask, NULL);
}
