// What the calls on requests find behind handles, and how those end it that complete requests.
#ifndef GOMPI_MESSAGE_HANDLES_H
#define GOMPI_MESSAGE_HANDLES_H

#include "base/loss.h"
#include "message/call.h"

static inline bool gompi_is_running(void) { return gompi_load(&gompi_messages_here) != NULL; }

// What a handle stands for.
enum gompi_what {
	GOMPI_LIVE,    // a request
	GOMPI_NOTHING, // MPI_REQUEST_NULL
	GOMPI_DONE,    // the one that is always complete
	GOMPI_UNKNOWN, // no request, or one that was completed or freed
};

static inline enum gompi_what gompi_what_is(MPI_Request h, struct gompi_request **r) {
	*r = gompi_request_of(h);
	if (__builtin_expect(*r != NULL, 1))
		return GOMPI_LIVE;
	return h == GOMPI_REQUEST_DONE ? GOMPI_DONE : h == MPI_REQUEST_NULL ? GOMPI_NOTHING : GOMPI_UNKNOWN;
}

// Returns true if there is nothing to complete: then the status is empty.
static inline bool gompi_is_idle(const struct gompi_request *r) {
	return gompi_load((gompi_a32 *)&r->state) == REQUEST_INACTIVE;
}

// Returns true if a handle's request can complete, and whether it has.
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
	// As gompi_look found them: how many can complete, how many of those have, and the first of these, -1: none.
	int active, complete, first;
};

// Looks at all. Returns the index of the first handle that is none of a request, count: there is none.
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

// Makes progress for a call that must not wait, if enough are not complete: all, or one. Returns true if they are.
static inline bool gompi_look_again(struct gompi_several *s, bool all) {
	if (s->active > 0 && (all ? s->complete < s->active : s->complete == 0) && gompi_message_progress())
		gompi_look(s);
	return all ? s->complete == s->active : s->complete > 0;
}

static inline MPI_Status *gompi_status_at(MPI_Status *statuses, int i) {
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// The request that GOMPI_REQUEST_DONE stands for has this status.
static inline void gompi_status_done(MPI_Status *status) {
	gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
}

#pragma GCC visibility push(hidden)

// What a call returns that has wrong arguments (gompi_array_refused): i is the handle, -1: something else is wrong.
__attribute__((cold)) int gompi_refuse_array(const char *call, const struct gompi_several *s, int i);
// Looks at the requests of a call. Returns true if that has wrong arguments: a handle that is no request's, or, unless
// there is a place for each result, NULL. Then *rc is what the call returns: MPI_ERR_COUNT, MPI_ERR_ARG,
// MPI_ERR_REQUEST.
static inline bool gompi_array_refused(const char *call, struct gompi_several *s, bool place, int *rc) {
	int i = -1;
	if (s->count >= 0 && (s->count == 0 || s->requests != NULL) && place && gompi_is_running())
		i = gompi_look(s);
	if (__builtin_expect(i >= 0 && i == s->count, 1))
		return false;
	*rc = gompi_refuse_array(call, s, i);
	return true;
}
// What a call on one request returns whose handle is none of a request.
__attribute__((cold)) int gompi_no_request(const char *call, MPI_Request request);

// Ends a complete request that has failed, and raises its error.
__attribute__((cold)) int gompi_end_failed(const char *call, struct gompi_request *r, MPI_Request *request);
// Ends a complete request, and stores its status. What the call returns.
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

// What ends a call with MPI_ERR_IN_STATUS: the first request of several that has failed.
struct gompi_failure {
	int which; // -1: none
	uintptr_t on;
	struct gompi_verdict why;
};

// Raises MPI_ERR_IN_STATUS for a request of n on what that was made on.
__attribute__((cold)) int gompi_in_status(const char *call, const struct gompi_failure *f, int n);

// Finds out what has become of a request; if it has failed and is the first to, it is why the call fails.
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

// Ends request i, which is complete and settled, or has nothing to complete, and stores its status. Its error class.
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

// Whose loss keeps one of several from ever being complete. *which: that one.
int gompi_loss_to_one(const struct gompi_several *s, struct gompi_stuck *place, int *which);
// The same as struct gompi_waiting has it.
int gompi_loss_to_any(const void *of, struct gompi_stuck *place);

#pragma GCC visibility pop
#endif
