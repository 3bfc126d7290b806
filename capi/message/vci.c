#include "message/vci.h"

struct gompi_messages *_Atomic gompi_app_messages;
struct gompi_mutex gompi_app_messages_lock;

// Sends RECORD_SPACE to each process that waits for space in this inbox. The waiting process polls only its own inbox,
// so it does not see the space. If the waiting process' inbox has no space for RECORD_SPACE, that process has other
// records to poll anyway.
void gompi_vci_notify_space(struct gompi_vci *l) {
	struct gompi_messages *m = l->messages;
	if (!gompi_inbox_should_notify(l->inbox))
		return;
	for (int i = -1; (i = gompi_inbox_next_waiter(l->inbox, i + 1, m->node.n)) >= 0;) {
		if (i == m->node.local_index)
			continue;
		struct gompi_inbox *theirs = gompi_inbox_of(m, i, (int)(l - m->vci));
		gompi_a64 head = gompi_load(&theirs->head);
		struct gompi_reservation reservation = gompi_inbox_reserve(theirs, &head, RECORD_SIZE);
		if (reservation.record != NULL) {
			reservation.record->from = m->node.self;
			gompi_inbox_publish(reservation, gompi_record_word(RECORD_SPACE, 0, RECORD_SIZE));
		}
		gompi_wake(&gompi_messages_cell(m, i)->wait);
		gompi_cell_ring_doorbell(gompi_messages_cell(m, i));
	}
}

void gompi_vci_progress_missed(struct gompi_vci *l) {
	while (gompi_missed_consume(&l->missed_progress)) {
		if (!gompi_vci_trylock(l))
			return;
		l->messages->progress(l);
		gompi_vci_unlock_wake(l);
	}
}

void gompi_vci_unlock_progress(struct gompi_vci *l) {
	if (__builtin_expect(l->work != NULL || l->must_flush, 0))
		l->messages->progress(l);
	gompi_vci_unlock(l);
}
