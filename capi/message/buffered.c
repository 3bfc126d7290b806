// Buffered sends (MPI-5.0 3.4, 3.6). A small message that can be sent immediately is sent like any other message. For
// other messages a copy waits in the attached buffer (attached.h).
#include "message/call.h"
#include "message/z_calls.h"

// Removes the message of r from its buffer: it has left, or never will, and there is no caller to report an error to.
static void buffered_is_over(struct gompi_lane *l, struct gompi_request *r) {
	struct gompi_bsend_message *k = (struct gompi_bsend_message *)r->object;
	r->kind = NULL;
	gompi_request_give(r);
	gompi_attached_left(k);
	l->completed = true; // wakes threads that detach or flush the buffer
}

static const struct gompi_request_kind buffered_kind = {.over = buffered_is_over};

// Sends the checked s. Returns 0, or MPI_ERR_BUFFER or MPI_ERR_NO_MEM, described in v.
static int buffered_send(const struct gompi_request *s, struct gompi_verdict *v) {
	struct gompi_lane *l = s->lane;
	struct gompi_messages *m = l->home;
	struct gompi_bsend_buffer *a = gompi_attached_for(m, gompi_comm_get((MPI_Comm)s->comm));
	if (gompi_attached_fits(a, s->buf.size) && gompi_send_at_once(s))
		return MPI_SUCCESS;
	struct gompi_bsend_message *k = gompi_attached_put(a, s->buf.size, v);
	if (k == NULL)
		return v->class;
	gompi_buffer_pack(&s->buf, k->data, 0, k->size);
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	if (r != NULL) {
		r->kind = &buffered_kind;
		r->object = (uintptr_t)k;
		r->freed = true; // so that gompi_complete calls the kind's over
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
		gompi_attached_left(k);
		l->completed = true;
		gompi_error(v, MPI_ERR_NO_MEM, "out of memory for a request");
	}
	gompi_lane_end_started(l);
	gompi_call_step(m);
	return r != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

// Tries to send a message of the most common kind immediately. Returns true if it has been sent.
static inline bool buffered_quick(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag,
				  MPI_Comm comm) {
	struct gompi_request r;
	struct gompi_link *p = gompi_call_quick(&r, buf, count, datatype, dest, tag, comm);
	r.mode = MODE_BUFFERED;
	return p != NULL && gompi_attached_fits(gompi_attached_for(r.lane->home, gompi_comm_get(comm)), r.buf.size) &&
	       gompi_eager(p, &r);
}

// Performs all cases that buffered_quick does not. Stores a complete request if the call returns one.
static __attribute__((noinline)) int buffered_closer(const struct gompi_envelope *e, bool makes, MPI_Request *request) {
	struct gompi_request r = {0};
	struct gompi_verdict v;
	int class = gompi_call_check(&r, e, false, &v);
	if (class == MPI_SUCCESS && makes && request == NULL)
		class = gompi_error(&v, MPI_ERR_ARG, "request is NULL");
	r.mode = MODE_BUFFERED;
	if (class == MPI_SUCCESS && e->peer != MPI_PROC_NULL)
		class = buffered_send(&r, &v);
	if (class != MPI_SUCCESS)
		return gompi_call_refuse(&v, e->call, e->comm);
	if (makes)
		*request = GOMPI_REQUEST_DONE;
	return MPI_SUCCESS;
}

int gompi_bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	if (__builtin_expect(buffered_quick(buf, count, datatype, dest, tag, comm), 1))
		return MPI_SUCCESS;
	return buffered_closer(&(struct gompi_envelope){"MPI_Bsend", buf, count, datatype, dest, tag, comm}, false,
			       NULL);
}
GOMPI_ENTRY(MPI_Bsend_c, gompi_bsend_c);

int gompi_ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		   MPI_Request *request) {
	if (__builtin_expect(request != NULL && buffered_quick(buf, count, datatype, dest, tag, comm), 1)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return buffered_closer(&(struct gompi_envelope){"MPI_Ibsend", buf, count, datatype, dest, tag, comm}, true,
			       request);
}
GOMPI_ENTRY(MPI_Ibsend_c, gompi_ibsend_c);

int gompi_buffered_start(struct gompi_request *r, struct gompi_verdict *v) {
	int class = r->peer == MPI_PROC_NULL ? MPI_SUCCESS : buffered_send(r, v);
	if (class == MPI_SUCCESS)
		gompi_store_release(&r->state, REQUEST_COMPLETE);
	return class;
}
