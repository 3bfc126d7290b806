// Sends to other processes and to this process.
#include "message/remote.h"

// Returns a message descriptor for send s of this process to itself.
static struct gompi_message *self_message(struct gompi_vci *l, const struct gompi_request *s) {
	struct gompi_message *m = gompi_message_alloc(l);
	m->entry.source = s->source;
	m->entry.tag = s->tag;
	m->from = l->messages->node.self;
	m->size = s->buf.size;
	return m;
}

// Delivers a small message that this process sends to itself. If a posted receive matches, copies the data into the
// buffer of this receive. Otherwise copies the data into a new unexpected message. Delivers nothing and returns false
// if the message is not small, or if the send is synchronous and no posted receive matches.
static bool deliver_to_self(struct gompi_vci *l, struct gompi_queue *q, const struct gompi_request *s) {
	if (s->buf.size > RECORD_MAX_DATA)
		return false;
	struct gompi_entry *e = gompi_list_find_receive(&q->posted, s->source, s->tag);
	if (e != NULL) {
		struct gompi_request *r = (struct gompi_request *)e;
		gompi_unpost_receive(l, r);
		r->size_or_receive_id = (uint64_t)s->buf.size;
		int64_t n = s->buf.size < r->buf.size ? s->buf.size : r->buf.size;
		r->result = (struct gompi_result){.source = s->source, .tag = s->tag, .bytes = n};
		gompi_buffer_copy(&r->buf, &s->buf, n);
		gompi_complete(l, r, gompi_truncated(r, s->buf.size));
		return true;
	}
	if (s->mode == MODE_SYNCHRONOUS)
		return false;
	struct gompi_message *m = self_message(l, s);
	if (gompi_message_reserve(m, s->buf.size))
		gompi_buffer_pack(&s->buf, m->data, 0, s->buf.size);
	gompi_add_unexpected(l, q, m);
	return true;
}

bool gompi_send_self_eager(struct gompi_vci *l, const struct gompi_request *s) {
	if (s->buf.size > RECORD_MAX_DATA || s->mode == MODE_SYNCHRONOUS)
		return false;
	gompi_vci_lock(l);
	bool delivered = deliver_to_self(l, gompi_queue_of(&l->queues, s->context), s);
	gompi_vci_unlock_started(l);
	return delivered;
}

static __attribute__((noinline)) void send_to_self(struct gompi_vci *l, struct gompi_request *s) {
	s->peer_link = NULL;
	struct gompi_queue *q = gompi_queue_of(&l->queues, s->context);
	if (deliver_to_self(l, q, s)) {
		gompi_send_complete(l, s, MPI_SUCCESS);
		return;
	}
	struct gompi_message *m = self_message(l, s);
	m->sender_waits = s->blocking;
	m->self_send = s;
	m->id = (uintptr_t)s;
	struct gompi_entry *e = gompi_list_find_receive(&q->posted, s->source, s->tag);
	if (e != NULL) {
		gompi_unpost_receive(l, (struct gompi_request *)e);
		gompi_start_rendezvous(l, (struct gompi_request *)e, m);
		return;
	}
	gompi_add_unexpected(l, q, m);
}

void gompi_send_locked(struct gompi_vci *l, struct gompi_request *r) {
	struct gompi_messages *m = l->messages;
	if (r->world == m->node.self) {
		send_to_self(l, r);
		return;
	}
	struct gompi_link *p = gompi_link_to(l, r->world);
	r->peer_link = p;
	bool small = r->buf.size <= (gompi_is_remote(p) ? REMOTE_MAX_DATA : RECORD_MAX_DATA) && !r->use_rendezvous;
	if (!small || r->mode == MODE_SYNCHRONOUS)
		gompi_send_assign_id(l, r);
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
	gompi_post_record(l, p, &w);
}

void gompi_handle_ack(struct gompi_vci *l, const struct gompi_record *h) {
	struct gompi_request *r = gompi_id_find(&l->send_ids, h->id);
	if (r == NULL || r->peer_link == NULL || r->peer_link->world != h->from || r->transfer_bytes != 0 ||
	    r->record_pending)
		return;
	int class = h->class;
	if (class < 0 || class > MPI_ERR_LASTCODE)
		class = MPI_ERR_OTHER;
	gompi_send_complete(l, r, class);
}
