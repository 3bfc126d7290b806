// MPI_Sendrecv and its variants (MPI-5.0 3.10).
#include "message/call.h"
#include "message/z_calls.h"

#include <stdlib.h>

// Copies the data that an exchange sends, and makes *from refer to the copy. The copy is in place if it fits into
// ON_STACK bytes, else in memory that is returned in *own; the caller frees it. Returns MPI_SUCCESS or MPI_ERR_NO_MEM.
enum { ON_STACK = 512 };
static int copy_apart(struct gompi_buffer *from, char *place, char **own) {
	char *to = place;
	if (from->size > ON_STACK && (to = *own = malloc((size_t)from->size)) == NULL)
		return MPI_ERR_NO_MEM;
	gompi_buffer_pack(from, to, 0, from->size);
	*from = (struct gompi_buffer){.at = to, .size = from->size};
	return MPI_SUCCESS;
}

// Returns true if the send and receive buffers of an exchange overlap. MPI requires them to be disjoint, but programs
// exchange a variable with itself. They get what they expect from every library that copies the outgoing message before
// it receives. Buffers with gaps are assumed to be disjoint unless they are the same, since those of halo exchanges
// interleave.
static bool common(const struct gompi_buffer *a, const struct gompi_buffer *b) {
	if (a->size == 0 || b->size == 0 || a->type != b->type)
		return false;
	return a->type == NULL ? a->at < b->at + b->size && b->at < a->at + a->size : a->at == b->at;
}

