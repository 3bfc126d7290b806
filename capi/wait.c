// Waiting, waking and the agent's sleep.
//
//	sleeper: sleeping = 1; seen = wake; if the condition holds: done; futex_wait(wake, seen)
//	waker:   make the condition true; full barrier; if swap(sleeping, 0) == 1 { wake++; futex_wake(wake, all) }
#define _GNU_SOURCE
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "_cgo_export.h"
#include "agent.h"
#include "cross.h"
#include "mpi.h"

// A wait polls some microseconds, in which a partner on another core usually answers, if there is a core for each
// process. Then it gives its core away between looks: that costs little if nobody wants it, and the partner may be
// waiting for this very one, since systems put processes together even where another core is idle. Then it sleeps.
enum {
	POLLS_QUIET = 200, // before anybody is told that this thread polls; without pause, which takes as long as the
			   // answer of another core
	POLLS_ALONE = 32,
	POLL_NS = 400000,  // being woken takes up to 100 us: two that wait in turn must not send each other to sleep
	AGENT_EAGER = 100, // polls of the agent without pause: the next operation of a series comes within 200 ns
	AGENT_LOOKS = 16,  // between two offers of the core then: the origin may share it
	AGENT_NS = 50000,
	AGENT_POLLS_CROWDED = 20,
	// A yield that took so long went to somebody who computes, of this job or another: it would be so again and
	// again. Asleep this thread is woken in time.
	LONG_YIELD_NS = 100000,
	SLICE_MS = 200, // how often a sleeper looks whether the others still live
};

