// Buffered sends (MPI-5.0 3.4, 3.6). A small message that can be sent immediately is sent like any other message. For
// other messages a copy waits in the attached buffer (bsend_buffer.h).
#include "message/call.h"
#include "message/z_calls.h"

// Removes the message of r from its buffer. The message has left this process or has failed. An error is ignored,
// because no call could report it.
static void on_buffered_complete(struct gompi_vci *l, struct gompi_request *r) {
	struct gompi_bsend_message *k = (struct gompi_bsend_message *)r->object;
	r->kind = NULL;
	gompi_request_release(r);
	gompi_bsend_release(k);
	l->has_completions = true; // wakes threads that detach or flush the buffer
}

static const struct gompi_request_kind buffered_kind = {.on_complete = on_buffered_complete};

// Performs the buffered send s, whose arguments have been checked. Returns 0, or MPI_ERR_BUFFER or MPI_ERR_NO_MEM,
// described in v.
static int bsend_checked(const struct gompi_request *s, struct gompi_error_status *v) {
	struct gompi_vci *l = s->vci;
	struct gompi_messages *m = l->messages;
	struct gompi_bsend_buffer *a = gompi_bsend_buffer_for(m, gompi_comm_get((MPI_Comm)s->comm));
	if (gompi_bsend_fits(a, s->buf.size) && gompi_try_send(s))
		return MPI_SUCCESS;
	struct gompi_bsend_message *k = gompi_bsend_reserve(a, s->buf.size, v);
	if (k == NULL)
		return v->class;
	gompi_buffer_pack(&s->buf, k->data, 0, k->size);
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_alloc(l);
	if (r != NULL) {
		r->kind = &buffered_kind;
		r->object = (uintptr_t)k;
		r->freed = true; // so that gompi_complete calls the kind's on_complete
		r->mode = MODE_BUFFERED;
		r->peer = s->peer;
		r->tag = s->tag;
		r->source = s->source;
		r->world = s->world;
		r->context = s->context;
		r->comm = s->comm;
		r->buf = (struct gompi_buffer){.at = k->data, .size = k->size};
		gompi_send_locked(l, r);
	} else {
		gompi_bsend_release(k);
		l->has_completions = true;
		gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for a request");
	}
	gompi_vci_unlock_started(l);
	gompi_call_run_plans(m);
	return r != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

// Tries to send a message immediately, in the most common case (gompi_send_check_fast). Returns true if it has been
// sent.
static inline bool bsend_fast(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	struct gompi_request r;
	struct gompi_link *p = gompi_send_check_fast(&r, buf, count, datatype, dest, tag, comm);
	r.mode = MODE_BUFFERED;
	return p != NULL &&
	       gompi_bsend_fits(gompi_bsend_buffer_for(r.vci->messages, gompi_comm_get(comm)), r.buf.size) &&
	       gompi_try_eager(p, &r);
}

// Handles all cases that bsend_fast does not. Stores a complete request if has_request is set.
static __attribute__((noinline)) int bsend_slow(const struct gompi_envelope *e, bool has_request,
						MPI_Request *request) {
	struct gompi_request r = {0};
	struct gompi_error_status v;
	int class = gompi_call_check(&r, e, false, &v);
	if (class == MPI_SUCCESS && has_request && request == NULL)
		class = gompi_set_error(&v, MPI_ERR_ARG, "request is NULL");
	r.mode = MODE_BUFFERED;
	if (class == MPI_SUCCESS && e->peer != MPI_PROC_NULL)
		class = bsend_checked(&r, &v);
	if (class != MPI_SUCCESS)
		return gompi_call_raise(&v, e->call, e->comm);
	if (has_request)
		*request = GOMPI_REQUEST_DONE;
	return MPI_SUCCESS;
}

int gompi_bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	if (__builtin_expect(bsend_fast(buf, count, datatype, dest, tag, comm), 1))
		return MPI_SUCCESS;
	return bsend_slow(&(struct gompi_envelope){"MPI_Bsend", buf, count, datatype, dest, tag, comm}, false, NULL);
}
GOMPI_ENTRY(MPI_Bsend_c, gompi_bsend_c);

int gompi_ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		   MPI_Request *request) {
	if (__builtin_expect(request != NULL && bsend_fast(buf, count, datatype, dest, tag, comm), 1)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return bsend_slow(&(struct gompi_envelope){"MPI_Ibsend", buf, count, datatype, dest, tag, comm}, true, request);
}
GOMPI_ENTRY(MPI_Ibsend_c, gompi_ibsend_c);

int gompi_buffered_start(struct gompi_request *r, struct gompi_error_status *v) {
	int class = r->peer == MPI_PROC_NULL ? MPI_SUCCESS : bsend_checked(r, v);
	if (class == MPI_SUCCESS)
		gompi_store_release(&r->state, REQUEST_COMPLETE);
	return class;
}
