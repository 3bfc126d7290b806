// MPI_Sendrecv and its variants (MPI-5.0 3.10).
#include "message/call.h"
#include "message/z_calls.h"

#include <stdlib.h>

enum { MAX_STACK_COPY_BYTES = 512 };

// Copies the data that an exchange sends, and makes *from refer to the copy. The copy is in stack_copy if it fits into
// MAX_STACK_COPY_BYTES bytes, else in *heap_copy, which the caller frees. Returns MPI_SUCCESS or MPI_ERR_NO_MEM.
static int copy_outgoing(struct gompi_buffer *from, char *stack_copy, char **heap_copy) {
	char *to = stack_copy;
	if (from->size > MAX_STACK_COPY_BYTES && (to = *heap_copy = malloc((size_t)from->size)) == NULL)
		return MPI_ERR_NO_MEM;
	gompi_buffer_pack(from, to, 0, from->size);
	*from = (struct gompi_buffer){.at = to, .size = from->size};
	return MPI_SUCCESS;
}

// Returns true if the send and receive buffers of an exchange overlap. MPI requires disjoint buffers, but some programs
// send and receive the same variable. With MPI libraries that copy the outgoing message before they receive, such
// programs work. Buffers with gaps count as disjoint unless they begin at the same address, because the buffers of halo
// exchanges interleave.
static bool buffers_overlap(const struct gompi_buffer *a, const struct gompi_buffer *b) {
	if (a->size == 0 || b->size == 0 || a->type != b->type)
		return false;
	return a->type == NULL ? a->at < b->at + b->size && b->at < a->at + a->size : a->at == b->at;
}

// Performs a blocking exchange. The flag `replace` is set if the send and receive buffers are the same.
static int exchange(const struct gompi_envelope *out, const struct gompi_envelope *in, bool replace,
		    MPI_Status *status) {
	struct gompi_request s = {0}, r = {0};
	struct gompi_error_status v;
	char stack_copy[MAX_STACK_COPY_BYTES], *heap_copy = NULL;
	if (gompi_call_check(&s, out, false, &v) != MPI_SUCCESS || gompi_call_check(&r, in, true, &v) != MPI_SUCCESS ||
	    ((replace || buffers_overlap(&s.buf, &r.buf)) &&
	     copy_outgoing(&s.buf, stack_copy, &heap_copy) != MPI_SUCCESS &&
	     gompi_set_error(&v, MPI_ERR_NO_MEM, "out of memory for a copy of %lld bytes", (long long)s.buf.size)))
		return gompi_call_raise(&v, out->call, out->comm);
	struct gompi_vci *l = r.vci;
	r.blocking = s.blocking = true;
	gompi_buffer_retain(&r.buf);
	int class = MPI_SUCCESS, rc = MPI_SUCCESS;
	if (gompi_is_proc_null(&r)) {
		gompi_receive_proc_null(&r);
	} else {
		gompi_vci_lock(l);
		gompi_receive_locked(l, &r);
		gompi_vci_unlock(l);
	}
	if (!gompi_is_proc_null(&s) &&
	    (s.world == l->messages->node.self || !gompi_try_eager_any(gompi_link_to(s.vci, s.world), &s)))
		rc = gompi_send_wait(&s, out->call, &v);
	if (!gompi_is_proc_null(&r))
		class = gompi_receive_wait(&r, in->call);
	gompi_buffer_release(&r.buf);
	free(heap_copy);
	if (class != MPI_SUCCESS || rc == MPI_SUCCESS)
		return gompi_finish_receive(&r, class, in->call, status);
	gompi_status_from_request(&r, status);
	return gompi_call_raise(&v, out->call, out->comm);
}

