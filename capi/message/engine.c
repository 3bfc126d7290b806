#include "message/engine.h"

#include "base/call_name.h"
#include "base/service.h"
#include "message/call.h"
#include "message/plan.h"

struct gompi_messages *gompi_engine_open(const struct gompi_engine_config *p) {
	struct gompi_node node = {
		.control = p->control,
		.n = p->n,
		.local_index = p->me,
		.self = p->processes->self,
		.policy = {.is_oversubscribed = p->oversubscribed},
		.processes = p->processes,
		.cell_stride = p->cell_stride,
		.message_rings = p->rings,
		.message_stride = p->ring_stride,
	};
	return gompi_messages_open(&node, p->no_cma);
}

void gompi_engine_close(struct gompi_messages *m) { gompi_messages_close(m); }
void gompi_engine_attach(struct gompi_messages *m) { gompi_messages_attach(m); }
void gompi_engine_detach(void) { gompi_messages_detach(); }
bool gompi_engine_progress(struct gompi_messages *m) {
	bool worked = (gompi_load(&m->hooks) & HOOK_NETWORK) != 0 && gompi_fabric_progress();
	worked = gompi_messages_progress_all(m) || worked;
	return ((gompi_load(&m->hooks) & HOOK_PLANS) != 0 && gompi_plans_progress(m)) || worked;
}
void gompi_engine_remind(struct gompi_messages *m) { gompi_messages_remind(m); }
bool gompi_engine_flushed(struct gompi_messages *m) { return gompi_messages_flushed(m); }
int gompi_engine_inbox_error(struct gompi_messages *m) { return gompi_messages_inbox_error(m); }

static void fill_request(struct gompi_messages *m, const struct gompi_engine_operation *o, struct gompi_request *r) {
	r->vci = gompi_vci_of(m, o->context);
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
	r->buf = (struct gompi_buffer){.at = (char *)o->at, .size = o->size, .count = o->count};
	if (o->datatype != 0) {
		r->buf.type = gompi_type_get((MPI_Datatype)o->datatype);
		r->buf.type_held_by_owner = r->buf.type == NULL;
		if (r->buf.type_held_by_owner)
			r->buf.type = (const struct gompi_type *)o->program;
	}
}

struct gompi_request *gompi_engine_start(struct gompi_messages *m, const struct gompi_engine_operation *o,
					 bool *no_memory) {
	struct gompi_request s = {0};
	fill_request(m, o, &s);
	*no_memory = false;
	if (!s.receive && !s.persistent && gompi_try_send(&s))
		return NULL;
	struct gompi_vci *l = s.vci;
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_alloc(l);
	if (r == NULL) {
		gompi_vci_unlock(l);
		*no_memory = true;
		return NULL;
	}
	*r = s;
	gompi_buffer_retain(&r->buf);
	if (s.persistent) {
		gompi_store(&r->state, REQUEST_INACTIVE);
		gompi_vci_unlock(l);
	} else {
		gompi_start_locked(l, r);
		if (s.blocking)
			gompi_vci_unlock_progress(l);
		else
			gompi_vci_unlock_started(l);
	}
	gompi_call_run_plans(m);
	return r;
}

// Stores the result of r in *out. If the wait has failed, v describes its error. Otherwise v->class is MPI_SUCCESS, and
// the result has the error of r.
static void fill_result(const struct gompi_request *r, struct gompi_error_status *v, struct gompi_engine_result *out) {
	if (v->class == MPI_SUCCESS && r->result.class != MPI_SUCCESS)
		gompi_request_error_detail(r, v);
	*out = (struct gompi_engine_result){.source = r->result.source,
					    .tag = r->result.tag,
					    .class = v->class,
					    .cancelled = r->result.cancelled,
					    .bytes = r->result.bytes,
					    .text = v->class != MPI_SUCCESS ? strdup(v->text) : NULL};
}

void gompi_engine_result(const struct gompi_request *r, struct gompi_engine_result *out) {
	struct gompi_error_status v = {0};
	fill_result(r, &v, out);
}

bool gompi_engine_perform(struct gompi_messages *m, const struct gompi_engine_operation *o,
			  struct gompi_engine_result *out) {
	if (m != gompi_load(&gompi_app_messages))
		return false;
	struct gompi_request r = {0};
	struct gompi_error_status v = {0};
	fill_request(m, o, &r);
	gompi_request_set_depends_on_all(o->depends_on_all);
	gompi_request_set_outer(o->outer);
	if (r.receive) {
		gompi_buffer_retain(&r.buf);
		gompi_request_set_members((const int32_t *)o->members, o->member_count);
		gompi_receive_blocking(&r, gompi_current_call());
		gompi_request_set_members(NULL, 0);
		gompi_buffer_release(&r.buf);
	} else if (!gompi_try_send(&r)) {
		v.class = gompi_send_wait(&r, gompi_current_call(), &v);
	}
	gompi_request_set_depends_on_all(false);
	gompi_request_set_outer(0);
	fill_result(&r, &v, out);
	// the caller may pass the class to members that do not know of the revocation yet
	if (out->class == MPI_ERR_PROC_ABORTED && gompi_services_revoked(o->comm != 0 ? o->comm : o->outer))
		out->class = MPIX_ERR_REVOKED;
	return true;
}

