// Helpers that the MPI functions for messages share: they check arguments, wait for a request, and end a request.
#ifndef GOMPI_MESSAGE_CALL_H
#define GOMPI_MESSAGE_CALL_H

#include "base/status.h"
#include "base/go_callbacks.h"
#include "comm/comm.h"
#include "message/messages.h"

#pragma GCC visibility push(hidden)

// The arguments of a send or receive as the application has passed them, not checked yet.
struct gompi_envelope {
	const char *call;
	const void *at;
	int64_t count;
	MPI_Datatype type;
	int32_t peer, tag;
	MPI_Comm comm;
};

// Checks the arguments of a send or, if receive is set, of a receive. Fills in r: peer, tag, context, vci, buf, comm,
// source and world. r->peer may be MPI_PROC_NULL. Returns 0 or the error class, described in v.
int gompi_call_check(struct gompi_request *r, const struct gompi_envelope *e, bool receive,
		     struct gompi_error_status *v);

// Raises the error v on the communicator, or on no object if the communicator does not exist.
__attribute__((cold)) int gompi_call_raise(const struct gompi_error_status *v, const char *call, MPI_Comm comm);
// Raises the error v on a request's object, which may be a window.
__attribute__((cold)) int gompi_request_raise(const struct gompi_error_status *v, const char *call, uintptr_t object);
// Raises an error with a formatted text on a request's object.
__attribute__((cold, format(printf, 4, 5))) int gompi_request_error(const char *call, uintptr_t object, int class,
								    const char *text, ...);
// Raises the error that a complete request has ended with.
__attribute__((cold)) int gompi_request_raise_error(const struct gompi_request *r, const char *call);
// Raises the error of a request that can never complete (gompi_request_fill_failure).
__attribute__((cold)) int gompi_request_raise_failed(const char *call, int class, uintptr_t object);
// Raises an error on no object.
__attribute__((cold, format(printf, 3, 4))) int gompi_call_error(const char *call, int class, const char *text, ...);

// Checks the arguments of a send in the most common case: all arguments are valid, the buffer is simple
// (gompi_buffer_simple), the target is another process of this node, and the link to it exists. Fills in those fields
// of r that gompi_try_eager needs, and returns the link. In all other cases returns NULL, and the caller must use
// gompi_call_check.
static inline struct gompi_link *gompi_send_check_fast(struct gompi_request *r, const void *at, int64_t count,
						       MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_usable(comm);
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	if (__builtin_expect(c == NULL || m == NULL || (uint32_t)dest >= (uint32_t)c->peers.n || tag < 0, 0) ||
	    !gompi_buffer_simple(&r->buf, at, count, type))
		return NULL;
	int world = gompi_ranks_at(&c->peers, dest);
	if (world == m->node.self)
		return NULL;
	r->context = c->id;
	r->source = c->rank;
	r->tag = tag;
	r->vci = gompi_vci_of(m, c->id);
	r->urgent = false;
	int process = gompi_messages_node_index(m, world);
	return process < 0 ? NULL : gompi_load_acquire(&r->vci->links[process]);
}

// Checks the arguments of a receive in the most common case: all arguments are valid, and the buffer is simple
// (gompi_buffer_simple). Fills in r. In all other cases returns false, and the caller must use gompi_call_check.
static inline bool gompi_recv_check_fast(struct gompi_request *r, void *at, int64_t count, MPI_Datatype type,
					 int source, int tag, MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_usable(comm);
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	if (__builtin_expect(c == NULL || m == NULL, 0) ||
	    ((uint32_t)source >= (uint32_t)c->peers.n && source != MPI_ANY_SOURCE) || (tag < 0 && tag != MPI_ANY_TAG) ||
	    !gompi_buffer_simple(&r->buf, at, count, type))
		return false;
	r->context = c->id;
	r->comm = (uintptr_t)comm;
	r->peer = source;
	r->tag = tag;
	r->vci = gompi_vci_of(m, c->id);
	return true;
}

// Copies to r the arguments that a fast check has stored in s.
static inline void gompi_request_copy_args(struct gompi_request *r, const struct gompi_request *s) {
	r->buf.at = s->buf.at;
	r->buf.size = s->buf.size;
	r->buf.type = NULL;
	r->buf.skip_bytes = 0;
	r->context = s->context;
	r->comm = s->comm;
	r->peer = s->peer;
	r->tag = s->tag;
}

// Returns a request with a handle. Copies to it the arguments that a fast check has stored in s. The caller holds the
// VCI's lock, and sets the fields of a receive or a send. Returns NULL if out of memory or if too many requests are
// live.
static inline struct gompi_request *gompi_request_new_fast(const struct gompi_request *s) {
	struct gompi_request *r = gompi_request_alloc(s->vci);
	if (__builtin_expect(r == NULL, 0))
		return NULL;
	gompi_request_copy_args(r, s);
	if (__builtin_expect(gompi_request_add_handle(r), 1))
		return r;
	gompi_request_release(r);
	return NULL;
}

