// The progress thread of a process, which serves arrivals while no application thread of the process serves them.
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/call_name.h"
#include "base/failure.h"
#include "base/tuning.h"
#include "base/wait.h"
#include "transport/progress_thread.h"

static atomic_bool progress_stop;

// Returns the time (ns) for which the progress thread polls for the next operation. The argument interval_ns is the
// time between the last two operations. The result is GOMPI_PROGRESS_POLL_NS, except in a series of operations: if the
// core is idle and interval_ns is at most poll_ns, it may be up to twice interval_ns, but at most poll_ns.
static int64_t poll_duration_ns(bool core_is_idle, int64_t interval_ns) {
	if (!core_is_idle || interval_ns > gompi_node.policy.poll_ns || 2 * interval_ns < GOMPI_PROGRESS_POLL_NS)
		return GOMPI_PROGRESS_POLL_NS;
	return 2 * interval_ns < gompi_node.policy.poll_ns ? 2 * interval_ns : gompi_node.policy.poll_ns;
}

// Serves as long as there is work, and polls for more work for some time. An origin that has sent one operation is
// likely to send another one, and a wake-up of the progress thread costs as much as hundreds of operations. Meanwhile
// the progress thread counts as a poller, so that origins need not ring the doorbell.
static void progress_poll(struct gompi_cell *me) {
	static int64_t last_end_ns; // time of the last poll that found no more work
	const bool oversubscribed = gompi_node.policy.is_oversubscribed;
	const int eager_polls = oversubscribed ? 0 : GOMPI_EAGER_POLLS,
		  polls_per_check = oversubscribed ? 1 : GOMPI_PROGRESS_POLLS,
		  max_polls = oversubscribed ? GOMPI_PROGRESS_POLLS_OVERSUB : INT_MAX;
	int64_t now = 0, end_ns = 0;
	bool core_is_idle = false;
	gompi_add_seq_cst(&me->poller_count, 1);
	// An application thread that polls does the same work, and this thread would only occupy its core. So this
	// thread stops when another thread polls.
	for (int i = 0; i < max_polls && gompi_load(&me->poller_count) == 1; i++) {
		if (gompi_serve()) {
			i = -1;
		} else if (i == eager_polls) {
			now = gompi_now_ns();
			// If application threads wait, a core is idle. The system may still have placed this thread and
			// the origin on the same core, so this thread yields. If application threads compute, this
			// thread does not yield: they would keep the core for a long time, in which no thread of this
			// process would serve operations.
			core_is_idle = gompi_load(&me->blocked_count) > 0;
			end_ns = oversubscribed ? INT64_MAX : now + poll_duration_ns(core_is_idle, now - last_end_ns);
			last_end_ns = now;
		} else if (i > eager_polls && i % polls_per_check != 0) {
			gompi_pause();
		} else if (i > eager_polls) {
			if (!oversubscribed && !core_is_idle)
				now = gompi_now_ns();
			else if (gompi_yield_timed(&now))
				break;
			if (now >= end_ns)
				break;
		}
	}
	gompi_sub_seq_cst(&me->poller_count, 1);
}

void gompi_progress_open(void) { gompi_store_seq_cst(&progress_stop, false); }

void gompi_progress_run(void) {
	gompi_add_progress_thread();
	struct gompi_cell *me = gompi_my_cell();
	uint32_t failures = 0;
	while (!gompi_load_seq_cst(&progress_stop)) {
		// This load precedes the check for work, as in gompi_await. If the doorbell is rung after the load, the
		// sleep returns at once.
		uint32_t seen = gompi_load_seq_cst(&me->doorbell);
		gompi_store_seq_cst(&me->progress_sleeps, 1);
		// Pairs with the fence in gompi_ring_doorbell: either this thread sees the work, or the waker sees
		// progress_sleeps.
		gompi_full_fence();
		if (gompi_failure_count() != failures) {
			failures = gompi_failure_count();
			gompi_recheck_waits();
		}
		if (!gompi_serve_all() && !gompi_load_seq_cst(&progress_stop)) {
			gompi_futex_wait(&me->doorbell, seen, GOMPI_PROGRESS_SLEEP_NS);
			if (!gompi_serve() && gompi_load(&me->doorbell) == seen)
				continue; // the doorbell has not been rung
		}
		gompi_store_seq_cst(&me->progress_sleeps, 0);
		progress_poll(me);
	}
}

void gompi_progress_stop(void) {
	gompi_store_seq_cst(&progress_stop, true);
	struct gompi_cell *me = gompi_my_cell();
	gompi_add_seq_cst(&me->doorbell, 1);
	syscall(SYS_futex, &me->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}
