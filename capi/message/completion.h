// Helpers for MPI functions on requests: they classify handles, and end complete requests.
#ifndef GOMPI_MESSAGE_COMPLETION_H
#define GOMPI_MESSAGE_COMPLETION_H

#include "base/failure.h"
#include "comm/failures.h"
#include "message/call.h"

static inline bool gompi_is_running(void) { return gompi_load(&gompi_app_messages) != NULL; }

// The object to which a request handle refers.
enum gompi_handle_state {
	GOMPI_HANDLE_LIVE,    // an existing request
	GOMPI_HANDLE_NULL,    // MPI_REQUEST_NULL
	GOMPI_HANDLE_DONE,    // GOMPI_REQUEST_DONE: the operation was complete when its call returned
	GOMPI_HANDLE_INVALID, // an invalid handle, or a request that has been completed or freed
};

static inline enum gompi_handle_state gompi_classify_handle(MPI_Request h, struct gompi_request **r) {
	*r = gompi_request_of(h);
	if (__builtin_expect(*r != NULL, 1))
		return GOMPI_HANDLE_LIVE;
	return h == GOMPI_REQUEST_DONE ? GOMPI_HANDLE_DONE
	       : h == MPI_REQUEST_NULL ? GOMPI_HANDLE_NULL
				       : GOMPI_HANDLE_INVALID;
}

// Returns true if the request is inactive. A wait or test of an inactive request returns immediately with an empty
// status.
static inline bool gompi_is_inactive(const struct gompi_request *r) {
	return gompi_load((gompi_a32 *)&r->state) == REQUEST_INACTIVE;
}

// Returns true if the request of a handle is active or complete. Sets *complete to true if it is complete, else to
// false.
static inline bool gompi_is_active(MPI_Request h, bool *complete) {
	struct gompi_request *r;
	enum gompi_handle_state w = gompi_classify_handle(h, &r);
	*complete = w == GOMPI_HANDLE_DONE || (w == GOMPI_HANDLE_LIVE && gompi_is_complete(r));
	return w == GOMPI_HANDLE_DONE || (w == GOMPI_HANDLE_LIVE && !gompi_is_inactive(r));
}

// The request array of a call such as MPI_Waitall.
struct gompi_request_array {
	int count;
	const MPI_Request *requests;
	// Results of gompi_array_scan. active_count: number of requests that are active or complete. complete_count:
	// number of complete requests. first_complete: index of the first complete request, or -1.
	int active_count, complete_count, first_complete;
};

// Examines all handles. Returns the index of the first invalid handle, or count if all are valid.
static inline int gompi_array_scan(struct gompi_request_array *s) {
	struct gompi_request *r;
	const MPI_Request *requests = s->requests;
	int i = 0, n = s->count, active = 0, complete = 0, first = -1;
	for (; i < n; i++) {
		enum gompi_handle_state what = gompi_classify_handle(requests[i], &r);
		uint32_t state = REQUEST_COMPLETE;
		if (__builtin_expect(what == GOMPI_HANDLE_LIVE, 1))
			state = gompi_load_acquire(&r->state); // pairs with the release in gompi_complete
		else if (what == GOMPI_HANDLE_NULL)
			continue;
		else if (what == GOMPI_HANDLE_INVALID)
			break;
		active += state != REQUEST_INACTIVE;
		if (state != REQUEST_COMPLETE)
			continue;
		if (complete++ == 0)
			first = i;
	}
	s->active_count = active;
	s->complete_count = complete;
	s->first_complete = first;
	return i;
}

// Makes progress for a call that must not wait, and examines the handles again. Does nothing if enough requests are
// complete already: all active requests if `all` is set, otherwise one request. Returns true if enough requests are
// complete.
static inline bool gompi_array_progress(struct gompi_request_array *s, bool all) {
	if (s->active_count > 0 && (all ? s->complete_count < s->active_count : s->complete_count == 0) &&
	    gompi_test_progress())
		gompi_array_scan(s);
	return all ? s->complete_count == s->active_count : s->complete_count > 0;
}