// Returns the attached buffer of the session that a communicator is derived from; NULL if there is none.
struct gompi_bsend_buffer *gompi_bsend_session_buffer(const struct gompi_comm *c);

// Returns the buffer for a buffered send on a communicator: the communicator's own buffer if one is attached, else that
// of its session, else the buffer of the process, which need not be attached.
static inline struct gompi_bsend_buffer *gompi_bsend_buffer_for(struct gompi_messages *m, struct gompi_comm *c) {
	// acquire: pairs with the compare-and-swap in create_buffer
	struct gompi_bsend_buffer *a = c != NULL ? gompi_load_acquire(&c->bsend_buffer) : NULL;
	if (__builtin_expect(a != NULL, 0) && gompi_load(&a->free_bytes_plus_1) != 0)
		return a;
	if (__builtin_expect(c != NULL && c->peers.session != 0, 0) && (a = gompi_bsend_session_buffer(c)) != NULL)
		return a;
	return &m->bsend_buffer;
}

// Advances plans if a plan may be able to continue, because one of its messages has completed.
static inline void gompi_call_run_plans(struct gompi_messages *m) {
	if (__builtin_expect(gompi_load(&m->plan_may_continue) != 0, 0))
		gompi_messages_run_plans(m);
}

// Calls the progress function of a request for which this thread waits, if the request has one.
static inline void gompi_request_progress(struct gompi_request *r) {
	if (__builtin_expect(r->kind != NULL, 0) && r->kind->progress != NULL)
		r->kind->progress(r);
}

// Waits until a request is not active. Returns 0, or MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN if the request can never
// complete.
int gompi_request_wait(struct gompi_request *r, const char *call);
// Waits as gompi_request_wait does. If failed_peer is not NULL, failed_peer(arg, place) decides which failed process
// ends the wait (find_failed in struct gompi_wait_desc).
int gompi_request_wait_with(struct gompi_request *r, const char *call,
			    int (*failed_peer)(const void *of, struct gompi_stuck_entry *place), const void *arg);
// Sets the processes on which waits of this thread for a receive depend, if the receive's communicator has no handle,
// or if only a part of its members take part in the call.
void gompi_request_set_members(const int32_t *members, int n);
// Sets whether waits of this thread for a request depend on all members of its communicator (struct gompi_wait_desc).
void gompi_request_set_depends_on_all(bool depends_on_all);
// Sets the field `outer` (struct gompi_wait_desc) of waits of this thread for a request.
void gompi_request_set_outer(uint64_t outer);
// Returns the number of a failed or unreachable process on which the request depends, or GOMPI_NONE_FAILED. The
// argument `place` is the argument `stuck` of gompi_failed_for_wait.
int gompi_request_failed_peer(const struct gompi_request *r, struct gompi_stuck_entry *place);
// Completes, with an error, an active request that depends on a failed process or a revoked communicator. Returns false
// if the request stays active. *class is then MPIX_ERR_PROC_FAILED_PENDING for a receive from MPI_ANY_SOURCE, or the
// class of the error that ends the wait.
__attribute__((cold)) bool gompi_request_fail(struct gompi_request *r, int *class);
// Sets the fields of *what that decide which failed processes end a wait for a receive r from MPI_ANY_SOURCE.
void gompi_request_set_failures(const struct gompi_request *r, struct gompi_wait_desc *what);
// Describes a wait for a request: stores in `*what` and `*t` the processes that must act. Leaves what->call unchanged.
void gompi_request_describe_wait(const struct gompi_request *r, struct gompi_wait_desc *what,
				 struct gompi_wait_details *t);

// Performs a checked send that could not complete immediately, and waits for it. Raises an error if it fails. Returns
// the result of the MPI function.
int gompi_send_blocking(const struct gompi_request *r, const char *call);
// Performs a send as gompi_send_blocking does, without raising an error. Returns 0 or the error class, described in v.
int gompi_send_wait(const struct gompi_request *r, const char *call, struct gompi_error_status *v);
// Receives into r, which has been checked and lies in the caller's memory. Waits until it is complete. Returns 0 or the
// error class of r. If r can never complete, abandons the receive and returns MPI_ERR_PROC_ABORTED or MPI_ERR_INTERN.
int gompi_receive_blocking(struct gompi_request *r, const char *call);
// Abandons a receive, so that no thread writes to its buffer any more. Returns true if nothing refers to the request
// any more; false if the caller must try again. The caller holds the VCI's lock.
bool gompi_abandon_receive(struct gompi_vci *l, struct gompi_request *r);
// Waits for a receive that has been matched or posted already. Returns the same values as gompi_receive_blocking.
int gompi_receive_wait(struct gompi_request *r, const char *call);
// Tries to complete a checked nonblocking send immediately. Returns true if it is complete. Else sets r->use_rendezvous
// if the data of the send must stay in this process until the send is matched.
bool gompi_isend_try_complete(struct gompi_request *r);
// The largest size of a nonblocking send that is eager even while messages for this process arrive (send_protocol.c).
enum { GOMPI_MAX_BOTH_WAYS_BYTES = 16 << 10 };
// Returns true if the receiver of r can read its data by process_vm_readv, and if the data have more than
// max_eager_bytes bytes.
bool gompi_may_use_rendezvous(const struct gompi_link *p, const struct gompi_request *r, int64_t max_eager_bytes);
// Creates a request from s, which has been checked, and stores its handle. The caller holds the VCI's lock. Returns
// NULL on failure; the caller then unlocks and calls gompi_raise_no_request.
struct gompi_request *gompi_request_create_locked(struct gompi_vci *l, const struct gompi_request *s,
						  MPI_Request *request);
