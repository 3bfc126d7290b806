// Cancelling (MPI-5.0 3.8.4), and what else happens rarely. MPI_Wait for what has been cancelled returns whatever other
// processes do; the operation is either cancelled or done.
//
//	a receive that is not matched        is taken back here
//	a send that has not left             too
//	a send to this process               is taken out of the unexpected messages here
//	a send that the receiver knows of    is taken out of them there: RECORD_CANCEL asks for it, RECORD_GONE says
//	                                     that it is done. The receiver's progress thread answers if nobody else does
//
// What is matched goes on by itself, and ends as if it had not been cancelled: the data is copied by whoever serves the
// two processes. A message that only a matched probe has found would stay with its sender until it is received; its
// data is taken at once.
#include "message/away.h"
#include "message/plan.h"

#include <stdlib.h>

// Completes a send that nobody has got.
static void cancelled(struct gompi_lane *l, struct gompi_request *r) {
	r->result.cancelled = true;
	gompi_send_finish(l, r, MPI_SUCCESS);
}

static bool is_local(struct gompi_entry *e, const void *send) { return ((struct gompi_message *)e)->local == send; }

bool gompi_is_record_of(struct gompi_entry *e, const void *record) {
	const struct gompi_message *m = (const struct gompi_message *)e;
	const struct gompi_record *h = record;
	return m->from == h->from && m->id == h->id && m->id != 0;
}

static void cancel_send(struct gompi_lane *l, struct gompi_request *r, unsigned flags) {
	if (r->cancel)
		return;
	r->cancel = true;
	if (r->gone) {
		cancelled(l, r);
		return;
	}
	if (r->to == NULL) {
		gompi_withdraw(l, r->context, r->source, r->tag, is_local, r);
		return;
	}
	struct gompi_link *p = r->to;
	for (struct gompi_pending **at = &p->first, *before = NULL; *at != NULL; before = *at, at = &(*at)->next) {
		struct gompi_pending *w = *at;
		if (w->send != r)
			continue;
		*at = w->next;
		if (p->last == w)
			p->last = before;
		w->next = l->spare_pending;
		l->spare_pending = w;
		gompi_waits(l, p, -1);
		r->behind = false;
		cancelled(l, r);
		return;
	}
	if (r->want == 0) { // else its data is on its way
		struct gompi_pending w = {
			.record = {.word = gompi_record_word(RECORD_CANCEL, flags, 0),
				   .context = r->context,
				   .source = r->source,
				   .tag = r->tag,
				   .from = l->home->node.self,
				   .id = r->id},
			.notice = NOTICE_CALL,
		};
		gompi_post(l, p, &w);
	}
}

void gompi_cancel_locked(struct gompi_lane *l, struct gompi_request *r) {
	if (gompi_load(&r->state) != REQUEST_ACTIVE)
		return;
	if (!r->receive) {
		cancel_send(l, r, 0);
	} else if (r->posted) {
		gompi_unpost(l, r);
		r->result = (struct gompi_result){.cancelled = true};
		gompi_complete(l, r, MPI_SUCCESS);
	}
}

// Tells the sender of a message that this process no longer has it, and drops it.
static void drop(struct gompi_lane *l, struct gompi_message *m) {
	if (m->local != NULL) {
		gompi_lost(l, m->local);
	} else if (m->id != 0) {
		struct gompi_pending w = {
			.record = {.word = gompi_record_word(RECORD_GONE, 0, 0),
				   .from = l->home->node.self,
				   .id = m->id},
			.notice = NOTICE_CALL,
		};
		gompi_post(l, gompi_link_to(l, m->from), &w);
	}
	gompi_message_give(l, m);
}

// Takes a message out of the unexpected ones for its sender. If a matched probe was quicker the sender gets rid of it
// all the same.
void gompi_withdraw(struct gompi_lane *l, uint64_t context, int32_t source, int32_t tag,
		    bool (*wanted)(struct gompi_entry *, const void *), const void *arg) {
	struct gompi_queue *q = gompi_queue_find(&l->queues, context);
	struct gompi_message *m =
		q != NULL ? (struct gompi_message *)gompi_list_find(&q->unexpected, source, tag, wanted, arg) : NULL;
	if (m != NULL) {
		gompi_take_unexpected(l, q, m);
		drop(l, m);
		return;
	}
	m = (struct gompi_message *)gompi_list_find(&l->picked, source, tag, wanted, arg);
	if (m != NULL)
		gompi_message_fetch(l, m);
	else
		l->due = l->work != NULL; // it may be matched
}

// The sender of a message does not want it to be received any longer.
void gompi_unwanted(struct gompi_lane *l, const struct gompi_record *h) {
	if ((gompi_record_flags(h->word) & RECORD_LAST) == 0 || gompi_away_is_last(l, h))
		gompi_withdraw(l, h->context, h->source, h->tag, gompi_is_record_of, h);
}

// The receiver of a send no longer has its message: because it was asked to, or because it has freed the communicator.
void gompi_lost(struct gompi_lane *l, struct gompi_request *r) {
	if (r->want != 0 || r->behind)
		return;
	r->gone = true;
	if (r->cancel)
		cancelled(l, r);
}

