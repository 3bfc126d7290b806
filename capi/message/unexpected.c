// Unexpected messages: those that have arrived before their receive, and their descriptors.
#include "message/messages.h"

#include <stdlib.h>

// Flow control of a lane: the unexpected messages may hold CONGESTED_FROM bytes before other processes are asked to
// keep their data, and the request ends below CONGESTED_UNTIL bytes.
enum {
	CONGESTED_FROM = 32 << 20,
	CONGESTED_UNTIL = 16 << 20,
	ENTRY_COST = 256,     // bytes that an unexpected message costs besides its data
	SPARES = 256,         // maximum length of the free list of messages
	SPARE_ROOM = 1 << 20, // maximum bytes of the data buffers in that list
	LEAST_ROOM = 64,
};

struct gompi_message *gompi_message_take(struct gompi_lane *l) {
	struct gompi_message *m = l->spare;
	if (m != NULL) {
		l->spare = m->next;
		l->spares--;
		l->spare_room -= m->room;
		struct gompi_message kept = {.data = m->data, .room = m->room, .more = m->more, .lane = l};
		*m = kept;
		return m;
	}
	m = gompi_must_have(sizeof *m);
	gompi_lane_made(l);
	m->lane = l;
	return m;
}

void gompi_message_give(struct gompi_lane *l, struct gompi_message *m) {
	if (m->where != NULL && m->where != &m->one)
		free(m->where);
	m->where = NULL;
	if (l->spare_room + m->room > SPARE_ROOM) {
		free(m->data);
		m->data = NULL;
		m->room = 0;
	}
	if (l->spares == SPARES) {
		free(m->data);
		free(m->more);
		free(m);
		gompi_lane_freed(l);
		return;
	}
	m->next = l->spare;
	l->spare = m;
	l->spares++;
	l->spare_room += m->room;
}

bool gompi_message_widen(struct gompi_message *m, int64_t n) {
	free(m->data);
	m->room = n < LEAST_ROOM ? LEAST_ROOM : n;
	m->data = malloc((size_t)m->room);
	if (m->data != NULL)
		return true;
	m->room = 0;
	m->failed = MPI_ERR_NO_MEM;
	return false;
}

static void ask_flow_of(struct gompi_lane *l, struct gompi_link *p, enum gompi_flow flow) {
	p->told = flow == FLOW_KEEP;
	gompi_post(l, p,
		   &(struct gompi_pending){.record = {.word = gompi_record_word(RECORD_FLOW, 0, 0),
						      .from = l->home->node.self,
						      .size = flow}});
}

void gompi_flow_asked(struct gompi_lane *l, const struct gompi_record *h) {
	if (gompi_messages_process(l->home, h->from) < 0)
		gompi_store(&gompi_link_to(l, h->from)->keep, h->size != FLOW_ALONG ? FLOW_KEEP : FLOW_ALONG);
}

void gompi_flow_ask(struct gompi_lane *l, int32_t peer) {
	struct gompi_link *p = gompi_link_to(l, peer);
	if (p->told)
		return;
	p->told_next = l->told;
	l->told = p;
	ask_flow_of(l, p, FLOW_KEEP);
}

static __attribute__((noinline)) void ask_flow(struct gompi_lane *l, enum gompi_flow f) {
	l->flow = f;
	gompi_store_total(&l->box->flow, f);
	if (f == FLOW_KEEP)
		return; // each peer on another node is asked when its next message arrives
	for (struct gompi_link *p = l->told; p != NULL; p = p->told_next)
		ask_flow_of(l, p, FLOW_ALONG);
	l->told = NULL;
}

// Returns the number of data bytes that a message holds in this process.
static int64_t holds(const struct gompi_message *m) { return m->rts || m->local != NULL ? 0 : m->size; }

void gompi_keep_unexpected(struct gompi_lane *l, struct gompi_queue *q, struct gompi_message *m) {
	gompi_list_add(&q->unexpected, &m->entry);
	l->held += holds(m) + ENTRY_COST;
	if (l->flow == FLOW_ALONG && l->held > CONGESTED_FROM)
		ask_flow(l, FLOW_KEEP);
	gompi_store(&l->kept, gompi_load(&l->kept) + 1);
	gompi_add_total(&l->arrived, 1);
	l->completed = true; // wakes threads that probe
}

void gompi_take_unexpected(struct gompi_lane *l, struct gompi_queue *q, struct gompi_message *m) {
	gompi_list_remove(&q->unexpected, &m->entry);
	gompi_store(&l->kept, gompi_load(&l->kept) - 1);
	l->held -= holds(m) + ENTRY_COST;
	if (l->flow == FLOW_KEEP && l->held < CONGESTED_UNTIL)
		ask_flow(l, FLOW_ALONG);
}

void gompi_deliver_kept(struct gompi_lane *l, struct gompi_request *r, struct gompi_message *m) {
	if (m->failed != MPI_SUCCESS) {
		r->result = (struct gompi_result){.source = m->entry.source, .tag = m->entry.tag};
		gompi_complete(l, r, m->failed);
	} else {
		gompi_take_data(l, r, m->entry.source, m->entry.tag, m->data, m->size);
	}
	if (m->id != 0)
		gompi_answer(l, m->from, RECORD_ACK, m->id, m->call, MPI_SUCCESS);
	gompi_message_give(l, m);
}