// Performs a blocking exchange. replace tells that the two buffers are the same.
static int exchange(const struct gompi_envelope *out, const struct gompi_envelope *in, bool replace,
		    MPI_Status *status) {
	struct gompi_request s = {0}, r = {0};
	struct gompi_verdict v;
	char place[ON_STACK], *own = NULL;
	if (gompi_call_check(&s, out, false, &v) != MPI_SUCCESS || gompi_call_check(&r, in, true, &v) != MPI_SUCCESS ||
	    ((replace || common(&s.buf, &r.buf)) && copy_apart(&s.buf, place, &own) != MPI_SUCCESS &&
	     gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for a copy of %lld bytes", (long long)s.buf.size)))
		return gompi_call_refuse(&v, out->call, out->comm);
	struct gompi_lane *l = r.lane;
	r.blocking = s.blocking = true;
	gompi_buffer_hold(&r.buf);
	int class = MPI_SUCCESS, rc = MPI_SUCCESS;
	if (gompi_is_nobody(&r)) {
		gompi_receive_nobody(&r);
	} else {
		gompi_lane_take(l);
		gompi_receive_locked(l, &r);
		gompi_lane_give(l);
	}
	if (!gompi_is_nobody(&s) &&
	    (s.world == l->home->node.self || !gompi_eager_anywhere(gompi_link_to(s.lane, s.world), &s)))
		rc = gompi_send_class(&s, out->call, &v);
	if (!gompi_is_nobody(&r))
		class = gompi_receive_posted(&r, in->call);
	gompi_buffer_drop(&r.buf);
	free(own);
	if (class != MPI_SUCCESS || rc == MPI_SUCCESS)
		return gompi_finish_receive(&r, class, in->call, status);
	gompi_status_of(&r, status);
	return gompi_call_refuse(&v, out->call, out->comm);
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

// A nonblocking exchange whose send could not complete immediately: its two messages, and the copy that it sends, if
// needed. The request of the application represents both: it is complete when both are, and its status is that of the
// receive. All three are in the communicator's lane.
struct exchange {
	struct gompi_request *half[2]; // the receive and the send; NULL if complete
	char copy[];
};

static struct exchange *exchange_of(const struct gompi_request *r) { return (struct exchange *)r->object; }

static void half_is_over(struct gompi_lane *l, struct gompi_request *h) {
	struct gompi_request *r = (struct gompi_request *)h->object;
	struct exchange *p = exchange_of(r);
	int class = r->result.class;
	bool cancelled = r->result.cancelled || h->result.cancelled;
	h->kind = NULL;
	if (__builtin_expect(h->result.class != MPI_SUCCESS && (h->receive || class == MPI_SUCCESS), 0)) {
		struct gompi_verdict v;
		class = gompi_request_why(h, &v);
		gompi_request_drop_text(r);
		r->text = strdup(v.text);
	}
	if (h->receive)
		r->result = h->result;
	r->result.class = class;
	r->result.cancelled = cancelled;
	p->half[!h->receive] = NULL;
	gompi_request_give(h);
	if (p->half[0] != NULL || p->half[1] != NULL)
		return;
	if (r->freed) {
		gompi_request_give(r);
		return;
	}
	l->completed = true;
	// pairs with the acquire loads of waiters (gompi_is_complete, gompi_look)
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

static const struct gompi_request_kind half_kind = {.over = half_is_over};

// Cancels those of the two messages that can be cancelled, so that both complete. The exchange counts as cancelled if
// one of them is.
static int cancel_exchange(struct gompi_request *r, struct gompi_verdict *v) {
	(void)v;
	gompi_lane_take(r->lane);
	for (int i = 0; i < 2; i++)
		if (exchange_of(r)->half[i] != NULL)
			gompi_cancel_locked(r->lane, exchange_of(r)->half[i]);
	gompi_lane_end(r->lane);
	return MPI_SUCCESS;
}

static void drop_exchange(struct gompi_request *r) {
	gompi_request_drop_text(r);
	free(exchange_of(r));
}

static const struct gompi_request_kind exchange_kind = {
	.cancel = cancel_exchange, .why = gompi_request_say_text, .drop = drop_exchange};

// Creates a message that is one half of r.
static struct gompi_request *half_of(struct gompi_request *r, const struct gompi_request *described) {
	struct gompi_request *h = gompi_request_take(r->lane);
	if (h == NULL)
		return NULL;
	*h = *described;
	h->kind = &half_kind;
	h->object = (uintptr_t)r;
	h->freed = true; // so that gompi_complete calls the kind's over
	gompi_buffer_hold(&h->buf);
	return h;
}

// Makes r, which has the description in, the request of both messages, and starts them. Returns false if out of memory.
static bool start_exchange(struct gompi_request *r, struct exchange *p, const struct gompi_request *out,
			   const struct gompi_request *in) {
	bool both = !gompi_is_nobody(in);
	p->half[1] = half_of(r, out);
	p->half[0] = both && p->half[1] != NULL ? half_of(r, in) : NULL;
	if (p->half[1] == NULL || (both && p->half[0] == NULL)) {
		if (p->half[1] != NULL) {
			p->half[1]->kind = NULL;
			gompi_request_give(p->half[1]);
		}
		return false;
	}
	r->kind = &exchange_kind;
	r->object = (uintptr_t)p;
	r->receive = false;
	r->world = -1;
	gompi_store(&r->state, REQUEST_ACTIVE);
	if (both)
		gompi_receive_locked(r->lane, p->half[0]);
	gompi_send_locked(r->lane, p->half[1]);
	return true;
}

static __attribute__((noinline)) int iexchange_closer(const struct gompi_envelope *out, const struct gompi_envelope *in,
						      bool replace, MPI_Request *request) {
	struct gompi_request s = {0}, r = {0}, *whole;
	struct gompi_verdict v;
	struct exchange *p = NULL;
	MPI_Request handle;
	if (gompi_call_check(&s, out, false, &v) != MPI_SUCCESS || gompi_call_check(&r, in, true, &v) != MPI_SUCCESS ||
	    (request == NULL && gompi_error(&v, MPI_ERR_ARG, "request is NULL")))
		return gompi_call_refuse(&v, out->call, out->comm);
	if (gompi_is_nobody(&r))
		gompi_receive_nobody(&r);
	struct gompi_lane *l = r.lane;
	gompi_lane_take(l);
	whole = gompi_start_taken(l, &r, &handle);
	gompi_lane_give(l);
	if (whole == NULL)
		return gompi_call_no_request(&r, out->call);
	bool sent = gompi_is_nobody(&s) || gompi_isend_over(&s);
	int64_t n = !sent && (replace || common(&s.buf, &r.buf)) ? s.buf.size : 0;
	if (!sent) {
		p = malloc(sizeof *p + (size_t)n);
		if (p != NULL && n > 0) {
			gompi_buffer_pack(&s.buf, p->copy, 0, n);
			s.buf = (struct gompi_buffer){.at = p->copy, .size = n};
		}
	}
	gompi_lane_take(l);
	bool started = sent || (p != NULL && start_exchange(whole, p, &s, &r));
	if (!started) {
		gompi_request_remove(whole);
		gompi_request_give(whole);
		free(p);
	} else if (sent && gompi_load(&whole->state) == REQUEST_ACTIVE) {
		gompi_start_locked(l, whole);
	}
	gompi_lane_end_started(l);
	gompi_call_step(l->home);
	if (!started) {
		gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for a request and a copy of %lld bytes", (long long)n);
		return gompi_call_refuse(&v, out->call, out->comm);
	}
	*request = handle;
	return MPI_SUCCESS;
}

// Starts a nonblocking exchange. In the common case, the outgoing data is copied before anything is received.
static inline int iexchange(const struct gompi_envelope *out, const struct gompi_envelope *in, bool replace,
			    MPI_Request *request) {
	struct gompi_request s, r;
	struct gompi_link *p = gompi_call_quick(&s, out->at, out->count, out->type, out->peer, out->tag, out->comm);
	s.mode = MODE_STANDARD;
	if (__builtin_expect(p == NULL || request == NULL ||
				     !gompi_call_quick_receive(&r, (void *)(uintptr_t)in->at, in->count, in->type,
							       in->peer, in->tag, in->comm),
			     0))
		return iexchange_closer(out, in, replace, request);
	struct gompi_lane *l = r.lane;
	gompi_lane_take(l);
	struct gompi_request *whole = gompi_request_quick(&r);
	bool sent = whole != NULL && gompi_eager(p, &s);
	if (__builtin_expect(sent, 1)) {
		whole->receive = true;
		*request = (MPI_Request)gompi_request_handle(whole);
		gompi_irecv_locked(l, whole);
	} else if (whole != NULL) {
		gompi_request_remove(whole);
		gompi_request_give(whole);
	}
	gompi_lane_end_started(l);
	gompi_call_step(l->home);
	return __builtin_expect(sent, 1) ? MPI_SUCCESS : iexchange_closer(out, in, replace, request);
}

int gompi_isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
		      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
		      MPI_Request *request) {
	struct gompi_envelope out = {"MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm},
			      in = {"MPI_Isendrecv", recvbuf, recvcount, recvtype, source, recvtag, comm};
	return iexchange(&out, &in, false, request);
}
GOMPI_ENTRY(MPI_Isendrecv_c, gompi_isendrecv_c);

int gompi_isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
			      int recvtag, MPI_Comm comm, MPI_Request *request) {
	struct gompi_envelope out = {"MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, comm},
			      in = {"MPI_Isendrecv_replace", buf, count, datatype, source, recvtag, comm};
	return iexchange(&out, &in, true, request);
}
GOMPI_ENTRY(MPI_Isendrecv_replace_c, gompi_isendrecv_replace_c);
