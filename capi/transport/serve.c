// The progress thread: each process has one, which serves arrivals while its application threads do not.
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

// Returns how long (ns) the progress thread polls for the next operation. gap is the time between the last two
// operations. It waits for the next one of a series only if its core is spare.
static int64_t progress_patience(bool spare, int64_t gap) {
	if (!spare || gap > gompi_node.policy.poll || 2 * gap < GOMPI_PROGRESS_NS)
		return GOMPI_PROGRESS_NS;
	return 2 * gap < gompi_node.policy.poll ? 2 * gap : gompi_node.policy.poll;
}

// Serves as long as there is work. Meanwhile it counts as a poller, so that origins need not ring the doorbell. An
// origin that has sent one operation is likely to send another, and waking the progress thread costs as much as
// hundreds of operations.
static void progress_poll(struct gompi_cell *me) {
	static int64_t last; // time of the last poll that found no more work
	const bool oversubscribed = gompi_node.policy.oversubscribed;
	const int eager = oversubscribed ? 0 : GOMPI_EAGER_LOOKS, looks = oversubscribed ? 1 : GOMPI_PROGRESS_LOOKS,
		  most = oversubscribed ? GOMPI_PROGRESS_LOOKS_OVERSUBSCRIBED : INT_MAX;
	int64_t now = 0, end = 0;
	bool spare = false;
	gompi_add_total(&me->pollers, 1);
	// An application thread that polls does the same work, and this thread would only take its core. So it stops
	// then.
	for (int i = 0; i < most && gompi_load(&me->pollers) == 1; i++) {
		if (gompi_serve()) {
			i = -1;
		} else if (i == eager) {
			now = gompi_now_ns();
			// While application threads wait, their core is spare. The system may still have placed this
			// thread and the origin on the same core, so this thread yields. If application threads
			// compute, it does not yield: they would keep the core for long, and no thread would be woken
			// for an operation meanwhile.
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
		// before the check for work, as in gompi_await: a later ring makes the sleep return at once
		uint32_t seen = gompi_load_total(&me->doorbell);
		gompi_store_total(&me->thread_sleeps, 1);
		// Pairs with the one in gompi_ring_doorbell: either this thread sees the work, or the waker sees
		// thread_sleeps.
		gompi_full_fence();
		if (!gompi_serve_all() && !gompi_load_total(&progress_stop)) {
			gompi_sleep_on(&me->doorbell, seen, GOMPI_PROGRESS_SLEEP_NS);
			if (!gompi_serve() && gompi_load(&me->doorbell) == seen)
				continue; // the doorbell has not been rung
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
