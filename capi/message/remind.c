// Reminders to receivers that this process waits for its sends.
#include "message/messages.h"
#include "message/plan.h"

// Sends one RECORD_LOOK to each process of this node to which sends have been added since the last one, and which has
// not answered all of them.
static void remind(struct gompi_lane *l) {
	gompi_lane_take(l);
	if (l->sends.added != l->reminded) {
		l->reminded = l->sends.added;
		for (int i = 0; i < l->home->node.n; i++) {
			struct gompi_link *p = gompi_load(&l->links[i]);
			if (p == NULL || !p->unreminded || p->unanswered == 0)
				continue;
			p->unreminded = false;
			gompi_post(l, p,
				   &(struct gompi_pending){.record = {.word = gompi_record_word(RECORD_LOOK, 0, 0),
								      .from = l->home->node.self},
							   .notice = NOTICE_CALL});
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
