// Drops the messages of a communicator that is freed, and ends unacknowledged sends in MPI_Finalize.
#include "message/messages.h"

void gompi_close_context_locked(struct gompi_vci *l, uint64_t context) {
	struct gompi_queue *q = gompi_queue_find(&l->queues, context);
	if (q == NULL)
		return;
	q->is_closing = true;
	for (struct gompi_entry *e; (e = gompi_list_oldest(&q->unexpected)) != NULL;) {
		gompi_remove_unexpected(l, q, (struct gompi_message *)e);
		gompi_message_drop(l, (struct gompi_message *)e);
	}
	if (q->posted.count == 0)
		gompi_queue_free(&l->queues, q);
}

void gompi_close_contexts(struct gompi_messages *m, uint64_t context, int n) {
	struct gompi_vci *l = gompi_vci_of(m, context);
	gompi_vci_lock(l);
	for (int i = 0; i < n; i++)
		gompi_close_context_locked(l, context + (uint64_t)i);
	gompi_vci_unlock_progress(l);
}

// Handles the record h (RECORD_CANCEL) of a peer on another node. The peer is in MPI_Finalize and withdraws a message.
// Returns true if this process is in MPI_Finalize too, so that no call can receive the message. Else queues h in
// deferred_cancels and returns false.
static bool withdraw_or_defer(struct gompi_vci *l, const struct gompi_record *h) {
	struct gompi_messages *m = l->messages;
	if (gompi_load(&gompi_messages_cell(m, m->node.local_index)->state) >= GOMPI_STATE_FINISHING)
		return true;
	struct gompi_pending *w = gompi_pending_alloc(l);
	*w = (struct gompi_pending){.next = l->deferred_cancels, .record = *h};
	l->deferred_cancels = w;
	return false;
}

void gompi_handle_cancel(struct gompi_vci *l, const struct gompi_record *h) {
	if ((gompi_record_flags(h->word) & RECORD_FINALIZE) == 0 || withdraw_or_defer(l, h))
		gompi_withdraw(l, h);
}

// Withdraws the messages that the records in deferred_cancels name. The caller is in MPI_Finalize.
static void withdraw_deferred(struct gompi_vci *l) {
	for (struct gompi_pending *w; (w = l->deferred_cancels) != NULL;) {
		l->deferred_cancels = w->next;
		gompi_withdraw(l, &w->record);
		gompi_pending_free(l, w);
	}
}

// Returns true if this process may cancel send r in MPI_Finalize. A receiver on this node must be in MPI_Finalize too.
// A receiver on another node itself defers the cancellation until it is in MPI_Finalize, but the first record of r must
// have been sent to it.
static bool may_withdraw(const struct gompi_request *r) {
	return gompi_is_remote(r->peer_link) ? !r->record_pending
					     : gompi_load(&r->peer_link->cell->state) == GOMPI_STATE_FINISHING;
}

bool gompi_messages_flushed(struct gompi_messages *m) {
	int64_t active_count = 0;
	for (int i = 0; i < GOMPI_VCI_COUNT; i++) {
		struct gompi_vci *l = &m->vci[i];
		if (gompi_load(&l->pending_links) > 0 || !gompi_biased_trylock(&l->lock))
			return false;
		withdraw_deferred(l);
		// The loop body may free the table, which sets entries_used to 0 and so ends the loop.
		for (uint32_t k = 0; k < l->send_ids.entries_used; k++) {
			struct gompi_request *r = l->send_ids.entries[k].request;
			if (r != NULL && r->peer_link != NULL && may_withdraw(r))
				gompi_cancel_send(l, r, gompi_is_remote(r->peer_link) ? RECORD_FINALIZE : 0);
		}
		active_count += gompi_load(&l->send_ids.used) + (l->work != NULL);
		gompi_vci_unlock_progress(l);
	}
	return active_count == 0;
}
