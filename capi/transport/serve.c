// The progress thread: the thread of each process that serves what arrives for it while its own threads do not.
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/call.h"
#include "base/tuning.h"
#include "base/wait.h"
#include "transport/serve.h"

static atomic_bool progress_stop;

// How long the progress thread looks for the next operation, gap being the time between the last two. It waits for the
// next one of a series only if nobody else wants its core.
static int64_t progress_patience(bool spare, int64_t gap) {
	if (!spare || gap > gompi_node.policy.poll || 2 * gap < GOMPI_PROGRESS_NS)
		return GOMPI_PROGRESS_NS;
	return 2 * gap < gompi_node.policy.poll ? 2 * gap : gompi_node.policy.poll;
}

// Serves for as long as work keeps coming, counted among the pollers so that origins need not ring: an origin that has
// sent one operation is likely to send another, and waking the progress thread costs as much as hundreds of them.
static void progress_poll(struct gompi_cell *me) {
	static int64_t last; // when something had been served and nothing more came at once
	const bool oversubscribed = gompi_node.policy.oversubscribed;
	const int eager = oversubscribed ? 0 : GOMPI_EAGER_LOOKS, looks = oversubscribed ? 1 : GOMPI_PROGRESS_LOOKS,
		  most = oversubscribed ? GOMPI_PROGRESS_LOOKS_OVERSUBSCRIBED : INT_MAX;
	int64_t now = 0, end = 0;
	bool spare = false;
	gompi_add_total(&me->pollers, 1);
	// A thread of the application that polls does the same work; this one would only take its core.
	for (int i = 0; i < most && gompi_load(&me->pollers) == 1; i++) {
		if (gompi_serve()) {
			i = -1;
		} else if (i == eager) {
			now = gompi_now_ns();
			// While threads of the application wait, their core is to spare. Still the system may have put
			// this thread and the origin together, so the core is offered. If they compute it is not: they
			// would keep it for long, and meanwhile nobody would be woken for an operation.
			spare = gompi_load(&me->blocked) > 0;
			end = oversubscribed ? INT64_MAX : now + progress_patience(spare, now - last);
			last = now;
		} else if (i > eager && i % looks != 0) {
			gompi_pause();
		} else if (i > eager) {
			if (!oversubscribed && !spare)
				now = gompi_now_ns();
			else if (gompi_yield_long(&now))
				break;
			if (now >= end)
				break;
		}
	}
	gompi_sub_total(&me->pollers, 1);
}

void gompi_progress_open(void) { gompi_store_total(&progress_stop, false); }

void gompi_progress_run(void) {
	gompi_own_thread();
	struct gompi_cell *me = gompi_my_cell();
	while (!gompi_load_total(&progress_stop)) {
		uint32_t seen = gompi_load_total(&me->doorbell); // first, as in gompi_await
		gompi_store_total(&me->thread_sleeps, 1);
		gompi_full_fence(); // pairs with the one in gompi_ring_doorbell
		if (!gompi_serve_all() && !gompi_load_total(&progress_stop)) {
			gompi_sleep_on(&me->doorbell, seen, GOMPI_PROGRESS_SLEEP_NS);
			if (!gompi_serve() && gompi_load(&me->doorbell) == seen)
				continue; // nobody has rung
		}
		gompi_store_total(&me->thread_sleeps, 0);
		progress_poll(me);
	}
}

void gompi_progress_stop(void) {
	gompi_store_total(&progress_stop, true);
	struct gompi_cell *me = gompi_my_cell();
	gompi_add_total(&me->doorbell, 1);
	syscall(SYS_futex, &me->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}