__attribute__((cold)) int gompi_raise_no_request(const char *call, uintptr_t comm);
// Creates a request from r, which has been checked, and stores its handle. Starts the request unless it is persistent
// or complete. Returns the result of the MPI function.
int gompi_start_request(const struct gompi_request *r, const char *call, MPI_Request *request);
// Creates a persistent request in the most common case (gompi_recv_check_fast). In other cases returns false, and the
// caller must use gompi_call_check.
static inline bool gompi_init_fast(const void *at, int64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
				   bool receive, enum gompi_mode mode, MPI_Request *request) {
	struct gompi_request s;
	if (__builtin_expect(request == NULL || (!receive && (peer < 0 || tag < 0)), 0) ||
	    !gompi_recv_check_fast(&s, (void *)(uintptr_t)at, count, type, peer, tag, comm))
		return false;
	struct gompi_request *r = gompi_persistent_alloc(s.vci);
	if (__builtin_expect(r == NULL, 0))
		return false;
	const struct gompi_comm *c = gompi_comm_get(comm);
	gompi_request_copy_args(r, &s);
	r->source = c->rank;
	r->world = peer < 0 ? -1 : gompi_ranks_at(&c->peers, peer);
	r->receive = receive;
	r->mode = (uint8_t)mode;
	*request = (MPI_Request)gompi_request_handle(r);
	return true;
}
// Starts a persistent send or receive.
void gompi_request_restart(struct gompi_request *r);
// Starts a persistent buffered send. On success the request is complete. Otherwise the send has not started, and the
// function returns MPI_ERR_BUFFER or MPI_ERR_NO_MEM, described in v.
int gompi_buffered_start(struct gompi_request *r, struct gompi_error_status *v);

// Returns the request of a handle, or NULL if the handle is invalid.
static inline struct gompi_request *gompi_request_of(MPI_Request request) {
	uintptr_t h = (uintptr_t)request;
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	if (__builtin_expect(h >> GOMPI_KIND_BITS != GOMPI_KIND_REQUEST || m == NULL, 0)) {
		if (h >> GOMPI_KIND_BITS != GOMPI_KIND_PERSISTENT || m == NULL)
			return NULL;
		return gompi_table_get(&gompi_persistent_requests.handles.table, h);
	}
	struct gompi_vci *l = &m->vci[h >> GOMPI_REQUEST_INDEX_BITS & (GOMPI_VCI_COUNT - 1)];
	return gompi_table_get(&l->requests.handles.table, h);
}

static inline bool gompi_is_complete(const struct gompi_request *r) {
	// acquire: pairs with the release in gompi_complete
	return gompi_load_acquire((gompi_a32 *)&r->state) == REQUEST_COMPLETE;
}

static inline bool gompi_is_proc_null(const struct gompi_request *r) { return r->peer == MPI_PROC_NULL; }

// Completes a receive from MPI_PROC_NULL.
static inline void gompi_receive_proc_null(struct gompi_request *r) {
	r->result = (struct gompi_result){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

static inline void gompi_status_from_request(const struct gompi_request *r, MPI_Status *status) {
	gompi_status_fill(status, r->result.source, r->result.tag, r->result.bytes, r->result.cancelled);
}

// gompi_request_query calls the query function of a complete request. MPI functions that only read the result use it.
// MPI functions that end the request use gompi_request_finish, which also calls the release function, unless the
// request is persistent.
void gompi_request_query(struct gompi_request *r);
void gompi_request_finish_slow(struct gompi_request *r);
static inline void gompi_request_finish(struct gompi_request *r) {
	if (__builtin_expect(r->kind != NULL, 0))
		gompi_request_finish_slow(r);
}
// Ends a blocking receive that has completed with the error class `class`. Stores its status if the class is
// MPI_SUCCESS or MPI_ERR_TRUNCATE, and raises its error. Returns the result of the MPI function.
static inline int gompi_finish_receive(const struct gompi_request *r, int class, const char *call, MPI_Status *status) {
	if (class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE)
		gompi_status_from_request(r, status);
	return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : gompi_request_raise_error(r, call);
}
// Ends a request after gompi_request_finish: makes a persistent request inactive; frees any other request and sets its
// handle to MPI_REQUEST_NULL.
void gompi_request_end(struct gompi_request *r, MPI_Request *request);

#pragma GCC visibility pop
#endif
