// What the calls of messages share: looking at their arguments, waiting for a request, ending it.
#ifndef GOMPI_MESSAGE_CALL_H
#define GOMPI_MESSAGE_CALL_H

#include "base/status.h"
#include "base/up.h"
#include "comm/comm.h"
#include "message/messages.h"

#pragma GCC visibility push(hidden)

// The triple of address, count and datatype, and with whom and how: as the application has passed them.
struct gompi_envelope {
	const char *call;
	const void *at;
	int64_t count;
	MPI_Datatype type;
	int32_t peer, tag;
	MPI_Comm comm;
};

// Checks the arguments of a send or, with receive, of a receive, and fills in what r is about: peer, tag, context,
// lane, buffer, and for a send source and world. MPI_PROC_NULL is left as peer. 0, or the verdict's class.
int gompi_call_check(struct gompi_request *r, const struct gompi_envelope *e, bool receive, struct gompi_verdict *v);

// Raises a verdict on the communicator, or on none if that does not exist.
__attribute__((cold)) int gompi_call_refuse(const struct gompi_verdict *v, const char *call, MPI_Comm comm);
// The same for a request's object, which may be a window.
__attribute__((cold)) int gompi_request_raise(const struct gompi_verdict *v, const char *call, uintptr_t on);
// The same for what a request has ended with.
__attribute__((cold)) int gompi_request_refuse(const struct gompi_request *r, const char *call);
// The same for why one never will be complete (gompi_request_lost).
__attribute__((cold)) int gompi_request_gone(const char *call, int class, uintptr_t on);
// Raises an error on no object.
__attribute__((cold, format(printf, 3, 4))) int gompi_call_error(const char *call, int class, const char *text, ...);

// The same for the most common send: no error, no request, and not to this process. The link it goes by; NULL: look
// closer.
static inline struct gompi_link *gompi_call_quick(struct gompi_request *r, const void *at, int64_t count,
						  MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	if (__builtin_expect(c == NULL || m == NULL || (uint32_t)dest >= (uint32_t)c->peers.n || tag < 0, 0) ||
	    !gompi_buffer_simple(&r->buf, at, count, type))
		return NULL;
	int world = gompi_ranks_at(&c->peers, dest);
	if (world == m->node.self)
		return NULL;
	r->context = c->id;
	r->source = c->rank;
	r->tag = tag;
	r->lane = gompi_lane_of(m, c->id);
	r->urgent = false;
	int process = gompi_messages_process(m, world);
	return process < 0 ? NULL : gompi_load_acquire(&r->lane->links[process]);
}

// The same for a receive.
static inline bool gompi_call_quick_receive(struct gompi_request *r, void *at, int64_t count, MPI_Datatype type,
					    int source, int tag, MPI_Comm comm) {
	struct gompi_comm *c = gompi_comm_get(comm);
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	if (__builtin_expect(c == NULL || m == NULL, 0) ||
	    ((uint32_t)source >= (uint32_t)c->peers.n && source != MPI_ANY_SOURCE) || (tag < 0 && tag != MPI_ANY_TAG) ||
	    !gompi_buffer_simple(&r->buf, at, count, type))
		return false;
	r->context = c->id;
	r->comm = (uintptr_t)comm;
	r->peer = source;
	r->tag = tag;
	r->lane = gompi_lane_of(m, c->id);
	return true;
}

// Makes r about what a quick check has described.
static inline void gompi_request_describe(struct gompi_request *r, const struct gompi_request *s) {
	r->buf.at = s->buf.at;
	r->buf.size = s->buf.size;
	r->buf.type = NULL;
	r->buf.skip = 0;
	r->context = s->context;
	r->comm = s->comm;
	r->peer = s->peer;
	r->tag = s->tag;
}

// A request with a handle of what a quick check has described, in its lane, whose lock is held: it is to be made a
// receive or a send. NULL: there is no memory, or too many are live.
static inline struct gompi_request *gompi_request_quick(const struct gompi_request *s) {
	struct gompi_request *r = gompi_request_take(s->lane);
	if (__builtin_expect(r == NULL, 0))
		return NULL;
	gompi_request_describe(r, s);
	if (__builtin_expect(gompi_request_add(r), 1))
		return r;
	gompi_request_give(r);
	return NULL;
}

// The buffer that a buffered send on a communicator uses, which may be attached or not: the communicator's, else the
// process'. NULL: the communicator has been freed.
static inline struct gompi_bsend_buffer *gompi_attached_for(struct gompi_messages *m, struct gompi_comm *c) {
	// acquire: pairs with the change in first_attached
	struct gompi_bsend_buffer *a = c != NULL ? gompi_load_acquire(&c->attached) : NULL;
	return __builtin_expect(a != NULL, 0) && gompi_load(&a->room) != 0 ? a : &m->attached;
}

// Lets operations of several messages go on, if one of their messages has completed.
static inline void gompi_call_step(struct gompi_messages *m) {
	if (__builtin_expect(gompi_load(&m->stepped) != 0, 0))
		gompi_messages_step(m);
}

// Advances a request for whoever waits for it.
static inline void gompi_request_advance(struct gompi_request *r) {
	if (__builtin_expect(r->kind != NULL, 0) && r->kind->progress != NULL)
		r->kind->progress(r);
}

