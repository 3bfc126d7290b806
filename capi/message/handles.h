// Helpers for calls on requests: what a handle refers to, and how a call ends a complete request.
#ifndef GOMPI_MESSAGE_HANDLES_H
#define GOMPI_MESSAGE_HANDLES_H

#include "base/loss.h"
#include "message/call.h"

static inline bool gompi_is_running(void) { return gompi_load(&gompi_messages_here) != NULL; }

// What a handle refers to.
enum gompi_what {
	GOMPI_LIVE,    // an existing request
	GOMPI_NOTHING, // MPI_REQUEST_NULL
	GOMPI_DONE,    // GOMPI_REQUEST_DONE, which is always complete
	GOMPI_UNKNOWN, // an invalid handle, or a request that has been completed or freed
};

static inline enum gompi_what gompi_what_is(MPI_Request h, struct gompi_request **r) {
	*r = gompi_request_of(h);
	if (__builtin_expect(*r != NULL, 1))
		return GOMPI_LIVE;
	return h == GOMPI_REQUEST_DONE ? GOMPI_DONE : h == MPI_REQUEST_NULL ? GOMPI_NOTHING : GOMPI_UNKNOWN;
}

// Returns true if the request is inactive. Then there is nothing to complete, and the status is empty.
static inline bool gompi_is_idle(const struct gompi_request *r) {
	return gompi_load((gompi_a32 *)&r->state) == REQUEST_INACTIVE;
}

// Returns true if a handle's request is active or complete. Sets *complete if it is complete.
static inline bool gompi_is_active(MPI_Request h, bool *complete) {
	struct gompi_request *r;
	enum gompi_what w = gompi_what_is(h, &r);
	*complete = w == GOMPI_DONE || (w == GOMPI_LIVE && gompi_is_complete(r));
	return w == GOMPI_DONE || (w == GOMPI_LIVE && !gompi_is_idle(r));
}

// The requests of a call on an array.
struct gompi_several {
	int count;
	const MPI_Request *requests;
	// Results of gompi_look: number of active or complete requests, number of complete ones, and index of the first
	// complete one, or -1.
	int active, complete, first;
};

// Examines all handles. Returns the index of the first invalid handle, or count if all are valid.
static inline int gompi_look(struct gompi_several *s) {
	struct gompi_request *r;
	const MPI_Request *requests = s->requests;
	int i = 0, n = s->count, active = 0, complete = 0, first = -1;
	for (; i < n; i++) {
		enum gompi_what what = gompi_what_is(requests[i], &r);
		uint32_t state = REQUEST_COMPLETE;
		if (__builtin_expect(what == GOMPI_LIVE, 1))
			state = gompi_load_acquire(&r->state); // pairs with the release in gompi_complete
		else if (what == GOMPI_NOTHING)
			continue;
		else if (what == GOMPI_UNKNOWN)
			break;
		active += state != REQUEST_INACTIVE;
		if (state != REQUEST_COMPLETE)
			continue;
		if (complete++ == 0)
			first = i;
	}
	s->active = active;
	s->complete = complete;
	s->first = first;
	return i;
}

// Makes progress for a call that must not wait, unless enough requests are complete: all of them, or one. Examines the
// handles again. Returns true if enough are complete.
static inline bool gompi_look_again(struct gompi_several *s, bool all) {
	if (s->active > 0 && (all ? s->complete < s->active : s->complete == 0) && gompi_message_progress())
		gompi_look(s);
	return all ? s->complete == s->active : s->complete > 0;
}

static inline MPI_Status *gompi_status_at(MPI_Status *statuses, int i) {
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// Stores the status of GOMPI_REQUEST_DONE.
static inline void gompi_status_done(MPI_Status *status) {
	gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
}

#pragma GCC visibility push(hidden)

// Raises the error of a call with invalid arguments (gompi_array_refused). i is the index of the invalid handle, or -1
// if another argument is invalid.
__attribute__((cold)) int gompi_refuse_array(const char *call, const struct gompi_several *s, int i);
// Checks the arguments of a call on several requests and examines the handles. place tells that the result arguments
// are not NULL. Returns true if an argument is invalid. Then *rc is what the call returns: MPI_ERR_COUNT, MPI_ERR_ARG
// or MPI_ERR_REQUEST.
static inline bool gompi_array_refused(const char *call, struct gompi_several *s, bool place, int *rc) {
	int i = -1;
	if (s->count >= 0 && (s->count == 0 || s->requests != NULL) && place && gompi_is_running())
		i = gompi_look(s);
	if (__builtin_expect(i >= 0 && i == s->count, 1))
		return false;
	*rc = gompi_refuse_array(call, s, i);
	return true;
}
// Raises the error of a call on one request whose handle is invalid. Returns what the call returns.
__attribute__((cold)) int gompi_no_request(const char *call, MPI_Request request);

// Ends a complete request that has failed, and raises its error.
__attribute__((cold)) int gompi_end_failed(const char *call, struct gompi_request *r, MPI_Request *request);
// Ends a complete request and stores its status. Returns what the call returns.
static inline int gompi_end_one(const char *call, struct gompi_request *r, MPI_Request *request, MPI_Status *status) {
	gompi_request_settle(r);
	gompi_status_of(r, status);
	if (__builtin_expect(r->result.class != MPI_SUCCESS, 0))
		return gompi_end_failed(call, r, request);
	gompi_request_end(r, request);
	return MPI_SUCCESS;
}

static inline void gompi_end_done(MPI_Request *request, MPI_Status *status) {
	*request = MPI_REQUEST_NULL;
	gompi_status_done(status);
}

// The first failed request of a call that returns MPI_ERR_IN_STATUS.
struct gompi_failure {
	int which; // index of the request; -1 if none has failed
	uintptr_t on;
	struct gompi_verdict why;
};

// Raises MPI_ERR_IN_STATUS for a call on n requests, on the object of the failed request.
__attribute__((cold)) int gompi_in_status(const char *call, const struct gompi_failure *f, int n);

// Settles request i if it is complete. Records it in f if it has failed and is the first that has.
static inline void gompi_settle(MPI_Request h, int i, struct gompi_failure *f) {
	struct gompi_request *r;
	if (gompi_what_is(h, &r) != GOMPI_LIVE || !gompi_is_complete(r))
		return;
	gompi_request_settle(r);
	if (__builtin_expect(r->result.class != MPI_SUCCESS, 0) && f->which < 0) {
		f->which = i;
		f->on = r->comm;
		gompi_request_why(r, &f->why);
	}
}

// Ends a request that is complete and settled, or that has nothing to complete. Stores its status. Returns its error
// class.
static inline int gompi_end_at(MPI_Request *request, MPI_Status *status) {
	struct gompi_request *r;
	int class = MPI_SUCCESS;
	switch (gompi_what_is(*request, &r)) {
	case GOMPI_LIVE:
		if (gompi_is_idle(r)) {
			gompi_status_empty(status);
			break;
		}
		class = r->result.class;
		gompi_status_of(r, status);
		gompi_request_end(r, request);
		break;
	case GOMPI_DONE:
		gompi_end_done(request, status);
		break;
	default:
		gompi_status_empty(status);
	}
	return class;
}

// Returns the failed process because of which one of several requests can never complete, as gompi_loss_to does. Sets
// *which to the index of that request.
int gompi_loss_to_one(const struct gompi_several *s, struct gompi_stuck *place, int *which);
// Does the same with the signature of lost in struct gompi_waiting.
int gompi_loss_to_any(const void *of, struct gompi_stuck *place);

#pragma GCC visibility pop
#endif
