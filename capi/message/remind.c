// Reminding others of what this process waits for.
#include "base/poll.h"
#include "base/tuning.h"
#include "message/messages.h"
#include "message/plan.h"

static void remind(struct gompi_lane *l) {
	gompi_lane_take(l);
	if (gompi_load(&l->sends.used) > 0 && l->sends.added != l->reminded) {
		l->reminded = l->sends.added;
		for (uint32_t i = 0; i < l->sends.size; i++) { // which changes when what waits for room leaves
			struct gompi_request *r = l->sends.at[i].request;
			if (r == NULL || r->looked || r->want != 0 || r->to == NULL || gompi_is_remote(r->to))
				continue;
			r->looked = true;
			gompi_post_about(l, r, RECORD_LOOK, 0);
		}
	}
	gompi_lane_end(l);
}

void gompi_messages_remind(struct gompi_messages *m) {
	for (int i = 0; i < GOMPI_LANES; i++)
		if (gompi_load(&m->lane[i].sends.used) > 0)
			remind(&m->lane[i]);
	gompi_plans_remind(m);
}

// A call that programs repeat until it succeeds found nothing: it may be a wait.
void gompi_message_polled(void) {
	static _Thread_local unsigned polls __attribute__((tls_model("initial-exec")));
	gompi_polled();
	if (++polls % GOMPI_TESTS_TO_WAIT == 0)
		gompi_messages_remind(gompi_load(&gompi_messages_here));
}
