#include "message/lane.h"

struct gompi_messages *_Atomic gompi_messages_here;

// Notifies the processes that wait for space in the inbox. It sends them a record, since a thread that makes progress
// polls only its inbox. If there is no space for that record, the other inbox is not empty, so the process polls it
// anyway.
void gompi_lane_tell_room(struct gompi_lane *l) {
	struct gompi_messages *m = l->home;
	if (!gompi_inbox_tells(l->box))
		return;
	for (int i = -1; (i = gompi_inbox_waiting(l->box, i + 1, m->node.n)) >= 0;) {
		if (i == m->node.me)
			continue;
		struct gompi_inbox *theirs = gompi_inbox_of(m, i, (int)(l - m->lane));
		gompi_a64 head = gompi_load(&theirs->head);
		struct gompi_room room = gompi_inbox_reserve(theirs, &head, RECORD_SIZE);
		if (room.record != NULL) {
			room.record->from = m->node.self;
			gompi_inbox_publish(room, gompi_record_word(RECORD_ROOM, 0, RECORD_SIZE));
		}
		gompi_wake(&gompi_messages_cell(m, i)->wait);
		gompi_doorbell(gompi_messages_cell(m, i));
	}
}

void gompi_lane_missed(struct gompi_lane *l) {
	while (gompi_load_total(&l->missed) != 0 && gompi_swap_total(&l->missed, 0) != 0) {
		if (!gompi_lane_try(l))
			return;
		l->home->progress(l);
		gompi_lane_let_go(l);
	}
}

void gompi_lane_end(struct gompi_lane *l) {
	if (__builtin_expect(l->work != NULL || l->must_flush, 0))
		l->home->progress(l);
	gompi_lane_give(l);
}
