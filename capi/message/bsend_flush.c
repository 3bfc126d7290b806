// Waits until the messages of an attached buffer have left this process.
#include <stdlib.h>

#include "base/call_name.h"
#include "message/bsend_buffer.h"
#include "message/call.h"
#include "session/session.h"

// A wait until all messages of a buffer up to sequence number seq have left this process.
struct flush_wait {
	struct gompi_messages *m;
	struct gompi_bsend_buffer *buffer;
	uint64_t seq;
};

static bool is_flushed(const struct flush_wait *w) {
	// acquire: pairs with the release in gompi_bsend_release
	uint64_t oldest = gompi_load_acquire(&w->buffer->oldest_seq);
	return oldest == 0 || oldest > w->seq;
}

static bool is_flushed_or_broken(void *arg) {
	const struct flush_wait *w = arg;
	return is_flushed(w) || gompi_messages_inbox_error(w->m) != MPI_SUCCESS;
}

static int wait_flushed(struct flush_wait w, const char *call, struct gompi_error_status *v) {
	if (is_flushed(&w))
		return MPI_SUCCESS;
	int class = gompi_await(&gompi_messages_cell(w.m, w.m->node.local_index)->wait, is_flushed_or_broken, &w,
				&(struct gompi_wait_desc){.call = call, .peer = GOMPI_PEERS_SEVERAL});
	gompi_call_run_plans(w.m);
	if (is_flushed(&w))
		return MPI_SUCCESS;
	return gompi_request_fill_failure(class != MPI_SUCCESS ? class : gompi_messages_inbox_error(w.m), v);
}

int gompi_bsend_detach(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call, void **addr,
		       int64_t *size, struct gompi_error_status *v) {
	int class = MPI_SUCCESS;
	while (class == MPI_SUCCESS && !gompi_bsend_try_detach(a, addr, size))
		class = wait_flushed((struct flush_wait){m, a, UINT64_MAX}, call, v);
	return class;
}

int gompi_bsend_flush(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call,
		      struct gompi_error_status *v) {
	if (__builtin_expect(gompi_load_acquire(&a->oldest_seq) == 0, 1))
		return MPI_SUCCESS;
	gompi_mutex_lock(&a->lock);
	uint64_t number = a->last_seq;
	gompi_mutex_unlock(&a->lock);
	return wait_flushed((struct flush_wait){m, a, number}, call, v);
}

// Removes a flush request from the buffer's list, unless the request is complete. Called when the request is released.
static void cancel_flush(struct gompi_request *r) {
	if (gompi_load_acquire(&r->state) == REQUEST_COMPLETE)
		return;
	struct gompi_bsend_buffer *a = (struct gompi_bsend_buffer *)r->object;
	gompi_mutex_lock(&a->lock);
	for (struct gompi_request **at = &a->flush_requests; *at != NULL; at = &(*at)->flush.next)
		if (*at == r) {
			*at = r->flush.next;
			break;
		}
	gompi_mutex_unlock(&a->lock);
}

static const struct gompi_request_kind flush_kind = {.release = cancel_flush, .frees_at_once = true};

MPI_Request gompi_bsend_iflush(struct gompi_messages *m, struct gompi_bsend_buffer *a, uint64_t context) {
	if (__builtin_expect(gompi_load_acquire(&a->oldest_seq) == 0, 1))
		return GOMPI_REQUEST_DONE;
	struct gompi_request *r = gompi_request_new(m, context, &flush_kind, (uintptr_t)a);
	if (r == NULL)
		return MPI_REQUEST_NULL;
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
	gompi_mutex_lock(&a->lock);
	r->flush.next = NULL;
	r->flush.last_seq = a->last_seq;
	struct gompi_request **at = &a->flush_requests;
	while (*at != NULL)
		at = &(*at)->flush.next;
	if (a->first != NULL)
		*at = r;
	else
		gompi_store_release(&r->state, REQUEST_COMPLETE);
	gompi_mutex_unlock(&a->lock);
	return (MPI_Request)gompi_request_handle(r);
}

struct gompi_bsend_buffer *gompi_bsend_session_buffer(const struct gompi_comm *c) {
	struct gompi_session *s = gompi_session_get((MPI_Session)(uintptr_t)(uint32_t)c->peers.session);
	// acquire: pairs with the compare-and-swap in create_buffer
	struct gompi_bsend_buffer *a = s != NULL ? gompi_load_acquire(&s->bsend_buffer) : NULL;
	return a != NULL && gompi_load(&a->free_bytes_plus_1) != 0 ? a : NULL;
}

// Detaches a buffer; does nothing if a is NULL.
static int detach_if_any(struct gompi_bsend_buffer *a, struct gompi_error_status *v) {
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	void *addr;
	int64_t size;
	return a != NULL && m != NULL ? gompi_bsend_detach(m, a, gompi_call_name, &addr, &size, v) : MPI_SUCCESS;
}

// Frees the buffer descriptor of an object.
static void free_buffer(struct gompi_bsend_buffer *_Atomic *field) {
	struct gompi_bsend_buffer *a = gompi_load(field);
	if (a == NULL)
		return;
	gompi_mutex_lock(&a->lock); // the thread that has removed the last message may still hold the lock
	bool is_empty = a->first == NULL;
	gompi_mutex_unlock(&a->lock);
	gompi_store(field, NULL);
	if (is_empty) // else a process has failed, and messages still refer to the buffer
		free(a);
}

int gompi_comm_bsend_detach(uintptr_t comm, struct gompi_error_status *v) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)comm);
	return detach_if_any(c != NULL ? gompi_load(&c->bsend_buffer) : NULL, v);
}

void gompi_comm_bsend_free(uintptr_t comm) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)comm);
	if (c != NULL)
		free_buffer(&c->bsend_buffer);
}

int gompi_session_bsend_end(uintptr_t session, struct gompi_error_status *v) {
	struct gompi_session *s = gompi_session_get((MPI_Session)session);
	int class = detach_if_any(gompi_load(&s->bsend_buffer), v);
	if (class == MPI_SUCCESS)
		free_buffer(&s->bsend_buffer);
	return class;
}
