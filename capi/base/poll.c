// Yields the core while a program polls; see poll.h.
#include "base/poll.h"

#include <sched.h>

#include "base/tuning.h"

_Thread_local struct gompi_poll gompi_poll __attribute__((tls_model("initial-exec")));

void gompi_poll_maybe_yield(void) {
	struct gompi_poll *p = &gompi_poll;
	if (!gompi_node.policy.is_oversubscribed) {
		int64_t now = gompi_now_ns();
		if (p->idle_calls == GOMPI_POLL_CALLS)
			p->since_ns = now;
		if (now - p->since_ns < GOMPI_POLL_YIELD_NS || p->idle_calls % GOMPI_POLL_YIELD_CALLS != 0)
			return;
	}
	sched_yield();
}

void gompi_poll_after_flush(void) {
	struct gompi_poll *p = &gompi_poll;
	if (!gompi_node.policy.is_oversubscribed || ++p->flushes % GOMPI_FLUSHES_PER_CHECK != 0)
		return;
	int64_t now = gompi_now_ns();
	if (now - p->last_yield_ns < GOMPI_FLUSH_YIELD_NS)
		return;
	sched_yield();
	p->last_yield_ns = gompi_now_ns();
}
