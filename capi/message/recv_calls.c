// Receives, and sends and receives at once (MPI-5.0 3.2.4, 3.7, 3.9, 3.10).
#include "message/call.h"
#include "message/z_calls.h"

#include <stdlib.h>

static inline bool is_nobody(const struct gompi_request *r) { return r->peer == MPI_PROC_NULL; }

static __attribute__((noinline)) int receive_closer(const struct gompi_envelope *e, MPI_Status *status) {
	struct gompi_request r = {0};
	struct gompi_verdict v;
	if (gompi_call_check(&r, e, true, &v) != MPI_SUCCESS)
		return gompi_call_refuse(&v, e->call, e->comm);
	if (is_nobody(&r)) {
		gompi_status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
		return MPI_SUCCESS;
	}
	r.blocking = true;
	gompi_buffer_hold(&r.buf);
	int class = gompi_receive_blocking(&r, e->call);
	gompi_buffer_drop(&r.buf);
	return gompi_finish_receive(&r, class, e->call, status);
}

int gompi_recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		 MPI_Status *status) {
	struct gompi_request r;
	if (__builtin_expect(gompi_call_quick_receive(&r, buf, count, datatype, source, tag, comm), 1)) {
		gompi_request_clear(&r);
		r.receive = r.blocking = true;
		return gompi_finish_receive(&r, gompi_receive_blocking(&r, "MPI_Recv"), "MPI_Recv", status);
	}
	return receive_closer(&(struct gompi_envelope){"MPI_Recv", buf, count, datatype, source, tag, comm}, status);
}
GOMPI_ENTRY(MPI_Recv_c, gompi_recv_c)

static __attribute__((noinline)) int irecv_closer(const struct gompi_envelope *e, bool persistent,
						  MPI_Request *request) {
	struct gompi_request r = {0};
	struct gompi_verdict v;
	int class = gompi_call_check(&r, e, true, &v);
	if (class == MPI_SUCCESS && request == NULL)
		class = gompi_error(&v, MPI_ERR_ARG, "request is NULL");
	if (class != MPI_SUCCESS)
		return gompi_call_refuse(&v, e->call, e->comm);
	r.persistent = persistent;
	if (persistent)
		gompi_store(&r.state, REQUEST_INACTIVE);
	else if (is_nobody(&r))
		gompi_receive_nobody(&r);
	return gompi_start_request(&r, e->call, request);
}

// Few bytes are left in the inbox until somebody waits or tests: that takes in all that there are at once, which costs
// less than one at each call. More would fill it, and what is only announced can be fetched meanwhile.
enum { FEW_BYTES = 1024 };

int gompi_irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		  MPI_Request *request) {
	struct gompi_request s;
	if (__builtin_expect(request != NULL && gompi_call_quick_receive(&s, buf, count, datatype, source, tag, comm),
			     1)) {
		struct gompi_lane *l = s.lane;
		gompi_lane_take(l);
		struct gompi_request *r = gompi_request_quick(&s);
		if (__builtin_expect(r != NULL, 1)) {
			r->receive = true;
			*request = (MPI_Request)gompi_request_handle(r);
			gompi_receive_locked(l, r);
			if (s.buf.size > FEW_BYTES)
				gompi_lane_receive(l, r);
			gompi_lane_end_started(l);
			gompi_call_step(l->home);
			return MPI_SUCCESS;
		}
		gompi_lane_give(l); // what is wrong is told below
	}
	return irecv_closer(&(struct gompi_envelope){"MPI_Irecv", buf, count, datatype, source, tag, comm}, false,
			    request);
}
GOMPI_ENTRY(MPI_Irecv_c, gompi_irecv_c)

int gompi_recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		      MPI_Request *request) {
	struct gompi_envelope e = {"MPI_Recv_init", buf, count, datatype, source, tag, comm};
	return gompi_init_quick(&e, true, MODE_STANDARD, request) ? MPI_SUCCESS : irecv_closer(&e, true, request);
}
GOMPI_ENTRY(MPI_Recv_init_c, gompi_recv_init_c)

// Makes *from, which an exchange sends, data of the library's own: in a place that has room, or in memory that is
// returned in *own, to be freed. MPI_SUCCESS or MPI_ERR_NO_MEM.
enum { ON_STACK = 512 };
static int copy_apart(struct gompi_buffer *from, char *place, char **own) {
	char *to = place;
	if (from->size > ON_STACK && (to = *own = malloc((size_t)from->size)) == NULL)
		return MPI_ERR_NO_MEM;
	gompi_buffer_pack(from, to, 0, from->size);
	*from = (struct gompi_buffer){.at = to, .size = from->size};
	return MPI_SUCCESS;
}

// Returns true if the buffer that an exchange sends from has bytes in common with the one that it receives into. MPI
// wants them to be disjoint, but programs exchange a variable with itself, and get what they mean wherever a message
// is copied before another one is taken. Buffers with gaps are taken to be disjoint unless they are the same: those
// of halo exchanges interleave.
static bool common(const struct gompi_buffer *a, const struct gompi_buffer *b) {
	if (a->size == 0 || b->size == 0 || a->type != b->type)
		return false;
	return a->type == NULL ? a->at < b->at + b->size && b->at < a->at + a->size : a->at == b->at;
}

// A send and a receive at once. replace: the two are one buffer.
static int exchange(const struct gompi_envelope *out, const struct gompi_envelope *in, bool replace,
		    MPI_Status *status) {
	struct gompi_request s = {0}, r = {0};
	struct gompi_verdict v;
	char place[ON_STACK], *own = NULL;
	if (gompi_call_check(&s, out, false, &v) != MPI_SUCCESS || gompi_call_check(&r, in, true, &v) != MPI_SUCCESS ||
	    ((replace || common(&s.buf, &r.buf)) && copy_apart(&s.buf, place, &own) != MPI_SUCCESS &&
	     gompi_error(&v, MPI_ERR_NO_MEM, "no memory for a copy of %lld bytes", (long long)s.buf.size)))
		return gompi_call_refuse(&v, out->call, out->comm);
	struct gompi_lane *l = r.lane;
	r.blocking = s.blocking = true;
	gompi_buffer_hold(&r.buf);
	int class = MPI_SUCCESS, rc = MPI_SUCCESS;
	if (is_nobody(&r)) {
		gompi_receive_nobody(&r);
	} else {
		gompi_lane_take(l);
		gompi_receive_locked(l, &r);
		gompi_lane_give(l);
	}
	if (!is_nobody(&s) &&
	    (s.world == l->home->node.self || !gompi_eager_anywhere(gompi_link_to(s.lane, s.world), &s)))
		rc = gompi_send_class(&s, out->call, &v);
	if (!is_nobody(&r))
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
GOMPI_ENTRY(MPI_Sendrecv_c, gompi_sendrecv_c)

int gompi_sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
			     int recvtag, MPI_Comm comm, MPI_Status *status) {
	struct gompi_envelope out = {"MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag, comm},
			      in = {"MPI_Sendrecv_replace", buf, count, datatype, source, recvtag, comm};
	return exchange(&out, &in, true, status);
}
GOMPI_ENTRY(MPI_Sendrecv_replace_c, gompi_sendrecv_replace_c)
