// Giving the core away while a program polls; see poll.h.
#include "base/poll.h"

#include <sched.h>

_Thread_local struct gompi_poll gompi_poll __attribute__((tls_model("initial-exec")));

enum {
	PATIENCE_NS = 200000, // with a core for each process the answer usually comes from another core, and soon
	PATIENT_CALLS =
		256,  // between two offers of the core then: nobody may want it, and an offer costs as much as 20 calls
	FLUSHES = 32, // between looks at the clock
	// Between two flushes that give the core away: they may be work, which a change of context for each would slow
	// down. It takes some 2 us.
	FLUSH_NS = 50000,
};

void gompi_poll_long(void) {
	struct gompi_poll *p = &gompi_poll;
	if (!gompi_node.policy.crowded) {
		int64_t now = gompi_now_ns();
		if (p->calls == GOMPI_POLL_CALLS)
			p->since = now;
		if (now - p->since < PATIENCE_NS || p->calls % PATIENT_CALLS != 0)
			return;
	}
	sched_yield();
}

void gompi_poll_flushed(void) {
	struct gompi_poll *p = &gompi_poll;
	if (!gompi_node.policy.crowded || ++p->flushes % FLUSHES != 0)
		return;
	int64_t now = gompi_now_ns();
	if (now - p->offered < FLUSH_NS)
		return;
	sched_yield();
	p->offered = gompi_now_ns();
}
