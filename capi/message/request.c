#include "message/vci.h"

#include <stdlib.h>

enum { MIN_FREED_ENTRIES = 4096 }; // a table of ids with more entries than this is freed when no id is in use

struct gompi_request *gompi_request_alloc_slow(struct gompi_vci *l) {
	struct gompi_request *r = gompi_memory_is_low() ? NULL : calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	gompi_vci_count_alloc(l);
	r->vci = l;
	return r;
}

bool gompi_request_drop_refs(struct gompi_request *r) {
	gompi_buffer_release(&r->buf);
	if (r->kind != NULL && r->kind->free_object != NULL)
		r->kind->free_object(r);
	r->buf.type = NULL;
	r->kind = NULL;
	bool is_persistent = r->in_persistent_table;
	if (is_persistent)
		gompi_persistent_release(r);
	return is_persistent;
}

void gompi_request_dealloc(struct gompi_request *r) {
	struct gompi_vci *l = r->vci;
	free(r);
	gompi_vci_count_free(l);
}

void gompi_vci_count_free(struct gompi_vci *l) {
	if (!gompi_live_count_dec(&l->live_count))
		return;
	gompi_handles_trim(&l->requests.handles);
}

void gompi_requests_open(struct gompi_requests *s, int i) {
	gompi_handles_open(&s->handles,
			   (uint32_t)GOMPI_KIND_REQUEST << GOMPI_KIND_BITS | (uint32_t)i << GOMPI_REQUEST_INDEX_BITS,
			   (1 << GOMPI_REQUEST_INDEX_BITS) - 1);
}

void gompi_requests_close(struct gompi_requests *s) {
	gompi_free_all(s->free_list, offsetof(struct gompi_request, next));
	gompi_handles_close(&s->handles);
}

uint64_t gompi_id_add(struct gompi_id_table *s, struct gompi_request *r) {
	gompi_add(&s->used, 1);
	s->total_added++;
	uint32_t i;
	if (s->first_free != 0) {
		i = s->first_free - 1;
		s->first_free = s->entries[i].next_free;
	} else {
		if (s->entries_used == s->capacity) {
			uint32_t capacity = s->capacity > 0 ? 2 * s->capacity : 16;
			struct gompi_id_entry *at = gompi_alloc_or_abort(capacity * sizeof *at);
			if (s->entries_used > 0)
				memcpy(at, s->entries, s->entries_used * sizeof *at);
			free(s->entries);
			s->entries = at;
			s->capacity = capacity;
		}
		i = s->entries_used++;
		s->entries[i].generation = s->first_generation + 1 > 1 ? s->first_generation + 1 : 1;
	}
	s->entries[i].request = r;
	return (uint64_t)s->entries[i].generation << 32 | i;
}

struct gompi_request *gompi_id_find(const struct gompi_id_table *s, uint64_t id) {
	uint32_t i = (uint32_t)id;
	return i < s->entries_used && s->entries[i].generation == id >> 32 ? s->entries[i].request : NULL;
}

void gompi_id_remove(struct gompi_id_table *s, uint64_t id) {
	uint32_t i = (uint32_t)id;
	s->entries[i].request = NULL;
	if (++s->entries[i].generation == 0)
		s->entries[i].generation = 1;
	s->entries[i].next_free = s->first_free;
	s->first_free = i + 1;
	if (gompi_sub(&s->used, 1) == 1 && s->entries_used > MIN_FREED_ENTRIES) {
		for (uint32_t k = 0; k < s->entries_used; k++)
			if (s->entries[k].generation > s->first_generation)
				s->first_generation = s->entries[k].generation;
		free(s->entries);
		s->entries = NULL;
		s->entries_used = s->capacity = s->first_free = 0;
	}
}

