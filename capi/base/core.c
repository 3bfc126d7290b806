// Two threads that wait for each other on one core, while another core has little to do. The system leaves them there:
// it does not move a thread that has just run, and each that offers the core has. So a thread that finds the core taken
// each time that it offers it goes to another one itself. It asks for one by leaving its own out of those that it may
// use, and puts that one back: the system decides which. Where that is no better it waits longer each time.
#define _GNU_SOURCE
#include "base/core.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/node.h"

enum {
	OFTEN = 6,         // offers in a row that somebody took
	PAUSE_NS = 100000, // between two moves, twice as long each time
	PAUSE_MOST_NS = 100000000,
	BETTER = 64, // offers in a row that nobody took: the move was a good one
};
enum { WORDS = 128 }; // of 64 cores

static _Thread_local struct {
	int32_t taken, kept;
	int64_t pause, next; // 0: there was no reason to move yet
} here __attribute__((tls_model("initial-exec")));

// A thread that may use one core only, or that the system does not let, stays.
static void move_away(void) {
	uint64_t may[WORDS], others[WORDS];
	unsigned core;
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof may, may);
	if (bytes <= 0 || syscall(SYS_getcpu, &core, NULL, NULL) != 0 || core / 8 >= (unsigned long)bytes)
		return;
	uint64_t any = 0;
	for (long i = 0; i < bytes / 8; i++) {
		others[i] = may[i];
		if (i == core / 64)
			others[i] &= ~(1ull << core % 64);
		any |= others[i];
	}
	if (any == 0)
		return;
	// A handler must not leave by longjmp in between.
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (syscall(SYS_sched_setaffinity, 0, bytes, others) == 0)
		syscall(SYS_sched_setaffinity, 0, bytes, may);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// Two that share a core see the same: they must not go together.
static int64_t some_of(int64_t pause, int64_t now) {
	uint64_t x = (uint64_t)now ^ (uint64_t)(uintptr_t)&here;
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	return (int64_t)((x ^ x >> 33) % (uint64_t)pause);
}

void gompi_core_taken(int64_t now) {
	here.kept = 0;
	if (gompi_node.policy.crowded || ++here.taken < OFTEN)
		return;
	here.taken = 0;
	if (here.next == 0) {
		here.pause = PAUSE_NS;
	} else {
		if (now < here.next)
			return;
		move_away();
		here.pause = 2 * here.pause < PAUSE_MOST_NS ? 2 * here.pause : PAUSE_MOST_NS;
	}
	here.next = now + 1 + some_of(here.pause, now);
}

void gompi_core_kept(void) {
	here.taken = 0;
	if (++here.kept == BETTER)
		here.next = 0;
}
