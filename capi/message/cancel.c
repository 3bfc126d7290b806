// Cancellation (MPI-5.0 3.8.4). MPI_Wait for a cancelled operation returns independently of the calls of other
// processes. The operation is then either cancelled or completed.
//
// - A receive that is not matched is removed from the posted receives.
// - A send whose record is still pending is removed from the pending records.
// - A send to this process is removed from the unexpected messages.
// - For a send that the receiver knows of, RECORD_CANCEL asks the receiver to remove the message from its unexpected
//   messages, and RECORD_DROPPED confirms the removal. If no other thread of the receiver answers, its progress thread
//   does.
//
// A matched operation continues, and ends as if it had not been cancelled: a thread that makes progress for one of the
// two processes copies the data. If a matched probe has extracted the message, its data would stay at the sender until
// a call receives the message. So the receiver fetches the data immediately.
#include "message/messages.h"

#include <stdlib.h>

// Completes a send as cancelled. No process has received its message.
static void complete_cancelled(struct gompi_vci *l, struct gompi_request *r) {
	r->result.cancelled = true;
	gompi_send_complete(l, r, MPI_SUCCESS);
}

void gompi_send_dropped(struct gompi_vci *l, struct gompi_request *r) {
	if (r->transfer_bytes != 0 || r->record_pending)
		return;
	r->message_dropped = true;
	if (r->cancel_requested)
		complete_cancelled(l, r);
}

// Fetches the data of a message that a matched probe has extracted, so that its send completes. If the data is already
// in this process (a synchronous eager send), only acknowledges the message. If there is no memory for the data, does
// nothing, and the send completes only when the message is received.
static void fetch_message(struct gompi_vci *l, struct gompi_message *m) {
	char *copy = NULL;
	if ((m->self_send != NULL || (m->rts && m->fetch == NULL)) && m->size > 0 &&
	    (copy = malloc((size_t)m->size)) == NULL)
		return;
	if (m->self_send != NULL) {
		struct gompi_request *s = m->self_send;
		gompi_buffer_pack(&s->buf, copy, 0, m->size);
		free(m->data);
		m->data = copy;
		m->data_capacity = m->size;
		m->self_send = NULL;
		m->id = 0;
		gompi_send_complete(l, s, MPI_SUCCESS);
	} else if (!m->rts && m->id != 0) {
		gompi_send_answer(l, m->from, RECORD_ACK, m->id, m->answer_rings_doorbell, MPI_SUCCESS);
		m->id = 0;
	} else if (m->rts && m->fetch == NULL) {
		struct gompi_request *r = gompi_request_alloc(l);
		if (r == NULL) {
			free(copy);
			return;
		}
		r->receive = true;
		r->buf = (struct gompi_buffer){.at = copy, .size = m->size};
		r->peer = m->entry.source;
		r->tag = m->entry.tag;
		r->fetches_for = m;
		m->fetch = r;
		// A second descriptor describes the data in the sender's memory. m then waits for the fetched copy.
		struct gompi_message *sender_side = gompi_message_alloc(l);
		sender_side->entry.source = m->entry.source;
		sender_side->entry.tag = m->entry.tag;
		sender_side->from = m->from;
		sender_side->size = m->size;
		sender_side->id = m->id;
		sender_side->answer_rings_doorbell = m->answer_rings_doorbell;
		sender_side->rts = sender_side->sender_waits = true;
		sender_side->segment_count = m->segment_count;
		sender_side->single_segment = m->single_segment;
		sender_side->segment = m->segment == &m->single_segment ? &sender_side->single_segment : m->segment;
		sender_side->region_is_valid = m->region_is_valid;
		m->region_is_valid = false;
		m->segment = NULL;
		m->segment_count = 0;
		gompi_start_rendezvous(l, r, sender_side);
	}
}

void gompi_message_drop(struct gompi_vci *l, struct gompi_message *m) {
	if (m->self_send != NULL)
		gompi_send_dropped(l, m->self_send);
	else if (m->id != 0)
		gompi_send_answer(l, m->from, RECORD_DROPPED, m->id, true, MPI_SUCCESS);
	gompi_message_release(l, m);
}

// Withdraws an unexpected message on behalf of its sender. If a matched probe has already extracted it, fetches the
// message's data so that the send completes nevertheless.
static void withdraw_message(struct gompi_vci *l, uint64_t context, int32_t from, uint64_t id) {
	struct gompi_queue *q = gompi_queue_find(&l->queues, context);
	struct gompi_message *m =
		q != NULL ? (struct gompi_message *)gompi_list_find_send(&q->unexpected, from, id) : NULL;
	if (m != NULL) {
		gompi_remove_unexpected(l, q, m);
		gompi_message_drop(l, m);
		return;
	}
	m = (struct gompi_message *)gompi_list_find_send(&l->extracted, from, id);
	if (m != NULL)
		fetch_message(l, m);
	else
		l->work_is_urgent = l->work != NULL; // the message may be matched: copy its data at the unlock
}

void gompi_withdraw(struct gompi_vci *l, const struct gompi_record *h) {
	withdraw_message(l, h->context, h->from, h->id);
}

void gompi_cancel_send(struct gompi_vci *l, struct gompi_request *r, unsigned flags) {
	if (r->cancel_requested)
		return;
	r->cancel_requested = true;
	if (r->message_dropped || (r->peer_link != NULL && gompi_unqueue_record(l, r)))
		complete_cancelled(l, r);
	else if (r->peer_link == NULL)
		withdraw_message(l, r->context, l->messages->node.self, (uintptr_t)r);
	else if (r->transfer_bytes == 0) // otherwise the data is already being sent
		gompi_post_cancel(l, r, flags);
}

void gompi_cancel_locked(struct gompi_vci *l, struct gompi_request *r) {
	if (gompi_load(&r->state) != REQUEST_ACTIVE)
		return;
	if (!r->receive) {
		gompi_cancel_send(l, r, 0);
	} else if (r->posted) {
		gompi_unpost_receive(l, r);
		r->result = (struct gompi_result){.cancelled = true};
		gompi_complete(l, r, MPI_SUCCESS);
	}
}