static inline MPI_Status *gompi_status_at(MPI_Status *statuses, int i) {
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// Stores the status of GOMPI_REQUEST_DONE.
static inline void gompi_status_done(MPI_Status *status) {
	gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
}

#pragma GCC visibility push(hidden)

// Raises the error that gompi_array_is_invalid has found. The argument i is the index of the invalid handle, or -1 if
// another argument is invalid.
__attribute__((cold)) int gompi_array_raise(const char *call, const struct gompi_request_array *s, int i);
// Checks the arguments of a call on several requests and examines the handles. The flag has_results is set if the
// result arguments are not NULL. Returns true if an argument is invalid. The function has then raised MPI_ERR_COUNT,
// MPI_ERR_ARG or MPI_ERR_REQUEST, and *rc is the result of the MPI function.
static inline bool gompi_array_is_invalid(const char *call, struct gompi_request_array *s, bool has_results, int *rc) {
	int i = -1;
	if (s->count >= 0 && (s->count == 0 || s->requests != NULL) && has_results && gompi_is_running())
		i = gompi_array_scan(s);
	if (__builtin_expect(i >= 0 && i == s->count, 1))
		return false;
	*rc = gompi_array_raise(call, s, i);
	return true;
}
// Raises the error of an MPI function whose request handle is invalid. Returns the result of the MPI function.
__attribute__((cold)) int gompi_raise_invalid_request(const char *call, MPI_Request request);

// Ends a complete request that has failed, and raises its error.
__attribute__((cold)) int gompi_end_failed(const char *call, struct gompi_request *r, MPI_Request *request);
// Ends a complete request, stores its status, and raises its error. Returns the result of the MPI function.
static inline int gompi_end_with_status(const char *call, struct gompi_request *r, MPI_Request *request,
					MPI_Status *status) {
	gompi_request_finish(r);
	gompi_status_from_request(r, status);
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
struct gompi_first_failure {
	int failed_index; // index of the request; -1 if none has failed
	uintptr_t object;
	struct gompi_error_status error;
};

// Raises MPI_ERR_IN_STATUS for a call on n requests, on the object of the failed request.
__attribute__((cold)) int gompi_raise_in_status(const char *call, const struct gompi_first_failure *f, int n);

// Calls gompi_request_finish for request i if it is complete. If the request has failed, and no earlier one has, stores
// its index and object in *f.
static inline void gompi_finish_if_complete(MPI_Request h, int i, struct gompi_first_failure *f) {
	struct gompi_request *r;
	if (gompi_classify_handle(h, &r) != GOMPI_HANDLE_LIVE || !gompi_is_complete(r))
		return;
	gompi_request_finish(r);
	if (__builtin_expect(r->result.class != MPI_SUCCESS, 0) && f->failed_index < 0) {
		f->failed_index = i;
		f->object = r->comm;
		gompi_request_error_detail(r, &f->error);
	}
}

// Ends a complete request for which gompi_request_finish has been called, stores its status, and returns its error
// class. For an inactive request or MPI_REQUEST_NULL, stores an empty status and returns MPI_SUCCESS.
static inline int gompi_end_any(MPI_Request *request, MPI_Status *status) {
	struct gompi_request *r;
	int class = MPI_SUCCESS;
	switch (gompi_classify_handle(*request, &r)) {
	case GOMPI_HANDLE_LIVE:
		if (gompi_is_inactive(r)) {
			gompi_status_set_empty(status);
			break;
		}
		class = r->result.class;
		if (__builtin_expect(class == MPI_ERR_PROC_ABORTED, 0))
			class = gompi_fault_class(class, r->comm);
		gompi_status_from_request(r, status);
		gompi_request_end(r, request);
		break;
	case GOMPI_HANDLE_DONE:
		gompi_end_done(request, status);
		break;
	default:
		gompi_status_set_empty(status);
	}
	return class;
}

// Returns the number of a failed process that prevents a request of the array from completing, or GOMPI_NONE_FAILED.
// Sets *failed_index to the index of that request.
int gompi_array_failed_peer(const struct gompi_request_array *s, struct gompi_stuck_entry *place, int *failed_index);
// Completes the active requests of the array that can never complete (gompi_request_fail). Returns true if there are
// any. Otherwise *pending_class is MPIX_ERR_PROC_FAILED_PENDING if there is such a receive from MPI_ANY_SOURCE.
__attribute__((cold)) bool gompi_array_fail(const struct gompi_request_array *s, int *pending_class);
// Calls gompi_request_fail if an active request depends on a failed process or a revoked communicator. Otherwise
// returns false, with MPI_SUCCESS in *class.
__attribute__((cold)) bool gompi_request_test_failed(struct gompi_request *r, int *class);
// Returns true if a process has failed or a communicator has been revoked, so that a call that tests for requests must
// check them.
static inline bool gompi_must_check_failures(void) { return __builtin_expect(gompi_failure_count() != 0, 0); }
// Implements find_failed (struct gompi_wait_desc) for a wait on a request array: calls gompi_array_failed_peer.
int gompi_array_any_failed(const void *of, struct gompi_stuck_entry *place);

#pragma GCC visibility pop
#endif
