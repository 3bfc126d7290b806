#include "message/lane.h"

#include <stdlib.h>

enum { MANY = 4096 }; // table size above which the table is freed when no number is in use

struct gompi_request *gompi_request_made(struct gompi_lane *l) {
	struct gompi_request *r = gompi_memory_is_low() ? NULL : calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	gompi_lane_made(l);
	r->lane = l;
	return r;
}

bool gompi_request_drop(struct gompi_request *r) {
	gompi_buffer_drop(&r->buf);
	if (r->kind != NULL && r->kind->drop != NULL)
		r->kind->drop(r);
	r->buf.type = NULL;
	r->kind = NULL;
	bool apart = r->apart;
	if (apart)
		gompi_persistent_give(r);
	return apart;
}

void gompi_request_unmake(struct gompi_request *r) {
	struct gompi_lane *l = r->lane;
	free(r);
	gompi_lane_freed(l);
}

void gompi_lane_freed(struct gompi_lane *l) {
	if (!gompi_crowd_less(&l->crowd))
		return;
	gompi_handles_trim(&l->requests.handles);
}

void gompi_requests_open(struct gompi_requests *s, int i) {
	gompi_handles_open(&s->handles,
			   (uint32_t)GOMPI_KIND_REQUEST << GOMPI_KIND_BITS | (uint32_t)i << GOMPI_REQUEST_NUMBER_BITS,
			   (1 << GOMPI_REQUEST_NUMBER_BITS) - 1);
}

void gompi_requests_close(struct gompi_requests *s) {
	for (struct gompi_request *r = s->spare, *next; r != NULL; r = next) {
		next = r->next;
		free(r);
	}
	gompi_handles_close(&s->handles);
}

uint64_t gompi_number_add(struct gompi_numbers *s, struct gompi_request *r) {
	gompi_add(&s->used, 1);
	s->added++;
	uint32_t i;
	if (s->free != 0) {
		i = s->free - 1;
		s->free = s->at[i].next_free;
	} else {
		if (s->size == s->room) {
			uint32_t room = s->room > 0 ? 2 * s->room : 16;
			struct gompi_number *at = gompi_must_have(room * sizeof *at);
			if (s->size > 0)
				memcpy(at, s->at, s->size * sizeof *at);
			free(s->at);
			s->at = at;
			s->room = room;
		}
		i = s->size++;
		s->at[i].generation = s->first + 1 > 1 ? s->first + 1 : 1;
	}
	s->at[i].request = r;
	return (uint64_t)s->at[i].generation << 32 | i;
}

struct gompi_request *gompi_number_get(const struct gompi_numbers *s, uint64_t id) {
	uint32_t i = (uint32_t)id;
	return i < s->size && s->at[i].generation == id >> 32 ? s->at[i].request : NULL;
}

void gompi_number_remove(struct gompi_numbers *s, uint64_t id) {
	uint32_t i = (uint32_t)id;
	s->at[i].request = NULL;
	if (++s->at[i].generation == 0)
		s->at[i].generation = 1;
	s->at[i].next_free = s->free;
	s->free = i + 1;
	if (gompi_sub(&s->used, 1) == 1 && s->size > MANY) {
		for (uint32_t k = 0; k < s->size; k++)
			if (s->at[k].generation > s->first)
				s->first = s->at[k].generation;
		free(s->at);
		s->at = NULL;
		s->size = s->room = s->free = 0;
	}
}

struct gompi_request *gompi_request_new(struct gompi_messages *m, uint64_t context,
					const struct gompi_request_kind *kind, uintptr_t object) {
	if (m == NULL)
		return NULL;
	struct gompi_lane *l = gompi_lane_of(m, context);
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	if (r != NULL) {
		r->kind = kind;
		r->object = object;
		r->comm = 0;
		r->world = -1;
		r->buf.type = NULL;
		gompi_store(&r->state, REQUEST_ACTIVE);
		if (!gompi_request_add(r)) {
			r->kind = NULL; // the caller still owns the object
			gompi_request_give(r);
			r = NULL;
		}
	}
	gompi_lane_give(l);
	return r;
}

void gompi_request_complete(struct gompi_request *r) {
	struct gompi_lane *l = r->lane;
	gompi_lane_take(l);
	bool freed = r->freed;
	if (!freed) {
		l->completed = true;
		gompi_store_release(&r->state, REQUEST_COMPLETE);
	}
	gompi_lane_give(l);
	struct gompi_verdict nobody;
	if (freed)
		gompi_request_forget(r, &nobody);
}

int gompi_request_forget(struct gompi_request *r, struct gompi_verdict *v) {
	struct gompi_lane *l = r->lane;
	if (r->kind != NULL && r->kind->release != NULL)
		r->kind->release(r);
	int class = r->result.class;
	if (class != MPI_SUCCESS)
		gompi_request_why(r, v);
	gompi_lane_take(l);
	if (r->handled)
		gompi_request_remove(r);
	gompi_request_give(r);
	gompi_lane_give(l);
	return class;
}

void gompi_complete_slow(struct gompi_lane *l, struct gompi_request *r) {
	if (r->kind != NULL) {
		r->kind->over(l, r);
		return;
	}
	if (r->freed) {
		gompi_request_give(r);
		return;
	}
	struct gompi_messages *m = l->home;
	l->completed = true;
	gompi_store_release(&r->state, REQUEST_COMPLETE);
	if (gompi_load(&m->hooks) >= HOOK_PLANS)
		gompi_store_total(&m->stepped, 1);
}

void gompi_request_drop_text(struct gompi_request *r) {
	free(r->text);
	r->text = NULL;
}

void gompi_request_say_text(const struct gompi_request *r, struct gompi_verdict *v) {
	// The text is NULL if memory ran out when it was copied.
	gompi_error(v, r->result.class, "%s",
		    r->text != NULL ? r->text : "the operation failed (out of memory for the text of the error)");
}

int gompi_request_lost(int class, struct gompi_verdict *v) {
	return gompi_error(v, class, "%s",
			   class == MPI_ERR_PROC_ABORTED
				   ? gompi_lost_text()
				   : "the message queue in shared memory is damaged (internal error)");
}

int gompi_request_why(const struct gompi_request *r, struct gompi_verdict *v) {
	const struct gompi_result *s = &r->result;
	if (r->kind != NULL) {
		v->class = s->class;
		r->kind->why(r, v);
		return s->class;
	}
	switch (s->class) {
	case MPI_ERR_TRUNCATE:
		return gompi_error(
			v, s->class,
			"the message from rank %d with tag %d has %llu bytes, but the receive buffer only %lld",
			s->source, s->tag, (unsigned long long)r->full, (long long)r->buf.size);
	case MPI_ERR_BUFFER:
		if (r->receive)
			return gompi_error(v, s->class,
					   "cannot copy %lld bytes from rank %d to %p: the send or the receive buffer "
					   "is not valid memory",
					   (long long)r->want, s->source, (void *)r->buf.at);
		break;
	case MPI_ERR_INTERN:
	case MPI_ERR_PROC_ABORTED:
		return gompi_request_lost(s->class, v);
	}
	if (!r->receive)
		return gompi_error(
			v, s->class,
			"rank %d cannot read the %lld bytes of the message: the send buffer %p is not valid memory",
			r->peer, (long long)r->buf.size, (void *)r->buf.at);
	return gompi_error(v, s->class, "the receive from rank %d failed", s->source);
}
