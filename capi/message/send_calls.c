// Sends (MPI-5.0 3.2, 3.4, 3.7, 3.9), except buffered sends, which are in buffered.c.
#include "base/tuning.h"
#include "comm/failures.h"
#include "message/call.h"
#include "message/z_calls.h"

// Tries to send a message to this process itself, in the most common case (gompi_recv_check_fast). Returns true if the
// send is complete.
static bool send_self_fast(const struct gompi_envelope *e, enum gompi_mode mode) {
	struct gompi_request r;
	if (e->peer < 0 || e->tag < 0 ||
	    !gompi_recv_check_fast(&r, (void *)(uintptr_t)e->at, e->count, e->type, e->peer, e->tag, e->comm))
		return false;
	const struct gompi_comm *c = gompi_comm_get(e->comm);
	r.source = c->rank;
	r.mode = (uint8_t)mode;
	return gompi_ranks_at(&c->peers, e->peer) == r.vci->messages->node.self && gompi_send_self_eager(r.vci, &r);
}

// Handles all cases that send_as does not: an error, a message to this process or to MPI_PROC_NULL, a derived datatype,
// or a large message.
static __attribute__((noinline)) int send_slow(const struct gompi_envelope *e, enum gompi_mode mode) {
	if (send_self_fast(e, mode))
		return MPI_SUCCESS;
	struct gompi_request r = {0};
	struct gompi_error_status v;
	if (gompi_call_check(&r, e, false, &v) != MPI_SUCCESS)
		return gompi_call_raise(&v, e->call, e->comm);
	if (e->peer == MPI_PROC_NULL)
		return MPI_SUCCESS;
	r.mode = (uint8_t)mode;
	r.blocking = true;
	if (r.world != r.vci->messages->node.self) {
		struct gompi_link *p = gompi_link_to(r.vci, r.world);
		r.use_rendezvous = r.buf.type == NULL && gompi_may_use_rendezvous(p, &r, RECORD_MAX_DATA);
		const bool chunks = !gompi_is_remote(p) && r.buf.type == NULL && r.buf.size >= INBOX_MIN_CHUNKED_BYTES;
		if (!r.use_rendezvous && (chunks ? gompi_try_eager_chunks(p, &r) : gompi_try_eager_any(p, &r)))
			return MPI_SUCCESS;
	}
	return gompi_send_blocking(&r, e->call);
}

static inline int send_as(const char *call, enum gompi_mode mode, const void *buf, int64_t count, MPI_Datatype datatype,
			  int dest, int tag, MPI_Comm comm) {
	struct gompi_request r;
	struct gompi_link *p = gompi_send_check_fast(&r, buf, count, datatype, dest, tag, comm);
	r.mode = (uint8_t)mode;
	if (__builtin_expect(p != NULL && r.buf.size < INBOX_MIN_CHUNKED_BYTES && gompi_try_eager(p, &r), 1))
		return MPI_SUCCESS;
	return send_slow(&(struct gompi_envelope){call, buf, count, datatype, dest, tag, comm}, mode);
}

static __attribute__((noinline)) int isend_slow(const struct gompi_envelope *e, enum gompi_mode mode, bool persistent,
						MPI_Request *request) {
	if (!persistent && request != NULL && send_self_fast(e, mode)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	struct gompi_request r = {0};
	struct gompi_error_status v;
	int class = gompi_call_check(&r, e, false, &v);
	if (request == NULL && (class == MPI_SUCCESS || class == MPI_ERR_PROC_ABORTED))
		class = gompi_set_error(&v, MPI_ERR_ARG, "request is NULL");
	const bool has_failed_peer =
		class == MPI_ERR_PROC_ABORTED && gompi_fault_class(class, (uintptr_t)e->comm) == MPIX_ERR_PROC_FAILED;
	if (class != MPI_SUCCESS && !has_failed_peer)
		return gompi_call_raise(&v, e->call, e->comm);
	if (has_failed_peer && !persistent) { // the call that completes the request raises the error
		r.result.class = MPIX_ERR_PROC_FAILED;
		gompi_store(&r.state, REQUEST_COMPLETE);
		return gompi_start_request(&r, e->call, request);
	}
	r.mode = (uint8_t)mode;
	bool is_complete = e->peer == MPI_PROC_NULL;
	if (persistent) {
		r.persistent = true;
		gompi_store(&r.state, REQUEST_INACTIVE);
		is_complete = false;
	} else if (!is_complete) {
		is_complete = gompi_isend_try_complete(&r);
	}
	if (is_complete) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return gompi_start_request(&r, e->call, request);
}

static inline int isend_as(const char *call, enum gompi_mode mode, const void *buf, int64_t count,
			   MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	struct gompi_request r;
	struct gompi_link *p = gompi_send_check_fast(&r, buf, count, datatype, dest, tag, comm);
	r.mode = (uint8_t)mode;
	if (__builtin_expect(p != NULL && request != NULL && r.buf.size <= GOMPI_MAX_BOTH_WAYS_BYTES &&
				     gompi_try_eager(p, &r),
			     1)) {
		*request = GOMPI_REQUEST_DONE;
		return MPI_SUCCESS;
	}
	return isend_slow(&(struct gompi_envelope){call, buf, count, datatype, dest, tag, comm}, mode, false, request);
}

static int send_init(const char *call, enum gompi_mode mode, const void *buf, int64_t count, MPI_Datatype datatype,
		     int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	if (gompi_init_fast(buf, count, datatype, dest, tag, comm, false, mode, request))
		return MPI_SUCCESS;
	return isend_slow(&(struct gompi_envelope){call, buf, count, datatype, dest, tag, comm}, mode, true, request);
}

int gompi_send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_as("MPI_Send", MODE_STANDARD, buf, count, datatype, dest, tag, comm);
}
GOMPI_ENTRY(MPI_Send_c, gompi_send_c);

int gompi_ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_as("MPI_Ssend", MODE_SYNCHRONOUS, buf, count, datatype, dest, tag, comm);
}
GOMPI_ENTRY(MPI_Ssend_c, gompi_ssend_c);

int gompi_rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	return send_as("MPI_Rsend", MODE_READY, buf, count, datatype, dest, tag, comm);
}
GOMPI_ENTRY(MPI_Rsend_c, gompi_rsend_c);

int gompi_isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		  MPI_Request *request) {
	return isend_as("MPI_Isend", MODE_STANDARD, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Isend_c, gompi_isend_c);

int gompi_issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		   MPI_Request *request) {
	return isend_as("MPI_Issend", MODE_SYNCHRONOUS, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Issend_c, gompi_issend_c);

int gompi_irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		   MPI_Request *request) {
	return isend_as("MPI_Irsend", MODE_READY, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Irsend_c, gompi_irsend_c);

int gompi_send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		      MPI_Request *request) {
	return send_init("MPI_Send_init", MODE_STANDARD, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Send_init_c, gompi_send_init_c);

int gompi_ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		       MPI_Request *request) {
	return send_init("MPI_Ssend_init", MODE_SYNCHRONOUS, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Ssend_init_c, gompi_ssend_init_c);

int gompi_bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		       MPI_Request *request) {
	return send_init("MPI_Bsend_init", MODE_BUFFERED, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Bsend_init_c, gompi_bsend_init_c);

int gompi_rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		       MPI_Request *request) {
	return send_init("MPI_Rsend_init", MODE_READY, buf, count, datatype, dest, tag, comm, request);
}
GOMPI_ENTRY(MPI_Rsend_init_c, gompi_rsend_init_c);
