// Waiting until the messages of an attached buffer have left.
#include <stdlib.h>

#include "base/call.h"
#include "message/attached.h"
#include "message/call.h"

// A wait until all messages of a buffer up to a number have left.
struct leaving {
	struct gompi_messages *m;
	struct gompi_bsend_buffer *a;
	uint64_t number;
};

static bool have_left(const struct leaving *w) {
	// acquire: pairs with the release in gompi_attached_left
	uint64_t oldest = gompi_load_acquire(&w->a->oldest);
	return oldest == 0 || oldest > w->number;
}

static int broken_lane(const struct gompi_messages *m) {
	int class = MPI_SUCCESS;
	for (int i = 0; i < GOMPI_LANES && class == MPI_SUCCESS; i++)
		class = (int)gompi_load(&m->lane[i].broken);
	return class;
}

static bool have_left_or_cannot(void *arg) {
	const struct leaving *w = arg;
	return have_left(w) || broken_lane(w->m) != MPI_SUCCESS;
}

static int await_leaving(struct leaving w, const char *call, struct gompi_verdict *v) {
	if (have_left(&w))
		return MPI_SUCCESS;
	int class = gompi_await(&gompi_messages_cell(w.m, w.m->node.me)->wait, have_left_or_cannot, &w,
				&(struct gompi_waiting){.call = call, .peer = GOMPI_PEERS_SEVERAL});
	gompi_call_step(w.m);
	if (have_left(&w))
		return MPI_SUCCESS;
	return gompi_request_lost(class != MPI_SUCCESS ? class : broken_lane(w.m), v);
}

int gompi_attached_end_later(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call, void **addr,
			     int64_t *size, struct gompi_verdict *v) {
	int class = MPI_SUCCESS;
	while (class == MPI_SUCCESS && !gompi_attached_end(a, addr, size))
		class = await_leaving((struct leaving){m, a, UINT64_MAX}, call, v);
	return class;
}

int gompi_attached_flush(struct gompi_messages *m, struct gompi_bsend_buffer *a, const char *call,
			 struct gompi_verdict *v) {
	if (__builtin_expect(gompi_load_acquire(&a->oldest) == 0, 1))
		return MPI_SUCCESS;
	gompi_mutex_take(&a->lock);
	uint64_t number = a->messages;
	gompi_mutex_give(&a->lock);
	return await_leaving((struct leaving){m, a, number}, call, v);
}

// Removes a flush request that is not complete from the buffer's list. No caller needs it any longer.
static void forget_flush(struct gompi_request *r) {
	if (gompi_load_acquire(&r->state) == REQUEST_COMPLETE)
		return;
	struct gompi_bsend_buffer *a = (struct gompi_bsend_buffer *)r->object;
	gompi_mutex_take(&a->lock);
	for (struct gompi_request **at = &a->flushes; *at != NULL; at = &(*at)->flush.next)
		if (*at == r) {
			*at = r->flush.next;
			break;
		}
	gompi_mutex_give(&a->lock);
}

static const struct gompi_request_kind flush_kind = {.release = forget_flush, .lets_go = true};

MPI_Request gompi_attached_iflush(struct gompi_messages *m, struct gompi_bsend_buffer *a, uint64_t context) {
	if (__builtin_expect(gompi_load_acquire(&a->oldest) == 0, 1))
		return GOMPI_REQUEST_DONE;
	struct gompi_request *r = gompi_request_new(m, context, &flush_kind, (uintptr_t)a);
	if (r == NULL)
		return MPI_REQUEST_NULL;
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
	gompi_mutex_take(&a->lock);
	r->flush.next = NULL;
	r->flush.number = a->messages;
	struct gompi_request **at = &a->flushes;
	while (*at != NULL)
		at = &(*at)->flush.next;
	if (a->first != NULL)
		*at = r;
	else
		gompi_store_release(&r->state, REQUEST_COMPLETE);
	gompi_mutex_give(&a->lock);
	return (MPI_Request)gompi_request_handle(r);
}

int gompi_comm_detach(uintptr_t comm, struct gompi_verdict *v) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)comm);
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	struct gompi_bsend_buffer *a = c != NULL ? gompi_load(&c->attached) : NULL;
	void *addr;
	int64_t size;
	return a != NULL && m != NULL ? gompi_attached_end_later(m, a, gompi_call, &addr, &size, v) : MPI_SUCCESS;
}

void gompi_comm_attached_close(uintptr_t comm) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)comm);
	struct gompi_bsend_buffer *a = c != NULL ? gompi_load(&c->attached) : NULL;
	if (a == NULL)
		return;
	gompi_mutex_take(&a->lock); // the thread that has removed the last message may still hold the lock
	bool over = a->first == NULL;
	gompi_mutex_give(&a->lock);
	gompi_store(&c->attached, NULL);
	if (over) // else messages of a job that has lost a process still refer to it
		free(a);
}
