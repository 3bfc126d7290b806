#include "message/engine.h"

#include "base/call.h"
#include "message/call.h"
#include "message/plan.h"

struct gompi_messages *gompi_engine_open(const struct gompi_engine_place *p) {
	struct gompi_node node = {
		.control = p->control,
		.n = p->n,
		.me = p->me,
		.self = p->processes->self,
		.policy = {.oversubscribed = p->oversubscribed},
		.processes = p->processes,
		.cell_stride = p->cell_stride,
		.message_rings = p->rings,
		.message_stride = p->ring_stride,
	};
	return gompi_messages_open(&node, p->no_cma);
}

void gompi_engine_close(struct gompi_messages *m) { gompi_messages_close(m); }
void gompi_engine_enter(struct gompi_messages *m) { gompi_messages_enter(m); }
void gompi_engine_leave(void) { gompi_messages_leave(); }
bool gompi_engine_progress(struct gompi_messages *m) {
	bool worked = (gompi_load(&m->hooks) & HOOK_NETWORK) != 0 && gompi_fabric_progress();
	worked = gompi_messages_progress_all(m) || worked;
	return ((gompi_load(&m->hooks) & HOOK_PLANS) != 0 && gompi_plans_step(m)) || worked;
}
void gompi_engine_remind(struct gompi_messages *m) { gompi_messages_remind(m); }
bool gompi_engine_flushed(struct gompi_messages *m) { return gompi_messages_flushed(m); }
int gompi_engine_broken(struct gompi_messages *m) {
	for (int i = 0; i < GOMPI_LANES; i++)
		if (gompi_load(&m->lane[i].broken) != 0)
			return (int)gompi_load(&m->lane[i].broken);
	return MPI_SUCCESS;
}

static void describe(struct gompi_messages *m, const struct gompi_engine_operation *o, struct gompi_request *r) {
	r->lane = gompi_lane_of(m, o->context);
	r->context = o->context;
	r->comm = o->comm;
	r->source = o->source;
	r->world = o->world;
	r->peer = o->peer;
	r->tag = o->tag;
	r->mode = o->mode;
	r->receive = o->receive;
	r->blocking = o->blocking;
	r->urgent = o->urgent;
	r->persistent = o->persistent;
	r->buf = (struct gompi_buffer){.at = (char *)o->at, .size = o->size, .count = o->count, .skip = o->skip};
	if (o->datatype != 0) {
		r->buf.type = gompi_type_get((MPI_Datatype)o->datatype);
		r->buf.kept = r->buf.type == NULL;
		if (r->buf.kept)
			r->buf.type = (const struct gompi_type *)o->program;
	}
}

struct gompi_request *gompi_engine_start(struct gompi_messages *m, const struct gompi_engine_operation *o,
					 bool *no_memory) {
	struct gompi_request s = {0};
	describe(m, o, &s);
	*no_memory = false;
	if (!s.receive && !s.persistent && gompi_send_at_once(&s))
		return NULL;
	struct gompi_lane *l = s.lane;
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	if (r == NULL) {
		gompi_lane_give(l);
		*no_memory = true;
		return NULL;
	}
	*r = s;
	gompi_buffer_hold(&r->buf);
	if (s.persistent) {
		gompi_store(&r->state, REQUEST_INACTIVE);
		gompi_lane_give(l);
	} else {
		gompi_start_locked(l, r);
		if (s.blocking)
			gompi_lane_end(l);
		else
			gompi_lane_end_started(l);
	}
	gompi_call_step(m);
	return r;
}

// Stores the result of r. v holds the error of the wait or MPI_SUCCESS; in the latter case the error is that of r.
static void tell_result(const struct gompi_request *r, struct gompi_verdict *v, struct gompi_engine_result *out) {
	if (v->class == MPI_SUCCESS && r->result.class != MPI_SUCCESS)
		gompi_request_why(r, v);
	*out = (struct gompi_engine_result){.source = r->result.source,
					    .tag = r->result.tag,
					    .class = v->class,
					    .cancelled = r->result.cancelled,
					    .bytes = r->result.bytes,
					    .text = v->class != MPI_SUCCESS ? strdup(v->text) : NULL};
}

void gompi_engine_result(const struct gompi_request *r, struct gompi_engine_result *out) {
	struct gompi_verdict v = {0};
	tell_result(r, &v, out);
}

bool gompi_engine_do(struct gompi_messages *m, const struct gompi_engine_operation *o,
		     struct gompi_engine_result *out) {
	if (m != gompi_load(&gompi_messages_here))
		return false;
	struct gompi_request r = {0};
	struct gompi_verdict v = {0};
	describe(m, o, &r);
	if (r.receive) {
		gompi_buffer_hold(&r.buf);
		gompi_receive_blocking(&r, gompi_current_call());
		gompi_buffer_drop(&r.buf);
	} else if (!gompi_send_at_once(&r)) {
		v.class = gompi_send_class(&r, gompi_current_call(), &v);
	}
	tell_result(&r, &v, out);
	return true;
}