int gompi_sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
		     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
		     MPI_Status *status) {
	struct gompi_envelope out = {"MPI_Sendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm},
			      in = {"MPI_Sendrecv", recvbuf, recvcount, recvtype, source, recvtag, comm};
	return exchange(&out, &in, false, status);
}
GOMPI_ENTRY(MPI_Sendrecv_c, gompi_sendrecv_c);

int gompi_sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
			     int recvtag, MPI_Comm comm, MPI_Status *status) {
	struct gompi_envelope out = {"MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag, comm},
			      in = {"MPI_Sendrecv_replace", buf, count, datatype, source, recvtag, comm};
	return exchange(&out, &in, true, status);
}
GOMPI_ENTRY(MPI_Sendrecv_replace_c, gompi_sendrecv_replace_c);

// A nonblocking exchange whose send could not complete immediately: its two messages and, if needed, a copy of the
// outgoing data. The application's request is complete when both messages are, and its status is that of the receive.
// All three requests are in the communicator's VCI.
struct exchange {
	struct gompi_request *half[2]; // [0]: the receive, [1]: the send; NULL if complete
	char copy[];
};

static struct exchange *isendrecv_of(const struct gompi_request *r) { return (struct exchange *)r->object; }

static void on_half_complete(struct gompi_vci *l, struct gompi_request *h) {
	struct gompi_request *r = (struct gompi_request *)h->object;
	struct exchange *p = isendrecv_of(r);
	int class = r->result.class;
	bool cancelled = r->result.cancelled || h->result.cancelled;
	h->kind = NULL;
	if (__builtin_expect(h->result.class != MPI_SUCCESS && (h->receive || class == MPI_SUCCESS), 0)) {
		struct gompi_error_status v;
		class = gompi_request_error_detail(h, &v);
		gompi_request_free_text(r);
		r->text = strdup(v.text);
	}
	if (h->receive)
		r->result = h->result;
	r->result.class = class;
	r->result.cancelled = cancelled;
	p->half[!h->receive] = NULL;
	gompi_request_release(h);
	if (p->half[0] != NULL || p->half[1] != NULL)
		return;
	if (r->freed) {
		gompi_request_release(r);
		return;
	}
	l->has_completions = true;
	// pairs with the acquire loads of waiters (gompi_is_complete, gompi_array_scan)
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

static const struct gompi_request_kind half_kind = {.on_complete = on_half_complete};

// Cancels the two messages. A message that is already matched continues, and completes as usual (cancel.c). The
// exchange counts as cancelled if one of the messages is cancelled.
static int cancel_halves(struct gompi_request *r, struct gompi_error_status *v) {
	(void)v;
	gompi_vci_lock(r->vci);
	for (int i = 0; i < 2; i++)
		if (isendrecv_of(r)->half[i] != NULL)
			gompi_cancel_locked(r->vci, isendrecv_of(r)->half[i]);
	gompi_vci_unlock_progress(r->vci);
	return MPI_SUCCESS;
}

static void free_isendrecv(struct gompi_request *r) {
	gompi_request_free_text(r);
	free(isendrecv_of(r));
}

static const struct gompi_request_kind isendrecv_kind = {
	.cancel = cancel_halves, .error_detail = gompi_request_text_detail, .free_object = free_isendrecv};

// Creates one of the two messages of exchange r, as specified by `described`.
static struct gompi_request *alloc_half(struct gompi_request *r, const struct gompi_request *described) {
	struct gompi_request *h = gompi_request_alloc(r->vci);
	if (h == NULL)
		return NULL;
	*h = *described;
	h->kind = &half_kind;
	h->object = (uintptr_t)r;
	h->freed = true; // so that gompi_complete calls the kind's on_complete
	gompi_buffer_retain(&h->buf);
	return h;
}

// Makes r, which is a copy of `in`, the request to which both messages belong. Starts both messages. Returns false if
// out of memory.
static bool start_halves(struct gompi_request *r, struct exchange *p, const struct gompi_request *out,
			 const struct gompi_request *in) {
	bool has_receive = !gompi_is_proc_null(in);
	p->half[1] = alloc_half(r, out);
	p->half[0] = has_receive && p->half[1] != NULL ? alloc_half(r, in) : NULL;
	if (p->half[1] == NULL || (has_receive && p->half[0] == NULL)) {
		if (p->half[1] != NULL) {
			p->half[1]->kind = NULL;
			gompi_request_release(p->half[1]);
		}
		return false;
	}
	r->kind = &isendrecv_kind;
	r->object = (uintptr_t)p;
	r->receive = false;
	r->world = -1;
	gompi_store(&r->state, REQUEST_ACTIVE);
	if (has_receive)
		gompi_receive_locked(r->vci, p->half[0]);
	gompi_send_locked(r->vci, p->half[1]);
	return true;
}

static __attribute__((noinline)) int isendrecv_slow(const struct gompi_envelope *out, const struct gompi_envelope *in,
						    bool replace, MPI_Request *request) {
	struct gompi_request s = {0}, r = {0}, *whole;
	struct gompi_error_status v;
	struct exchange *p = NULL;
	MPI_Request handle;
	if (gompi_call_check(&s, out, false, &v) != MPI_SUCCESS || gompi_call_check(&r, in, true, &v) != MPI_SUCCESS ||
	    (request == NULL && gompi_set_error(&v, MPI_ERR_ARG, "request is NULL")))
		return gompi_call_raise(&v, out->call, out->comm);
	if (gompi_is_proc_null(&r))
		gompi_receive_proc_null(&r);
	struct gompi_vci *l = r.vci;
	gompi_vci_lock(l);
	whole = gompi_request_create_locked(l, &r, &handle);
	gompi_vci_unlock(l);
	if (whole == NULL)
		return gompi_raise_no_request(out->call, r.comm);
	bool sent = gompi_is_proc_null(&s) || gompi_isend_try_complete(&s);
	int64_t n = !sent && (replace || buffers_overlap(&s.buf, &r.buf)) ? s.buf.size : 0;
	if (!sent) {
		p = malloc(sizeof *p + (size_t)n);
		if (p != NULL && n > 0) {
			gompi_buffer_pack(&s.buf, p->copy, 0, n);
			s.buf = (struct gompi_buffer){.at = p->copy, .size = n};
		}
	}
	gompi_vci_lock(l);
	bool started = sent || (p != NULL && start_halves(whole, p, &s, &r));
	if (!started) {
		gompi_request_drop_handle(whole);
		gompi_request_release(whole);
		free(p);
	} else if (sent && gompi_load(&whole->state) == REQUEST_ACTIVE) {
		gompi_start_locked(l, whole);
	}
	gompi_vci_unlock_started(l);
	gompi_call_run_plans(l->messages);
	if (!started)
		return gompi_request_error(out->call, s.comm, MPI_ERR_NO_MEM,
					   "out of memory for a request and a copy of %lld bytes", (long long)n);
	*request = handle;
	return MPI_SUCCESS;
}

// Starts a nonblocking exchange. In the most common case, the send is eager: it copies the outgoing data before the
// receive starts. Then the receive may overwrite the send buffer.
static inline int start_isendrecv(const struct gompi_envelope *out, const struct gompi_envelope *in, bool replace,
				  MPI_Request *request) {
	struct gompi_request s, r;
	struct gompi_link *p =
		gompi_send_check_fast(&s, out->at, out->count, out->type, out->peer, out->tag, out->comm);
	s.mode = MODE_STANDARD;
	if (__builtin_expect(p == NULL || request == NULL ||
				     !gompi_recv_check_fast(&r, (void *)(uintptr_t)in->at, in->count, in->type,
							    in->peer, in->tag, in->comm),
			     0))
		return isendrecv_slow(out, in, replace, request);
	struct gompi_vci *l = r.vci;
	gompi_vci_lock(l);
	struct gompi_request *whole = gompi_request_new_fast(&r);
	bool sent = whole != NULL && gompi_try_eager(p, &s);
	if (__builtin_expect(sent, 1)) {
		whole->receive = true;
		*request = (MPI_Request)gompi_request_handle(whole);
		gompi_irecv_locked(l, whole);
	} else if (whole != NULL) {
		gompi_request_drop_handle(whole);
		gompi_request_release(whole);
	}
	gompi_vci_unlock_started(l);
	gompi_call_run_plans(l->messages);
	return __builtin_expect(sent, 1) ? MPI_SUCCESS : isendrecv_slow(out, in, replace, request);
}

int gompi_isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
		      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
		      MPI_Request *request) {
	struct gompi_envelope out = {"MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm},
			      in = {"MPI_Isendrecv", recvbuf, recvcount, recvtype, source, recvtag, comm};
	return start_isendrecv(&out, &in, false, request);
}
GOMPI_ENTRY(MPI_Isendrecv_c, gompi_isendrecv_c);

int gompi_isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
			      int recvtag, MPI_Comm comm, MPI_Request *request) {
	struct gompi_envelope out = {"MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, comm},
			      in = {"MPI_Isendrecv_replace", buf, count, datatype, source, recvtag, comm};
	return start_isendrecv(&out, &in, true, request);
}
GOMPI_ENTRY(MPI_Isendrecv_replace_c, gompi_isendrecv_replace_c);
