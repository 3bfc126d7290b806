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

// The protocol of sends. The constants below are sizes in bytes.
//
// While the receiver's inbox has space, a nonblocking send is eager, like a blocking one. With 64 posted sends of 8
// KiB, an eager send takes 0.6 us, and a send by process_vm_readv 3.0 us (32 KiB: 2.1 us and 4.1 us).
//
// A send of more than MAX_QUEUED_BYTES bytes that finds no space does not wait for space. If the receiver can read the
// data by process_vm_readv, the send leaves its data in place until it is matched. Two processes that both send before
// they receive fill both inboxes. Then a message of 8 KiB takes 7.4 us if the send waits for space, and 3.9 us with
// process_vm_readv.
//
// A nonblocking send of more than MAX_BOTH_WAYS_BYTES bytes leaves its data in place while messages for this process
// arrive. If two processes both send 64 messages of 32 KiB, a message each way takes 4.0 us this way. With eager sends,
// which fill both inboxes, it takes 8.3 us.
//
// A synchronous send of more than MAX_DOUBLE_COPY_BYTES bytes to a process of this node leaves its data in place even
// if there is space. For this, the receiver must be able to read the data there (may_use_rendezvous). A send to another
// node is eager whenever its data fits into a record.
//
// A blocking send of at most RECORD_MAX_DATA bytes never leaves its data in place, because programs rely on its
// completion before the receive. Longer data stays in place if the receiver can read it there.
enum { MAX_QUEUED_BYTES = 1024, MAX_DOUBLE_COPY_BYTES = 4096, MAX_BOTH_WAYS_BYTES = 16 << 10 };

static inline bool may_use_rendezvous(const struct gompi_link *p, const struct gompi_request *r,
				      int64_t max_eager_bytes) {
	return r->buf.size > max_eager_bytes && !r->vci->messages->no_cma && gompi_load(&p->cma_state) != CMA_REFUSED;
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
		r.use_rendezvous = r.buf.type == NULL && may_use_rendezvous(p, &r, RECORD_MAX_DATA);
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

// Returns true if polling for space in the receiver's inbox may soon succeed. Returns false if processes share cores,
// if other output is pending, or if the receiver asks senders to keep their data. Also returns false if polling has
// already failed since the head of the inbox last moved.
static inline bool may_find_space(const struct gompi_link *p, uint64_t head) {
	return !gompi_node.policy.is_oversubscribed && gompi_load(&p->pending_count) == 0 &&
	       gompi_load(&p->inbox->flow) == FLOW_EAGER && head != gompi_load(&p->full_head);
}

// Tries to send data eagerly to a process of this node. While the inbox of the receiver is full, handles the records in
// this process' own inbox. So if both sides send first, each makes space for the other.
static bool try_eager_polling(struct gompi_link *p, const struct gompi_request *r) {
	if (r->buf.size > MAX_BOTH_WAYS_BYTES && (r->buf.size > RECORD_MAX_DATA || gompi_vci_has_work(r->vci)))
		return false;
	if (gompi_try_eager_any(p, r))
		return true;
	uint64_t head = gompi_load(&p->inbox->head);
	for (int polls = may_find_space(p, head) ? GOMPI_INBOX_FULL_POLLS : 1; polls > 0; polls--) {
		if (gompi_vci_has_work(r->vci))
			gompi_vci_progress(r->vci);
		else
			gompi_pause();
		if (gompi_try_eager_any(p, r))
			return true;
	}
	gompi_store(&p->full_head, head);
	return false;
}

bool gompi_isend_try_complete(struct gompi_request *r) {
	if (r->world == r->vci->messages->node.self)
		return gompi_send_self_eager(r->vci, r);
	struct gompi_link *p = gompi_link_to(r->vci, r->world);
	if (gompi_is_remote(p) || r->mode == MODE_SYNCHRONOUS) {
		r->use_rendezvous = may_use_rendezvous(p, r, MAX_DOUBLE_COPY_BYTES);
		return !r->use_rendezvous && gompi_try_eager_any(p, r);
	}
	if (try_eager_polling(p, r))
		return true;
	r->use_rendezvous = may_use_rendezvous(p, r, MAX_QUEUED_BYTES);
	return false;
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
	if (__builtin_expect(
		    p != NULL && request != NULL && r.buf.size <= MAX_BOTH_WAYS_BYTES && gompi_try_eager(p, &r), 1)) {
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
