// Cancellation (MPI-5.0 3.8.4). MPI_Wait for a cancelled operation returns whatever other processes do; the operation
// is either cancelled or completed.
//
// - A receive that is not matched is removed from the posted receives.
// - A send that has not left is removed from the pending records.
// - A send to this process is removed from the unexpected messages.
// - A send that the receiver knows of: RECORD_CANCEL asks the receiver to remove it from its unexpected messages, and
//   RECORD_GONE confirms it. If no other thread of the receiver answers, its progress thread does.
//
// A matched operation continues, and ends as if it had not been cancelled: a thread that makes progress for one of the
// two processes copies the data. A message that only a matched probe has extracted would stay at its sender until it is
// received; so its data is fetched immediately.
#include "message/messages.h"

#include <stdlib.h>

// Completes a send as cancelled. No process has received its message.
static void cancelled(struct gompi_lane *l, struct gompi_request *r) {
	r->result.cancelled = true;
	gompi_send_finish(l, r, MPI_SUCCESS);
}

void gompi_lost(struct gompi_lane *l, struct gompi_request *r) {
	if (r->want != 0 || r->behind)
		return;
	r->gone = true;
	if (r->cancel)
		cancelled(l, r);
}

// Fetches the data of a message that a matched probe has extracted, so that its send completes. If there is no memory
// for the data, the sender waits for the receive.
static void fetch_message(struct gompi_lane *l, struct gompi_message *m) {
	char *room = NULL;
	if ((m->local != NULL || (m->rts && m->fetch == NULL)) && m->size > 0 &&
	    (room = malloc((size_t)m->size)) == NULL)
		return;
	if (m->local != NULL) {
		struct gompi_request *s = m->local;
		gompi_buffer_pack(&s->buf, room, 0, m->size);
		free(m->data);
		m->data = room;
		m->room = m->size;
		m->local = NULL;
		m->id = 0;
		gompi_send_finish(l, s, MPI_SUCCESS);
	} else if (!m->rts && m->id != 0) {
		gompi_answer(l, m->from, RECORD_ACK, m->id, m->call, MPI_SUCCESS);
		m->id = 0;
	} else if (m->rts && m->fetch == NULL) {
		struct gompi_request *r = gompi_request_take(l);
		if (r == NULL) {
			free(room);
			return;
		}
		r->receive = true;
		r->buf = (struct gompi_buffer){.at = room, .size = m->size};
		r->peer = m->entry.source;
		r->tag = m->entry.tag;
		r->fetches = m;
		m->fetch = r;
		// A second descriptor takes over the sender's side of the message. m waits for the data.
		struct gompi_message *sent = gompi_message_take(l);
		sent->entry.source = m->entry.source;
		sent->entry.tag = m->entry.tag;
		sent->from = m->from;
		sent->size = m->size;
		sent->id = m->id;
		sent->call = m->call;
		sent->rts = sent->waits = true;
		sent->segments = m->segments;
		sent->one = m->one;
		sent->where = m->where == &m->one ? &sent->one : m->where;
		sent->readable = m->readable;
		m->readable = false;
		m->where = NULL;
		m->segments = 0;
		gompi_rendezvous(l, r, sent);
	}
}

void gompi_drop(struct gompi_lane *l, struct gompi_message *m) {
	if (m->local != NULL)
		gompi_lost(l, m->local);
	else if (m->id != 0)
		gompi_answer(l, m->from, RECORD_GONE, m->id, true, MPI_SUCCESS);
	gompi_message_give(l, m);
}

// Withdraws an unexpected message on behalf of its sender. If a matched probe has already extracted it, fetches its
// data so that the send completes all the same.
static void withdraw(struct gompi_lane *l, uint64_t context, int32_t from, uint64_t id) {
	struct gompi_queue *q = gompi_queue_find(&l->queues, context);
	struct gompi_message *m =
		q != NULL ? (struct gompi_message *)gompi_list_of_send(&q->unexpected, from, id) : NULL;
	if (m != NULL) {
		gompi_take_unexpected(l, q, m);
		gompi_drop(l, m);
		return;
	}
	m = (struct gompi_message *)gompi_list_of_send(&l->picked, from, id);
	if (m != NULL)
		fetch_message(l, m);
	else
		l->due = l->work != NULL; // it may be matched already: copy its data now
}

void gompi_withdraw(struct gompi_lane *l, const struct gompi_record *h) { withdraw(l, h->context, h->from, h->id); }

void gompi_cancel_send(struct gompi_lane *l, struct gompi_request *r, unsigned flags) {
	if (r->cancel)
		return;
	r->cancel = true;
	if (r->gone || (r->to != NULL && gompi_unpost_record(l, r)))
		cancelled(l, r);
	else if (r->to == NULL)
		withdraw(l, r->context, l->home->node.self, (uintptr_t)r);
	else if (r->want == 0) // else its data is being sent
		gompi_post_cancel(l, r, flags);
}

void gompi_cancel_locked(struct gompi_lane *l, struct gompi_request *r) {
	if (gompi_load(&r->state) != REQUEST_ACTIVE)
		return;
	if (!r->receive) {
		gompi_cancel_send(l, r, 0);
	} else if (r->posted) {
		gompi_unpost(l, r);
		r->result = (struct gompi_result){.cancelled = true};
		gompi_complete(l, r, MPI_SUCCESS);
	}
}
