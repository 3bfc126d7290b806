// What the Go runtime does to the signals of the process when it starts, undone.
//
// The runtime starts while the library is loaded, from an entry in .init_array. There it installs handlers of its own
// for five signals and SA_ONSTACK for handlers of others, and makes a thread, whose signal mask all threads of the
// runtime inherit. Constructors with a priority run before such entries, those without one after them, as long as this
// file comes later in the link than Go's object. So the first constructor here writes down what there is and blocks
// everything, and the second one puts it back: handlers, flags and mask of the thread are as before, and Go's threads
// take no signals that are sent to the process.
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
#include <sys/syscall.h>
#include <unistd.h>

#include "rlimit.h"

// What the kernel knows of a signal. Its own form, so that nothing that stands in for sigaction(2) is asked (a
// sanitizer, a tool), and not a flag gets lost.
struct action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

enum { SIGNALS = 64 };

static struct action before[SIGNALS + 1];
static sigset_t mask;
static bool known;

static long rt_sigaction(int sig, const struct action *new, struct action *old) {
	return syscall(SYS_rt_sigaction, sig, new, old, sizeof old->mask);
}

// The runtime unblocks SIGPROF in each of its threads, for a profiler of its own, and their goroutines' small stacks
// are no place for the handler of the application's. Its table says so (runtime.sigtable), and gompirma does not
// profile Go, so the runtime shall not know: found by its contents, since no symbol of Go's can be linked to from C.
// Should a later runtime look different, the test `signals prof` tells.
struct runtime_signal {
	int32_t flags;
	const char *name;
	int64_t length;
};
enum { RUNTIME_NOTIFY = 1 << 0, RUNTIME_UNBLOCK = 1 << 7 };

static int find_profiler(struct dl_phdr_info *object, size_t size, void *arg) {
	static const char name[] = "SIGPROF: ";
	static int own = 1; // lies in the segment that is meant
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + p->p_vaddr, to = from + p->p_filesz;
		if (p->p_type != PT_LOAD || (uintptr_t)&own < from || (uintptr_t)&own >= to)
			continue;
		from = (from + 7) & ~(uintptr_t)7;
		for (uintptr_t at = from; at + sizeof(struct runtime_signal) <= to; at += 8) {
			struct runtime_signal *s = (struct runtime_signal *)at;
			if (s->flags == (RUNTIME_NOTIFY | RUNTIME_UNBLOCK) && s->length > (int64_t)sizeof name &&
			    s->length < 100 && memcmp(s->name, name, sizeof name - 1) == 0) {
				s->flags = RUNTIME_NOTIFY;
				return 1;
			}
		}
		return 1;
	}
	return 0;
}

__attribute__((constructor(101))) static void before_go(void) {
	gompi_check_limits();
	dl_iterate_phdr(find_profiler, NULL);
	sigset_t all;
	for (int sig = 1; sig <= SIGNALS; sig++)
		rt_sigaction(sig, NULL, &before[sig]);
	sigfillset(&all);
	known = pthread_sigmask(SIG_SETMASK, &all, &mask) == 0;
}

__attribute__((constructor)) static void after_go(void) {
	if (!known)
		return;
	for (int sig = 1; sig <= SIGNALS; sig++) {
		struct action now;
		if (rt_sigaction(sig, NULL, &now) == 0 && memcmp(&now, &before[sig], sizeof now) != 0)
			rt_sigaction(sig, &before[sig], NULL);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
