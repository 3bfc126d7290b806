// Waiting, waking and the agent's sleep.
//
//	sleeper: seen = wake; sleeping = 1; full barrier; if the condition holds: done; futex_wait(wake, seen)
//	waker:   make the condition true; full barrier; if swap(sleeping, 0) == 1 { wake++; futex_wake(wake, all) }
#define _GNU_SOURCE
#include "base/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/up.h"

// A wait polls some microseconds, in which a partner on another core usually answers, if there is a core for each
// process. Then it gives its core away between looks: that costs little if nobody wants it, and the partner may be
// waiting for this very one, since systems put processes together even where another core is idle. Then it sleeps. How
// long each takes is gompi_node.policy, but for the looks with a pause in between.
//
// One that has served something looks without a pause for the next operation of a series, which comes within 200 ns if
// it does: to give the core away takes longer, and would make each operation of the series wait for that.
enum { POLLS_ALONE = 32, EAGER = 100 };
enum { LASTS = 256 }; // looks after which a wait is one that lasts

int64_t gompi_now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void gompi_sleep_on(gompi_a32 *word, uint32_t seen, int64_t ns) {
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

// Gives the core away at the time *now, which moves on. Whether somebody has kept it.
bool gompi_yield_long(int64_t *now) {
	int64_t before = *now;
	sched_yield();
	*now = gompi_now_ns();
	return *now - before >= gompi_node.policy.long_yield;
}

void gompi_wake_sleepers(struct gompi_waitword *w) {
	if (gompi_swap_total(&w->sleeping, 0) == 0)
		return;
	gompi_add_total(&w->wake, 1);
	syscall(SYS_futex, &w->wake, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

void gompi_doorbell(struct gompi_cell *c) {
	gompi_full_fence();
	if (gompi_load(&c->pollers) > 0)
		return;
	if (gompi_load(&c->agent_sleeps) == 0 || gompi_swap_total(&c->agent_sleeps, 0) == 0)
		return;
	gompi_add_total(&c->doorbell, 1);
	syscall(SYS_futex, &c->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

// What has registered itself, in that order.
enum { MOST_SERVICES = 8 };
static const struct gompi_service *services[MOST_SERVICES];
static int services_number;

void gompi_service_add(const struct gompi_service *s) {
	for (int i = 0; i < services_number; i++)
		if (services[i] == s)
			return;
	if (services_number == MOST_SERVICES)
		abort(); // a service more needs a larger number, nothing else
	services[services_number++] = s;
}

bool gompi_serve(void) {
	bool worked = false;
	for (int i = 0; i < services_number; i++)
		if (services[i]->ready())
			worked = services[i]->serve() || worked;
	return worked;
}

bool gompi_serve_all(void) {
	bool worked = false;
	for (int i = 0; i < services_number; i++)
		worked = services[i]->serve() || worked;
	return worked;
}

void gompi_serve_last(void) {
	for (int i = 0; i < services_number; i++)
		if (services[i]->ends != NULL)
			services[i]->ends();
		else if (services[i]->ready())
			services[i]->serve();
}

void gompi_serve_lasts(void) {
	for (int i = 0; i < services_number; i++)
		if (services[i]->lasts != NULL)
			services[i]->lasts();
}

// Says in me what this thread waits for, of all threads that do the last one.
static void publish_wait(struct gompi_cell *me, const struct gompi_waiting *what) {
	gompi_store(&me->wait_peer, what->peer);
	gompi_store(&me->wait_object, what->object);
	for (size_t i = 0; i < sizeof me->wait_call - 1; i++) {
		gompi_store(&me->wait_call[i], what->call[i]);
		if (what->call[i] == 0)
			break;
	}
}

int gompi_await(struct gompi_waitword *w, bool (*done)(void *), void *arg, const struct gompi_waiting *what) {
	if (done(arg))
		return MPI_SUCCESS;
	const struct gompi_policy *policy = &gompi_node.policy;
	for (int i = 0; i < policy->quiet_looks; i++) // not worth telling anybody that this thread polls
		if (done(arg))
			return MPI_SUCCESS;
	struct gompi_cell *me = gompi_my_cell();
	int rc = MPI_SUCCESS;
	gompi_add(&me->blocked, 1);
	gompi_add_total(&me->pollers, 1);
	gompi_full_fence_after_change(); // pairs with the one in gompi_ring_doorbell
	int64_t now = gompi_now_ns(), end = now + policy->poll;
	int eager = 0;
	for (unsigned i = policy->crowded ? POLLS_ALONE : 0; now < end; i++) {
		if (done(arg))
			goto out;
		bool worked = gompi_serve();
		if (i == LASTS)
			gompi_serve_lasts();
		if (worked) {
			now = gompi_now_ns();
			end = now + policy->poll; // whoever sends has more
			eager = policy->crowded ? 0 : EAGER;
		} else if (eager > 0) {
			eager--;
		} else if (i >= POLLS_ALONE) {
			if (gompi_yield_long(&now))
				break;
		} else {
			gompi_pause();
		}
	}
	publish_wait(me, what);
	for (;;) {
		uint32_t seen = gompi_load_total(&w->wake); // first: see core/shm/wait.go
		gompi_store_total(&w->sleeping, 1);
		gompi_full_fence(); // pairs with the one in gompi_wake
		if (done(arg))
			break;
		if (gompi_load(&gompi_header()->broken) != 0) {
			rc = MPI_ERR_PROC_ABORTED;
			break;
		}
		// Asleep this thread serves nobody: the agent takes over. Whoever rang no doorbell because it saw a
		// poller is served here.
		gompi_sub_total(&me->pollers, 1);
		gompi_full_fence_after_change();
		if (!gompi_serve_all()) {
			gompi_serve_lasts();
			int64_t start = gompi_now_ns();
			gompi_sleep_on(&w->wake, seen, policy->slice);
			gompi_up.take_signals(); // in a wait that Go has called
			if (gompi_now_ns() - start >= policy->slice)
				gompi_up.find_dead();
		}
		gompi_add_total(&me->pollers, 1);
		if (done(arg))
			break;
	}
	gompi_store(&me->wait_call[0], 0);
out:
	gompi_sub(&me->blocked, 1);
	gompi_sub_total(&me->pollers, 1);
	gompi_full_fence_after_change();
	gompi_serve_last();
	return rc;
}