// Takes over the data of a message that a matched probe has found, so that its sender is done. Without memory for it
// the sender waits for the receive.
void gompi_message_fetch(struct gompi_lane *l, struct gompi_message *m) {
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
		gompi_send_finish(l, s, MPI_SUCCESS);
	} else if (!m->rts && m->id != 0) {
		gompi_acknowledge(l, m->from, m->id, m->call, MPI_SUCCESS);
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
		// What stands for the message at its sender is handed on; m waits for the data.
		struct gompi_message *away = gompi_message_take(l);
		away->entry.source = m->entry.source;
		away->entry.tag = m->entry.tag;
		away->from = m->from;
		away->size = m->size;
		away->id = m->id;
		away->call = m->call;
		away->rts = away->waits = true;
		away->segments = m->segments;
		away->one = m->one;
		away->where = m->where == &m->one ? &away->one : m->where;
		away->readable = m->readable;
		m->readable = false;
		m->where = NULL;
		m->segments = 0;
		gompi_rendezvous(l, r, away);
	}
}

// Gives a message its data, and the message to the receive that has come for it meanwhile.
void gompi_fetched(struct gompi_lane *l, struct gompi_request *r, int class) {
	struct gompi_message *m = r->fetches;
	free(m->data);
	m->data = r->buf.at;
	m->room = m->size;
	m->rts = false;
	m->id = 0;
	m->fetch = NULL;
	m->failed = class;
	gompi_request_give(r);
	struct gompi_request *waits = m->receiver;
	if (waits != NULL) {
		m->receiver = NULL;
		gompi_deliver(l, waits, m);
	}
}

static void forget_locked(struct gompi_lane *l, uint64_t context) {
	struct gompi_queue *q = gompi_queue_find(&l->queues, context);
	if (q == NULL)
		return;
	q->closing = true;
	for (struct gompi_entry *e; (e = gompi_list_oldest(&q->unexpected)) != NULL;) {
		gompi_take_unexpected(l, q, (struct gompi_message *)e);
		drop(l, (struct gompi_message *)e);
	}
	if (q->posted.n == 0)
		gompi_queue_drop(&l->queues, q);
}

void gompi_messages_forget(struct gompi_messages *home, uint64_t context, int n) {
	struct gompi_lane *l = gompi_lane_of(home, context);
	gompi_lane_take(l);
	for (int i = 0; i < n; i++)
		forget_locked(l, context + (uint64_t)i);
	gompi_lane_end(l);
}

static void remind(struct gompi_lane *l) {
	gompi_lane_take(l);
	if (gompi_load(&l->sends.used) > 0 && l->sends.added != l->reminded) {
		l->reminded = l->sends.added;
		for (uint32_t i = 0; i < l->sends.size; i++) { // which changes when what waits for room leaves
			struct gompi_request *r = l->sends.at[i].request;
			if (r == NULL || r->looked || r->want != 0 || r->to == NULL || gompi_is_away(r->to))
				continue;
			r->looked = true;
			struct gompi_pending w = {
				.record = {.word = gompi_record_word(RECORD_LOOK, 0, 0),
					   .context = r->context,
					   .source = r->source,
					   .tag = r->tag,
					   .from = l->home->node.self,
					   .id = r->id},
				.notice = NOTICE_CALL,
			};
			gompi_post(l, r->to, &w);
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

// The sender of a message waits for it. If it is matched the caller copies it, even if it only starts something.
void gompi_wanted(struct gompi_lane *l, const struct gompi_record *h) {
	struct gompi_queue *q = gompi_queue_find(&l->queues, h->context);
	struct gompi_entry *e =
		q != NULL ? gompi_list_find(&q->unexpected, h->source, h->tag, gompi_is_record_of, h) : NULL;
	if (e == NULL)
		e = gompi_list_find(&l->picked, h->source, h->tag, gompi_is_record_of, h);
	if (e != NULL)
		((struct gompi_message *)e)->waits = true;
	else
		l->due = l->work != NULL;
}

// Returns true if the receiver of a send is known to be in MPI_Finalize, or can be asked to give the message back
// once it is.
static bool may_give_back(const struct gompi_request *r) {
	return gompi_is_away(r->to) ? !r->behind : gompi_load(&r->to->cell->state) == FINISHING;
}

bool gompi_messages_flushed(struct gompi_messages *m) {
	int64_t left = 0;
	for (int i = 0; i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		if (gompi_load(&l->backlog) > 0 || !gompi_mutex_try(&l->lock))
			return false;
		gompi_away_answer_last(l);
		for (uint32_t k = 0; k < l->sends.size; k++) { // of which there may be none from one to the next
			struct gompi_request *r = l->sends.at[k].request;
			if (r != NULL && r->to != NULL && may_give_back(r))
				cancel_send(l, r, gompi_is_away(r->to) ? RECORD_LAST : 0);
		}
		left += gompi_load(&l->sends.used) + (l->work != NULL);
		gompi_lane_end(l);
	}
	return left == 0;
}

struct gompi_message *gompi_probe_locked(struct gompi_lane *l, uint64_t context, int32_t source, int32_t tag,
					 bool take) {
	struct gompi_queue *q = gompi_queue_of(&l->queues, context);
	if (q->unexpected.n == 0)
		return NULL;
	struct gompi_message *m = (struct gompi_message *)gompi_list_message(&q->unexpected, source, tag);
	if (m != NULL && take) {
		gompi_take_unexpected(l, q, m);
		gompi_list_add(&l->picked, &m->entry);
	}
	return m;
}

void gompi_receive_message(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m) {
	gompi_list_remove(&l->picked, &m->entry);
	gompi_deliver(l, r, m);
}
