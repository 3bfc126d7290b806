// Unexpected messages: those that have arrived before their receive, and their descriptors.
#include "message/messages.h"

#include <stdlib.h>

// Flow control of a VCI: when unexpected messages hold more than THROTTLE_ON_BYTES bytes, the process asks senders to
// keep their data. Below THROTTLE_OFF_BYTES bytes it allows eager messages again.
enum {
	THROTTLE_ON_BYTES = 32 << 20,
	THROTTLE_OFF_BYTES = 16 << 20,
	ENTRY_COST_BYTES = 256,        // bytes that flow control counts for a message besides its data
	MAX_FREE_MESSAGES = 256,       // maximum length of the free list of messages
	MAX_FREE_DATA_BYTES = 2 << 20, // maximum bytes of the data buffers in the free list
	MIN_DATA_BYTES = 64,           // minimum bytes of a data buffer
};

struct gompi_message *gompi_message_alloc(struct gompi_vci *l) {
	struct gompi_message *m = l->free_messages;
	if (m != NULL) {
		l->free_messages = m->next;
		l->free_message_count--;
		l->free_message_bytes -= m->data_capacity;
		struct gompi_message reset = {
			.data = m->data, .data_capacity = m->data_capacity, .index_links = m->index_links, .vci = l};
		*m = reset;
		return m;
	}
	m = gompi_alloc_or_abort(sizeof *m);
	gompi_vci_count_alloc(l);
	m->vci = l;
	return m;
}

void gompi_message_release(struct gompi_vci *l, struct gompi_message *m) {
	if (m->segment != NULL && m->segment != &m->single_segment)
		free(m->segment);
	m->segment = NULL;
	if (l->free_message_bytes + m->data_capacity > MAX_FREE_DATA_BYTES) {
		free(m->data);
		m->data = NULL;
		m->data_capacity = 0;
	}
	if (l->free_message_count == MAX_FREE_MESSAGES) {
		free(m->data);
		free(m->index_links);
		free(m);
		gompi_vci_count_free(l);
		return;
	}
	m->next = l->free_messages;
	l->free_messages = m;
	l->free_message_count++;
	l->free_message_bytes += m->data_capacity;
}

bool gompi_message_grow(struct gompi_message *m, int64_t n) {
	free(m->data);
	m->data_capacity = n < MIN_DATA_BYTES ? MIN_DATA_BYTES : n;
	m->data = malloc((size_t)m->data_capacity);
	if (m->data != NULL)
		return true;
	m->data_capacity = 0;
	m->fetch_error = MPI_ERR_NO_MEM;
	return false;
}

static void send_flow(struct gompi_vci *l, struct gompi_link *p, enum gompi_flow flow) {
	p->throttled = flow == FLOW_RENDEZVOUS;
	gompi_post_record(l, p,
			  &(struct gompi_pending){.record = {.word = gompi_record_word(RECORD_FLOW, 0, 0),
							     .from = l->messages->node.self,
							     .size = flow}});
}

void gompi_handle_flow(struct gompi_vci *l, const struct gompi_record *h) {
	if (gompi_messages_node_index(l->messages, h->from) < 0)
		gompi_store(&gompi_link_to(l, h->from)->flow, h->size != FLOW_EAGER ? FLOW_RENDEZVOUS : FLOW_EAGER);
}

void gompi_throttle_peer(struct gompi_vci *l, int32_t peer) {
	struct gompi_link *p = gompi_link_to(l, peer);
	if (p->throttled)
		return;
	p->next_throttled = l->first_throttled;
	l->first_throttled = p;
	send_flow(l, p, FLOW_RENDEZVOUS);
}

static __attribute__((noinline)) void set_flow(struct gompi_vci *l, enum gompi_flow f) {
	l->flow = f;
	gompi_store_seq_cst(&l->inbox->flow, f);
	if (f == FLOW_RENDEZVOUS)
		return; // peers on other nodes are asked when their next message arrives (gompi_throttle_peer)
	for (struct gompi_link *p = l->first_throttled; p != NULL; p = p->next_throttled)
		send_flow(l, p, FLOW_EAGER);
	l->first_throttled = NULL;
}

// Returns the number of data bytes that a message holds in this process.
static int64_t held_bytes(const struct gompi_message *m) { return m->rts || m->self_send != NULL ? 0 : m->size; }

void gompi_add_unexpected(struct gompi_vci *l, struct gompi_queue *q, struct gompi_message *m) {
	gompi_list_add(&q->unexpected, &m->entry);
	l->unexpected_bytes += held_bytes(m) + ENTRY_COST_BYTES;
	if (l->flow == FLOW_EAGER && l->unexpected_bytes > THROTTLE_ON_BYTES)
		set_flow(l, FLOW_RENDEZVOUS);
	gompi_store(&l->unexpected_count, gompi_load(&l->unexpected_count) + 1);
	gompi_add_seq_cst(&l->unexpected_arrived, 1);
	l->has_completions = true; // wakes threads that probe
}

void gompi_remove_unexpected(struct gompi_vci *l, struct gompi_queue *q, struct gompi_message *m) {
	gompi_list_remove(&q->unexpected, &m->entry);
	gompi_store(&l->unexpected_count, gompi_load(&l->unexpected_count) - 1);
	l->unexpected_bytes -= held_bytes(m) + ENTRY_COST_BYTES;
	if (l->flow == FLOW_RENDEZVOUS && l->unexpected_bytes < THROTTLE_OFF_BYTES)
		set_flow(l, FLOW_EAGER);
}

void gompi_deliver_unexpected(struct gompi_vci *l, struct gompi_request *r, struct gompi_message *m) {
	if (m->fetch_error != MPI_SUCCESS) {
		r->result = (struct gompi_result){.source = m->entry.source, .tag = m->entry.tag};
		gompi_complete(l, r, m->fetch_error);
	} else {
		gompi_receive_data(l, r, m->entry.source, m->entry.tag, m->data, m->size);
	}
	if (m->id != 0)
		gompi_send_answer(l, m->from, RECORD_ACK, m->id, m->answer_rings_doorbell, MPI_SUCCESS);
	gompi_message_release(l, m);
}
