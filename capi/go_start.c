// Keeps the Go runtime from the signals of the process.
//
// The runtime starts while the library is loaded, from an entry in .init_array. It would install handlers of its own
// for five signals and SA_ONSTACK for handlers of others, and it makes a thread, whose signal mask all threads of the
// runtime inherit. Constructors with a priority run before such entries, those without one after them, as long as this
// file comes later in the link than Go's object. So the first constructor here changes the runtime's table of signals
// such that it installs nothing, and blocks all signals; the second one restores the mask of the thread. Go's threads
// take no signals that are sent to the process, and at no moment is there a handler of the runtime's.
//
// Without its handlers the runtime cannot preempt by SIGURG, which scripts/build.sh turns off, nor turn a fault into a
// panic. So a fault in Go, or in a function of the application that Go has called, ends the process with its own
// signal, core dump and place, as it would in C.
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rlimit.h"

// An entry of the runtime's table (runtime.sigtable), which is found by its contents, since no symbol of Go's can be
// linked to from C. Should a later runtime look different, the test TestDeniedSignals tells.
struct runtime_signal {
	int32_t flags;
	const char *name;
	int64_t length;
};
enum {
	RUNTIME_SIGNALS = 65,
	RUNTIME_NOTIFY = 1 << 0,
	RUNTIME_DEFAULT = 1 << 4, // the runtime leaves the action alone
	RUNTIME_UNBLOCK = 1 << 7, // and unblocks the signal in each of its threads
};

static int change_table(struct dl_phdr_info *object, size_t size, void *arg) {
	static const char name[] = "SIGPROF: ";
	static int own = 1; // lies in the segment that is meant
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + p->p_vaddr, to = from + p->p_filesz;
		if (p->p_type != PT_LOAD || (uintptr_t)&own < from || (uintptr_t)&own >= to)
			continue;
		from = (from + 7) & ~(uintptr_t)7;
		for (uintptr_t at = from; at + sizeof(struct runtime_signal) <= to; at += 8) {
			struct runtime_signal *s = (struct runtime_signal *)at, *table = s - SIGPROF;
			if (s->flags != (RUNTIME_NOTIFY | RUNTIME_UNBLOCK) || s->length <= (int64_t)sizeof name ||
			    s->length >= 100 || memcmp(s->name, name, sizeof name - 1) != 0)
				continue;
			for (int sig = 1; sig < RUNTIME_SIGNALS; sig++)
				table[sig].flags |= RUNTIME_DEFAULT;
			s->flags &= ~RUNTIME_UNBLOCK; // it does not profile Go
			return 1;
		}
		return 1;
	}
	return 0;
}

static sigset_t mask;
static bool known;

__attribute__((constructor(101))) static void before_go(void) {
	gompi_check_limits();
	dl_iterate_phdr(change_table, NULL);
	sigset_t all;
	sigfillset(&all);
	known = pthread_sigmask(SIG_SETMASK, &all, &mask) == 0;
}

__attribute__((constructor)) static void after_go(void) {
	if (known)
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
