// Yields the core while a program polls; see poll.h.
#include "base/poll.h"

#include <sched.h>

#include "base/tuning.h"

_Thread_local struct gompi_poll gompi_poll __attribute__((tls_model("initial-exec")));

void gompi_poll_long(void) {
	struct gompi_poll *p = &gompi_poll;
	if (!gompi_node.policy.oversubscribed) {
		int64_t now = gompi_now_ns();
		if (p->calls == GOMPI_POLL_CALLS)
			p->since = now;
		if (now - p->since < GOMPI_PATIENCE_NS || p->calls % GOMPI_PATIENT_CALLS != 0)
			return;
	}
	sched_yield();
}

void gompi_poll_flushed(void) {
	struct gompi_poll *p = &gompi_poll;
	if (!gompi_node.policy.oversubscribed || ++p->flushes % GOMPI_FLUSHES != 0)
		return;
	int64_t now = gompi_now_ns();
	if (now - p->offered < GOMPI_FLUSH_NS)
		return;
	sched_yield();
	p->offered = gompi_now_ns();
}