// Waits until a request is not active. 0, or what it can never become that for: MPI_ERR_PROC_ABORTED, MPI_ERR_INTERN.
int gompi_request_await(struct gompi_request *r, const char *call);
// The same for a wait that the losses end which lost tells of (struct gompi_waiting) instead of the request's own.
int gompi_request_await_with(struct gompi_request *r, const char *call,
			     int (*lost)(const void *of, struct gompi_stuck *place), const void *of);
// Whose loss keeps a request from ever being complete, as gompi_loss_to tells.
int gompi_request_loss(const struct gompi_request *r, struct gompi_stuck *place);
// Writes what a wait for a request is for; what->call stays.
void gompi_request_awaits(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t);

// What a send does that is not over at once: r has been checked. Waits for it. What the call returns.
int gompi_send_blocking(const struct gompi_request *r, const char *call);
// The same without raising anything: 0, or the verdict's class.
int gompi_send_class(const struct gompi_request *r, const char *call, struct gompi_verdict *v);
// Receives into r, which has been checked and lies in the caller's memory. 0 or the class that r has ended with, or
// that it was given up for.
int gompi_receive_blocking(struct gompi_request *r, const char *call);
// The same for one that has been matched or posted already.
int gompi_receive_posted(struct gompi_request *r, const char *call);
// Sends what r describes, which has been checked, as a nonblocking send does if that is over at once. Returns true if
// it is; else r says whether its data stays here.
bool gompi_isend_over(struct gompi_request *r);
// Makes a request like s, which has been checked, under the lane's lock, and stores its handle. NULL: it cannot be,
// which gompi_call_no_request raises.
struct gompi_request *gompi_start_taken(struct gompi_lane *l, const struct gompi_request *s, MPI_Request *request);
__attribute__((cold)) int gompi_call_no_request(const struct gompi_request *s, const char *call);
// Stores a handle of r, which has been checked, and starts it unless it is persistent or complete. What the call
// returns.
int gompi_start_request(const struct gompi_request *r, const char *call, MPI_Request *request);
// Makes a persistent request, if the arguments are what most are. Returns true if it has; else look closer.
static inline bool gompi_init_quick(const void *at, int64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
				    bool receive, enum gompi_mode mode, MPI_Request *request) {
	struct gompi_request s;
	if (__builtin_expect(request == NULL || (!receive && (peer < 0 || tag < 0)), 0) ||
	    !gompi_call_quick_receive(&s, (void *)(uintptr_t)at, count, type, peer, tag, comm))
		return false;
	struct gompi_request *r = gompi_persistent_make(s.lane);
	if (__builtin_expect(r == NULL, 0))
		return false;
	const struct gompi_comm *c = gompi_comm_get(comm);
	gompi_request_describe(r, &s);
	r->source = c->rank;
	r->world = peer < 0 ? -1 : gompi_ranks_at(&c->peers, peer);
	r->receive = receive;
	r->mode = (uint8_t)mode;
	*request = (MPI_Request)gompi_request_handle(r);
	return true;
}
// Starts a persistent request.
void gompi_request_restart(struct gompi_request *r);
// The same of a buffered send, which is complete at once, or not started: 0, or the verdict's class, MPI_ERR_BUFFER or
// MPI_ERR_NO_MEM.
int gompi_buffered_start(struct gompi_request *r, struct gompi_verdict *v);

// The request behind a handle; NULL: there is none.
static inline struct gompi_request *gompi_request_of(MPI_Request request) {
	uintptr_t h = (uintptr_t)request;
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	if (__builtin_expect(h >> GOMPI_KIND_BITS != GOMPI_KIND_REQUEST || m == NULL, 0)) {
		if (h >> GOMPI_KIND_BITS != GOMPI_KIND_PERSISTENT || m == NULL)
			return NULL;
		return gompi_table_get(&gompi_persistent.handles.table, h);
	}
	struct gompi_lane *l = &m->lane[h >> GOMPI_REQUEST_NUMBER_BITS & (GOMPI_LANES - 1)];
	return gompi_table_get(&l->requests.handles.table, h);
}

static inline bool gompi_is_complete(const struct gompi_request *r) {
	// acquire: pairs with the release in gompi_complete
	return gompi_load_acquire((gompi_a32 *)&r->state) == REQUEST_COMPLETE;
}

static inline bool gompi_is_nobody(const struct gompi_request *r) { return r->peer == MPI_PROC_NULL; }

// Completes a receive from MPI_PROC_NULL.
static inline void gompi_receive_nobody(struct gompi_request *r) {
	r->result = (struct gompi_result){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
	gompi_store_release(&r->state, REQUEST_COMPLETE);
}

static inline void gompi_status_of(const struct gompi_request *r, MPI_Status *status) {
	gompi_status_fill(status, r->result.source, r->result.tag, r->result.bytes, r->result.cancelled);
}

// Finds out what has become of a complete request, if its kind has to be asked, for a call that looks at it; settle:
// for one that ends it.
void gompi_request_query(struct gompi_request *r);
void gompi_request_settle_other(struct gompi_request *r);
static inline void gompi_request_settle(struct gompi_request *r) {
	if (__builtin_expect(r->kind != NULL, 0))
		gompi_request_settle_other(r);
}
// Ends a blocking receive, which has ended with a class: what the call returns.
static inline int gompi_finish_receive(const struct gompi_request *r, int class, const char *call, MPI_Status *status) {
	if (class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE)
		gompi_status_of(r, status);
	return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : gompi_request_refuse(r, call);
}
// What a call that completes a request, which has been settled, does with it and its handle.
void gompi_request_end(struct gompi_request *r, MPI_Request *request);

#pragma GCC visibility pop
#endif