struct gompi_request *gompi_request_new(struct gompi_messages *m, uint64_t context,
					const struct gompi_request_kind *kind, uintptr_t object) {
	if (m == NULL)
		return NULL;
	struct gompi_vci *l = gompi_vci_of(m, context);
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_alloc(l);
	if (r != NULL) {
		r->kind = kind;
		r->object = object;
		r->comm = 0;
		r->world = -1;
		r->buf.type = NULL;
		gompi_store(&r->state, REQUEST_ACTIVE);
		if (!gompi_request_add_handle(r)) {
			r->kind = NULL; // prevents free_object: the caller still owns the object
			gompi_request_release(r);
			r = NULL;
		}
	}
	gompi_vci_unlock(l);
	return r;
}

void gompi_request_complete(struct gompi_request *r) {
	struct gompi_vci *l = r->vci;
	gompi_vci_lock(l);
	bool freed = r->freed;
	if (!freed) {
		l->has_completions = true;
		gompi_store_release(&r->state, REQUEST_COMPLETE);
	}
	gompi_vci_unlock(l);
	struct gompi_error_status ignored;
	if (freed)
		gompi_request_destroy(r, &ignored);
}

int gompi_request_destroy(struct gompi_request *r, struct gompi_error_status *v) {
	struct gompi_vci *l = r->vci;
	if (r->kind != NULL && r->kind->release != NULL)
		r->kind->release(r);
	int class = r->result.class;
	if (class != MPI_SUCCESS)
		gompi_request_error_detail(r, v);
	gompi_vci_lock(l);
	if (r->has_handle)
		gompi_request_drop_handle(r);
	gompi_request_release(r);
	gompi_vci_unlock(l);
	return class;
}

void gompi_complete_slow(struct gompi_vci *l, struct gompi_request *r) {
	if (r->kind != NULL) {
		r->kind->on_complete(l, r);
		return;
	}
	if (r->freed) {
		gompi_request_release(r);
		return;
	}
	struct gompi_messages *m = l->messages;
	l->has_completions = true;
	gompi_store_release(&r->state, REQUEST_COMPLETE);
	if (gompi_load(&m->hooks) >= HOOK_PLANS)
		gompi_store_seq_cst(&m->plan_may_continue, 1);
}

void gompi_request_free_text(struct gompi_request *r) {
	free(r->text);
	r->text = NULL;
}

void gompi_request_text_detail(const struct gompi_request *r, struct gompi_error_status *v) {
	// The text is NULL if memory ran out when it was copied.
	gompi_set_error(v, r->result.class, "%s",
			r->text != NULL ? r->text
					: "the operation failed; out of memory for a text that describes the error");
}

int gompi_request_fill_failure(int class, struct gompi_error_status *v) {
	return gompi_set_error(v, class, "%s",
			       class == MPI_ERR_INTERN
				       ? "the message queue in shared memory is damaged (internal error)"
				       : gompi_failure_text());
}

int gompi_request_error_detail(const struct gompi_request *r, struct gompi_error_status *v) {
	const struct gompi_result *s = &r->result;
	if (r->kind != NULL) {
		v->class = s->class;
		r->kind->error_detail(r, v);
		return s->class;
	}
	switch (s->class) {
	case MPI_ERR_TRUNCATE:
		return gompi_set_error(
			v, s->class,
			"the message from rank %d with tag %d has %llu bytes, but the receive buffer has only %lld",
			s->source, s->tag, (unsigned long long)r->size_or_receive_id, (long long)r->buf.size);
	case MPI_ERR_BUFFER:
		if (r->receive)
			return gompi_set_error(
				v, s->class,
				"cannot copy %lld bytes from rank %d to %p: the send or the receive buffer "
				"is not valid memory",
				(long long)r->transfer_bytes, s->source, (void *)r->buf.at);
		break;
	case MPI_ERR_INTERN:
	case MPI_ERR_PROC_ABORTED:
	case MPIX_ERR_PROC_FAILED:
	case MPIX_ERR_REVOKED:
		return gompi_request_fill_failure(s->class, v);
	}
	if (!r->receive)
		return gompi_set_error(
			v, s->class,
			"rank %d cannot read the %lld bytes of the message: the send buffer %p is not valid memory",
			r->peer, (long long)r->buf.size, (void *)r->buf.at);
	return gompi_set_error(v, s->class,
			       "cannot receive the data of the message from rank %d; the error class states the reason",
			       s->source);
}
