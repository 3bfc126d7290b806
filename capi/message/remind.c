// Reminding others of what this process waits for.
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
