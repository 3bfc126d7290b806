// The end of the messages of a communicator, and of a process.
#include "message/messages.h"

void gompi_forget_locked(struct gompi_lane *l, uint64_t context) {
	struct gompi_queue *q = gompi_queue_find(&l->queues, context);
	if (q == NULL)
		return;
	q->closing = true;
	for (struct gompi_entry *e; (e = gompi_list_oldest(&q->unexpected)) != NULL;) {
		gompi_take_unexpected(l, q, (struct gompi_message *)e);
		gompi_drop(l, (struct gompi_message *)e);
	}
	if (q->posted.n == 0)
		gompi_queue_drop(&l->queues, q);
}

void gompi_messages_forget(struct gompi_messages *home, uint64_t context, int n) {
	struct gompi_lane *l = gompi_lane_of(home, context);
	gompi_lane_take(l);
	for (int i = 0; i < n; i++)
		gompi_forget_locked(l, context + (uint64_t)i);
	gompi_lane_end(l);
}

// Returns true if this process is in MPI_Finalize, so that no call can receive the message that h names. Else queues h
// in questions. h comes from a peer on another node that is in MPI_Finalize and withdraws the message.
static bool is_last(struct gompi_lane *l, const struct gompi_record *h) {
	struct gompi_messages *m = l->home;
	if (gompi_load(&gompi_messages_cell(m, m->node.me)->state) >= FINISHING)
		return true;
	struct gompi_pending *w = gompi_pending_take(l);
	*w = (struct gompi_pending){.next = l->questions, .record = *h};
	l->questions = w;
	return false;
}

void gompi_unwanted(struct gompi_lane *l, const struct gompi_record *h) {
	if ((gompi_record_flags(h->word) & RECORD_LAST) == 0 || is_last(l, h))
		gompi_withdraw(l, h);
}

// Answers the queued requests: this process is in MPI_Finalize.
static void answer_last(struct gompi_lane *l) {
	for (struct gompi_pending *w; (w = l->questions) != NULL;) {
		l->questions = w->next;
		gompi_withdraw(l, &w->record);
		gompi_pending_give(l, w);
	}
}

// Returns true if the receiver of a send is known to be in MPI_Finalize, or can be asked to return the message once it
// is.
static bool may_give_back(const struct gompi_request *r) {
	return gompi_is_remote(r->to) ? !r->behind : gompi_load(&r->to->cell->state) == FINISHING;
}

bool gompi_messages_flushed(struct gompi_messages *m) {
	int64_t left = 0;
	for (int i = 0; i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		if (gompi_load(&l->backlog) > 0 || !gompi_biased_try(&l->lock))
			return false;
		answer_last(l);
		for (uint32_t k = 0; k < l->sends.size; k++) { // the loop body may free the table, and then size is 0
			struct gompi_request *r = l->sends.at[k].request;
			if (r != NULL && r->to != NULL && may_give_back(r))
				gompi_cancel_send(l, r, gompi_is_remote(r->to) ? RECORD_LAST : 0);
		}
		left += gompi_load(&l->sends.used) + (l->work != NULL);
		gompi_lane_end(l);
	}
	return left == 0;
}
