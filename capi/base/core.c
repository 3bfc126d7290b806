// Two threads that wait for each other on one core, while another core has little to do. The system leaves them there:
// it does not move a thread that has just run, and each that offers the core has; and it wakes a thread where it has
// slept. So a thread that others take the core from for a good part of its time, when it offers it, goes to another one
// itself. It asks for one by leaving its own out of those that it may use, and puts that one back: the system decides
// which. Where that is no better it waits longer each time.
#define _GNU_SOURCE
#include "base/core.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/node.h"

enum {
	SPAN_NS = 200000,   // of time that is looked at
	STALE_NS = 2000000, // since it began: the thread has slept or computed meanwhile
	PART = 4,           // of the span others had the core
	PAUSE_NS = 100000,  // between two moves, twice as long each time
	PAUSE_MOST_NS = 100000000,
};
enum { WORDS = 128 }; // of 64 cores

static _Thread_local struct {
	int64_t since, away; // the span began, and in it others had the core for so long
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

// Others had the core for a good part of a span of time that ends now.
static void share_core(int64_t now) {
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

void gompi_core_offered(int64_t before, int64_t now) {
	if (before - here.since > STALE_NS) {
		here.since = before;
		here.away = 0;
	}
	if (now - before >= GOMPI_TAKEN_NS)
		here.away += now - before;
	const int64_t span = now - here.since;
	if (span < SPAN_NS)
		return;
	if (here.away <= span / PART)
		here.next = 0; // the last move was a good one
	else if (!gompi_node.policy.crowded)
		share_core(now);
	here.since = now;
	here.away = 0;
}
