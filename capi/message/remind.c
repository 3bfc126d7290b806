// Reminds receivers that this process waits for its sends.
#include "message/messages.h"
#include "message/plan.h"

// Sends one RECORD_REMINDER to each process of this node to which this process has unacknowledged sends, if at least
// one of these sends is newer than the last reminder.
static void remind_receivers(struct gompi_vci *l) {
	gompi_vci_lock(l);
	if (l->send_ids.total_added != l->sends_at_reminder) {
		l->sends_at_reminder = l->send_ids.total_added;
		for (int i = 0; i < l->messages->node.n; i++) {
			struct gompi_link *p = gompi_load(&l->links[i]);
			if (p == NULL || !p->needs_reminder || p->unacked_sends == 0)
				continue;
			p->needs_reminder = false;
			gompi_post_record(
				l, p,
				&(struct gompi_pending){.record = {.word = gompi_record_word(RECORD_REMINDER, 0, 0),
								   .from = l->messages->node.self},
							.notify = NOTIFY_DOORBELL});
		}
	}
	gompi_vci_unlock_progress(l);
}

void gompi_messages_remind(struct gompi_messages *m) {
	for (int i = 0; i < GOMPI_VCI_COUNT; i++)
		if (gompi_load(&m->vci[i].send_ids.used) > 0)
			remind_receivers(&m->vci[i]);
	gompi_plans_remind(m);
}
