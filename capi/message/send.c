// Sends to other processes and to this process.
#include "message/remote.h"

// Returns a message descriptor for a send of this process to itself.
static struct gompi_message *message_of(struct gompi_lane *l, const struct gompi_request *s) {
	struct gompi_message *m = gompi_message_take(l);
	m->entry.source = s->source;
	m->entry.tag = s->tag;
	m->from = l->home->node.self;
	m->size = s->buf.size;
	return m;
}

// Copies a small message of this process to itself into its posted receive, or into an unexpected message. Returns
// false if the message is not small, or if no receive is posted and the send is synchronous.
static bool give(struct gompi_lane *l, struct gompi_queue *q, const struct gompi_request *s) {
	if (s->buf.size > RECORD_MOST_DATA)
		return false;
	struct gompi_entry *e = gompi_list_receiver(&q->posted, s->source, s->tag);
	if (e != NULL) {
		struct gompi_request *r = (struct gompi_request *)e;
		gompi_unpost(l, r);
		r->full = (uint64_t)s->buf.size;
		int64_t n = s->buf.size < r->buf.size ? s->buf.size : r->buf.size;
		r->result = (struct gompi_result){.source = s->source, .tag = s->tag, .bytes = n};
		gompi_buffer_copy(&r->buf, &s->buf, n);
		gompi_complete(l, r, gompi_truncated(r, s->buf.size));
		return true;
	}
	if (s->mode == MODE_SYNCHRONOUS)
		return false;
	struct gompi_message *m = message_of(l, s);
	if (gompi_message_room(m, s->buf.size))
		gompi_buffer_pack(&s->buf, m->data, 0, s->buf.size);
	gompi_keep_unexpected(l, q, m);
	return true;
}

bool gompi_give_self(struct gompi_lane *l, const struct gompi_request *s) {
	if (s->buf.size > RECORD_MOST_DATA || s->mode == MODE_SYNCHRONOUS)
		return false;
	gompi_lane_take(l);
	bool given = give(l, gompi_queue_of(&l->queues, s->context), s);
	gompi_lane_end_started(l);
	return given;
}

static __attribute__((noinline)) void send_to_self(struct gompi_lane *l, struct gompi_request *s) {
	s->to = NULL;
	struct gompi_queue *q = gompi_queue_of(&l->queues, s->context);
	if (give(l, q, s)) {
		gompi_send_finish(l, s, MPI_SUCCESS);
		return;
	}
	struct gompi_message *m = message_of(l, s);
	m->waits = s->blocking;
	m->local = s;
	m->id = (uintptr_t)s;
	struct gompi_entry *e = gompi_list_receiver(&q->posted, s->source, s->tag);
	if (e != NULL) {
		gompi_unpost(l, (struct gompi_request *)e);
		gompi_rendezvous(l, (struct gompi_request *)e, m);
		return;
	}
	gompi_keep_unexpected(l, q, m);
}

void gompi_send_locked(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_messages *m = l->home;
	if (r->world == m->node.self) {
		send_to_self(l, r);
		return;
	}
	struct gompi_link *p = gompi_link_to(l, r->world);
	r->to = p;
	bool small = r->buf.size <= (gompi_is_remote(p) ? REMOTE_MOST_DATA : RECORD_MOST_DATA) && !r->stays;
	if (!small || r->mode == MODE_SYNCHRONOUS)
		gompi_send_number(l, r);
	struct gompi_pending w = {
		.record = {.word = gompi_record_word(small ? RECORD_EAGER : RECORD_RTS, 0, 0),
			   .context = r->context,
			   .source = r->source,
			   .tag = r->tag,
			   .from = m->node.self,
			   .size = (uint64_t)r->buf.size,
			   .id = r->id},
		.send = r,
	};
	gompi_post(l, p, &w);
}

void gompi_acknowledged(struct gompi_lane *l, const struct gompi_record *h) {
	struct gompi_request *r = gompi_number_get(&l->sends, h->id);
	if (r == NULL || r->to == NULL || r->to->world != h->from || r->want != 0 || r->behind)
		return;
	int class = h->class;
	if (class < 0 || class > MPI_ERR_LASTCODE)
		class = MPI_ERR_OTHER;
	gompi_send_finish(l, r, class);
}