struct gompi_request *gompi_engine_receive(struct gompi_message *msg, const struct gompi_engine_operation *o) {
	struct gompi_vci *l = msg->vci;
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_alloc(l);
	if (r != NULL) {
		fill_request(l->messages, o, r);
		r->vci = l;
		gompi_buffer_retain(&r->buf);
		gompi_receive_message(l, r, msg);
	}
	gompi_vci_unlock_started(l);
	gompi_call_run_plans(l->messages);
	return r;
}

void gompi_engine_restart(struct gompi_request *r) {
	struct gompi_error_status v;
	if (r->kind == NULL) {
		gompi_request_restart(r);
		return;
	}
	gompi_store(&r->state, REQUEST_ACTIVE);
	r->kind->start(r, &v);
}

void gompi_engine_cancel(struct gompi_request *r) {
	gompi_vci_lock(r->vci);
	gompi_cancel_locked(r->vci, r);
	gompi_vci_unlock_progress(r->vci);
	gompi_call_run_plans(r->vci->messages);
}

void gompi_engine_free(struct gompi_request *r) {
	struct gompi_vci *l = r->vci;
	struct gompi_error_status v;
	if (r->kind != NULL && gompi_load(&r->state) != REQUEST_ACTIVE) {
		gompi_request_destroy(r, &v);
		return;
	}
	gompi_vci_lock(l);
	if (r->has_handle)
		gompi_request_drop_handle(r);
	if (gompi_load(&r->state) == REQUEST_ACTIVE)
		r->freed = true;
	else
		gompi_request_release(r);
	gompi_vci_unlock(l);
}

uint32_t *gompi_engine_state(struct gompi_request *r) { return (uint32_t *)&r->state; }

uintptr_t gompi_engine_handle(struct gompi_request *r) {
	gompi_vci_lock(r->vci);
	bool has_handle = r->has_handle || gompi_request_add_handle(r);
	gompi_vci_unlock(r->vci);
	return has_handle ? gompi_request_handle(r) : 0;
}

bool gompi_engine_is_persistent(const struct gompi_request *r) { return r->persistent; }

struct gompi_message *gompi_engine_probe(struct gompi_messages *m, uint64_t context, int32_t source, int32_t tag,
					 bool extract, uintptr_t comm, struct gompi_engine_result *out) {
	struct gompi_vci *l = gompi_vci_of(m, context);
	gompi_vci_lock(l);
	struct gompi_message *found = gompi_probe_locked(l, context, source, tag);
	if (found != NULL) {
		*out = (struct gompi_engine_result){
			.source = found->entry.source, .tag = found->entry.tag, .bytes = found->size};
		if (extract) {
			gompi_message_extract(l, context, found);
			found->comm = comm;
		}
	}
	gompi_vci_unlock_progress(l);
	return found;
}

void gompi_engine_close_contexts(struct gompi_messages *m, uint64_t context, int n) {
	gompi_close_contexts(m, context, n);
}

void gompi_engine_counts(struct gompi_messages *m, struct gompi_engine_counts *out) {
	*out = (struct gompi_engine_counts){0};
	for (int i = 0; i < GOMPI_VCI_COUNT; i++) {
		struct gompi_vci *l = &m->vci[i];
		gompi_vci_lock(l);
		out->sends += gompi_load(&l->send_ids.used);
		out->receives += gompi_load(&l->receive_ids.used);
		out->id_entries += l->send_ids.entries_used;
		out->ids_added += (int64_t)l->send_ids.total_added;
		out->fragmented_receives += (int64_t)l->receive_ids.total_added;
		out->extracted += l->extracted.count;
		out->unexpected_bytes += l->unexpected_bytes;
		out->pending_links += gompi_load(&l->pending_links);
		out->queues += l->queues.n;
		out->throttles = out->throttles || l->flow != FLOW_EAGER;
		for (uint32_t k = 0; l->queues.bucket != NULL && k <= l->queues.mask; k++)
			for (struct gompi_queue *q = l->queues.bucket[k]; q != NULL; q = q->next) {
				out->posted += q->posted.count;
				out->unexpected += q->unexpected.count;
			}
		gompi_vci_unlock(l);
	}
}

void gompi_engine_inject(struct gompi_messages *m, const void *record, int64_t n) {
	const struct gompi_record *h = record;
	struct gompi_vci *l = gompi_vci_of(m, h->context);
	if (gompi_record_length(h->word) != n)
		return;
	gompi_vci_lock(l);
	gompi_handle_record(l, h, gompi_record_data((struct gompi_record *)(uintptr_t)h, gompi_record_data_size(n)));
	gompi_vci_unlock_progress(l);
}