struct gompi_request *gompi_engine_receive(struct gompi_message *msg, const struct gompi_engine_operation *o) {
	struct gompi_lane *l = msg->lane;
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	if (r != NULL) {
		describe(l->home, o, r);
		r->lane = l;
		gompi_buffer_hold(&r->buf);
		gompi_receive_message(l, r, msg);
	}
	gompi_lane_end_started(l);
	gompi_call_step(l->home);
	return r;
}

void gompi_engine_restart(struct gompi_request *r) {
	struct gompi_verdict v;
	if (r->kind == NULL) {
		gompi_request_restart(r);
		return;
	}
	gompi_store(&r->state, REQUEST_ACTIVE);
	r->kind->start(r, &v);
}

void gompi_engine_cancel(struct gompi_request *r) {
	gompi_lane_take(r->lane);
	gompi_cancel_locked(r->lane, r);
	gompi_lane_end(r->lane);
	gompi_call_step(r->lane->home);
}

void gompi_engine_free(struct gompi_request *r) {
	struct gompi_lane *l = r->lane;
	struct gompi_verdict v;
	if (r->kind != NULL && gompi_load(&r->state) != REQUEST_ACTIVE) {
		gompi_request_forget(r, &v);
		return;
	}
	gompi_lane_take(l);
	if (r->handled)
		gompi_request_remove(r);
	if (gompi_load(&r->state) == REQUEST_ACTIVE)
		r->freed = true;
	else
		gompi_request_give(r);
	gompi_lane_give(l);
}

uint32_t *gompi_engine_state(struct gompi_request *r) { return (uint32_t *)&r->state; }

uintptr_t gompi_engine_handle(struct gompi_request *r) {
	gompi_lane_take(r->lane);
	bool fine = r->handled || gompi_request_add(r);
	gompi_lane_give(r->lane);
	return fine ? gompi_request_handle(r) : 0;
}

bool gompi_engine_is_receive(const struct gompi_request *r) { return r->receive; }
bool gompi_engine_is_persistent(const struct gompi_request *r) { return r->persistent; }

struct gompi_message *gompi_engine_probe(struct gompi_messages *m, uint64_t context, int32_t source, int32_t tag,
					 bool take, uintptr_t comm, struct gompi_engine_result *out) {
	struct gompi_lane *l = gompi_lane_of(m, context);
	gompi_lane_take(l);
	struct gompi_message *found = gompi_probe_locked(l, context, source, tag, take);
	if (found != NULL) {
		*out = (struct gompi_engine_result){
			.source = found->entry.source, .tag = found->entry.tag, .bytes = found->size};
		if (take)
			found->comm = comm;
	}
	gompi_lane_end(l);
	return found;
}

uint64_t gompi_engine_arrived(struct gompi_messages *m, uint64_t context) {
	return gompi_load_total(&gompi_lane_of(m, context)->arrived);
}

void gompi_engine_forget(struct gompi_messages *m, uint64_t context, int n) { gompi_messages_forget(m, context, n); }

void gompi_engine_stock(struct gompi_messages *m, struct gompi_engine_stock *out) {
	*out = (struct gompi_engine_stock){0};
	for (int i = 0; i < GOMPI_LANES; i++) {
		struct gompi_lane *l = &m->lane[i];
		gompi_lane_take(l);
		out->sends += gompi_load(&l->sends.used);
		out->receives += gompi_load(&l->receives.used);
		out->number_places += l->sends.size;
		out->numbers_added += (int64_t)l->sends.added;
		out->in_pieces += (int64_t)l->receives.added;
		out->picked += l->picked.n;
		out->held += l->held;
		out->backlog += gompi_load(&l->backlog);
		out->queues += l->queues.n;
		out->asks = out->asks || l->flow != FLOW_ALONG;
		for (uint32_t k = 0; l->queues.bucket != NULL && k <= l->queues.mask; k++)
			for (struct gompi_queue *q = l->queues.bucket[k]; q != NULL; q = q->next) {
				out->posted += q->posted.n;
				out->unexpected += q->unexpected.n;
			}
		gompi_lane_give(l);
	}
}

void gompi_engine_inject(struct gompi_messages *m, const void *record, int64_t n) {
	const struct gompi_record *h = record;
	struct gompi_lane *l = gompi_lane_of(m, h->context);
	if (gompi_record_length(h->word) != n)
		return;
	gompi_lane_take(l);
	gompi_handle_record(l, h, gompi_record_data((struct gompi_record *)(uintptr_t)h, gompi_record_data_size(n)));
	gompi_lane_end(l);
}