int64_t gompi_now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_on(gompi_a32 *word, uint32_t seen, int ms) {
	struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
	syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

// Gives the core away at the time *now, which moves on. Whether somebody has kept it.
static bool yield_long(int64_t *now) {
	int64_t before = *now;
	sched_yield();
	*now = gompi_now_ns();
	return *now - before >= LONG_YIELD_NS;
}

void gompi_wake_sleepers(struct gompi_waitword *w) {
	if (atomic_exchange_explicit(&w->sleeping, 0, memory_order_seq_cst) == 0)
		return;
	atomic_fetch_add_explicit(&w->wake, 1, memory_order_seq_cst);
	syscall(SYS_futex, &w->wake, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

void gompi_ring_doorbell(int i) {
	struct gompi_cell *c = gompi_cell(i);
	if (atomic_load_explicit(&c->pollers, memory_order_relaxed) > 0)
		return;
	if (atomic_load_explicit(&c->agent_sleeps, memory_order_relaxed) == 0 ||
	    atomic_exchange_explicit(&c->agent_sleeps, 0, memory_order_seq_cst) == 0)
		return;
	atomic_fetch_add_explicit(&c->doorbell, 1, memory_order_seq_cst);
	syscall(SYS_futex, &c->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

// Whether a message lies in this process' message ring: its first word counts bytes produced, the one at 64 bytes
// consumed (core/shm).
static bool messages_wait(void) {
	char *ring = gompi_node.message_rings + (size_t)gompi_node.me * gompi_node.message_stride;
	return atomic_load_explicit((gompi_a64 *)ring, memory_order_acquire) !=
	       atomic_load_explicit((gompi_a64 *)(ring + 64), memory_order_relaxed);
}

bool gompi_serve(void) {
	bool worked = gompi_agent_serve();
	if (messages_wait())
		worked = gompi_progress_messages() != 0 || worked;
	return worked;
}

// gompi_serve for who goes to sleep. The ring does not tell all: a thread that started something may have taken out
// what somebody rang for, and left the rest of it to who comes for it.
static bool serve_all(void) {
	bool worked = gompi_agent_serve();
	return gompi_progress_messages() != 0 || worked;
}

int gompi_await(struct gompi_waitword *w, bool (*done)(void *), void *arg, const struct gompi_waiting *what) {
	if (done(arg))
		return MPI_SUCCESS;
	if (!gompi_node.crowded) {
		// A partner on another core answers within some 100 ns: not worth telling anybody that this thread
		// polls.
		for (int i = 0; i < POLLS_QUIET; i++) {
			if (done(arg))
				return MPI_SUCCESS;
		}
	}
	struct gompi_cell *me = gompi_my_cell();
	int rc = MPI_SUCCESS;
	atomic_fetch_add_explicit(&me->blocked, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&me->pollers, 1,
				  memory_order_seq_cst); // pairs with the full barrier before gompi_ring_doorbell
	int64_t now = gompi_now_ns(), end = now + POLL_NS;
	for (unsigned i = gompi_node.crowded ? POLLS_ALONE : 0; now < end; i++) {
		if (done(arg))
			goto out;
		bool worked = gompi_serve();
		if (worked)
			now = gompi_now_ns();
		if (i >= POLLS_ALONE) {
			if (yield_long(&now))
				break;
		} else if (!worked) {
			gompi_pause();
		}
	}
	atomic_store_explicit(&me->wait_process, what->process, memory_order_relaxed);
	atomic_store_explicit(&me->wait_object, what->object, memory_order_relaxed);
	strncpy(me->wait_call, what->call, sizeof me->wait_call - 1);
	for (;;) {
		atomic_store_explicit(&w->sleeping, 1, memory_order_seq_cst);
		uint32_t seen = atomic_load_explicit(&w->wake, memory_order_seq_cst);
		if (done(arg))
			break;
		if (atomic_load_explicit(&gompi_header()->broken, memory_order_relaxed) != 0) {
			rc = MPI_ERR_PROC_ABORTED;
			break;
		}
		// Asleep this thread serves nobody: the agent takes over. Whoever rang no doorbell because it saw a
		// poller is served here.
		atomic_fetch_sub_explicit(&me->pollers, 1, memory_order_seq_cst);
		if (!serve_all()) {
			int64_t start = gompi_now_ns();
			sleep_on(&w->wake, seen, SLICE_MS);
			gompi_take_signals(); // in a wait that Go has called
			if (gompi_now_ns() - start >= SLICE_MS * 1000000LL)
				gompi_find_dead();
		}
		atomic_fetch_add_explicit(&me->pollers, 1, memory_order_seq_cst);
		if (done(arg))
			break;
	}
	me->wait_call[0] = 0;
out:
	atomic_fetch_sub_explicit(&me->blocked, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&me->pollers, 1, memory_order_seq_cst);
	gompi_serve();
	return rc;
}

static atomic_bool agent_stop;

// How long the agent looks for the next operation, gap being the time between the last two. It waits for the next one
// of a series only if nobody else wants its core.
static int64_t agent_patience(bool spare, int64_t gap) {
	if (!spare || gap > POLL_NS || 2 * gap < AGENT_NS)
		return AGENT_NS;
	return 2 * gap < POLL_NS ? 2 * gap : POLL_NS;
}

// Serves for as long as work keeps coming, counted among the pollers so that origins need not ring: an origin that has
// sent one operation is likely to send another, and waking the agent costs as much as hundreds of them.
static void agent_poll(struct gompi_cell *me) {
	static int64_t last; // when something had been served and nothing more came at once
	const bool crowded = gompi_node.crowded;
	const int eager = crowded ? 0 : AGENT_EAGER, looks = crowded ? 1 : AGENT_LOOKS,
		  most = crowded ? AGENT_POLLS_CROWDED : INT_MAX;
	int64_t now = 0, end = 0;
	bool spare = false;
	atomic_fetch_add_explicit(&me->pollers, 1, memory_order_seq_cst);
	// A thread of the application that polls does the same work; this one would only take its core.
	for (int i = 0; i < most && atomic_load_explicit(&me->pollers, memory_order_relaxed) == 1; i++) {
		if (gompi_serve()) {
			i = -1;
		} else if (i == eager) {
			now = gompi_now_ns();
			// While threads of the application wait, their core is to spare. Still the system may have put
			// this thread and the origin together, so the core is offered. If they compute it is not: they
			// would keep it for long, and meanwhile nobody would be woken for an operation.
			spare = atomic_load_explicit(&me->blocked, memory_order_relaxed) > 0;
			end = crowded ? INT64_MAX : now + agent_patience(spare, now - last);
			last = now;
		} else if (i > eager && i % looks != 0) {
			gompi_pause();
		} else if (i > eager) {
			if (!crowded && !spare)
				now = gompi_now_ns();
			else if (yield_long(&now))
				break;
			if (now >= end)
				break;
		}
	}
	atomic_fetch_sub_explicit(&me->pollers, 1, memory_order_seq_cst);
}

void gompi_agent_run(void) {
	struct gompi_cell *me = gompi_my_cell();
	while (!atomic_load(&agent_stop)) {
		atomic_store_explicit(&me->agent_sleeps, 1, memory_order_seq_cst);
		uint32_t seen = atomic_load_explicit(&me->doorbell, memory_order_seq_cst);
		if (!serve_all() && !atomic_load(&agent_stop)) {
			sleep_on(&me->doorbell, seen, 1000);
			if (!gompi_serve() && atomic_load_explicit(&me->doorbell, memory_order_relaxed) == seen)
				continue; // nobody has rung
		}
		atomic_store_explicit(&me->agent_sleeps, 0, memory_order_seq_cst);
		agent_poll(me);
	}
}

void gompi_agent_stop(void) {
	struct gompi_cell *me = gompi_my_cell();
	atomic_store(&agent_stop, true);
	atomic_fetch_add(&me->doorbell, 1);
	syscall(SYS_futex, &me->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}
