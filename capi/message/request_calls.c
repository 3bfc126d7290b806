// Querying, freeing, cancelling and starting requests (MPI-5.0 3.7.3, 3.7.6, 3.8.4, 3.9).
#include "base/poll.h"
#include "message/handles.h"
#include "message/z_calls.h"

// Stores the status of a request that is complete or inactive, without ending it. If a generalized request's query
// function has failed, that is the call's error. The call that ends the request raises any other error.
static int look_at_request(const char *call, MPI_Request h, MPI_Status *status) {
	struct gompi_request *r;
	switch (gompi_what_is(h, &r)) {
	case GOMPI_LIVE:
		if (gompi_is_idle(r))
			break;
		gompi_request_query(r);
		gompi_status_of(r, status);
		return r->kind != NULL && r->kind->query != NULL && r->result.class != MPI_SUCCESS
			       ? gompi_request_refuse(r, call)
			       : MPI_SUCCESS;
	case GOMPI_DONE:
		gompi_status_done(status);
		return MPI_SUCCESS;
	default:
		break;
	}
	gompi_status_empty(status);
	return MPI_SUCCESS;
}

int gompi_request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
	const char *call = "MPI_Request_get_status";
	struct gompi_request *r;
	if (__builtin_expect(flag == NULL || gompi_load(&gompi_messages_here) == NULL, 0))
		return gompi_call_error(call, MPI_ERR_ARG, "flag is NULL");
	enum gompi_what w = gompi_what_is(request, &r);
	if (w == GOMPI_UNKNOWN)
		return gompi_no_request(call, request);
	*flag = w != GOMPI_LIVE || gompi_load_acquire(&r->state) != REQUEST_ACTIVE ||
		(gompi_message_progress() && gompi_load_acquire(&r->state) != REQUEST_ACTIVE);
	if (*flag)
		return look_at_request(call, request, status);
	gompi_message_polled();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Request_get_status, gompi_request_get_status);

int gompi_request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	const char *call = "MPI_Request_get_status_all";
	int rc = MPI_SUCCESS;
	struct gompi_several s = {.count = count, .requests = requests};
	if (gompi_array_refused(call, &s, flag != NULL, &rc))
		return rc;
	*flag = gompi_look_again(&s, true);
	if (!*flag)
		gompi_message_polled();
	for (int i = 0; i < count && *flag; i++) {
		int code = look_at_request(call, requests[i], gompi_status_at(statuses, i));
		if (rc == MPI_SUCCESS)
			rc = code;
	}
	return rc;
}
GOMPI_ENTRY(MPI_Request_get_status_all, gompi_request_get_status_all);

int gompi_request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	const char *call = "MPI_Request_get_status_any";
	int rc;
	struct gompi_several s = {.count = count, .requests = requests};
	if (gompi_array_refused(call, &s, index != NULL && flag != NULL, &rc))
		return rc;
	bool found = gompi_look_again(&s, false);
	*flag = found || s.active == 0;
	*index = found ? s.first : MPI_UNDEFINED;
	if (found)
		return look_at_request(call, requests[s.first], status);
	if (*flag)
		gompi_status_empty(status);
	else
		gompi_message_polled();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Request_get_status_any, gompi_request_get_status_any);

int gompi_request_get_status_some(int incount, const MPI_Request requests[], int *outcount, int indices[],
				  MPI_Status statuses[]) {
	const char *call = "MPI_Request_get_status_some";
	int rc = MPI_SUCCESS, n = 0;
	bool complete;
	struct gompi_several s = {.count = incount, .requests = requests};
	if (gompi_array_refused(call, &s, outcount != NULL && (incount == 0 || indices != NULL), &rc))
		return rc;
	if (s.active == 0) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	bool found = gompi_look_again(&s, false);
	for (int i = 0; i < incount && found; i++) {
		if (!gompi_is_active(requests[i], &complete) || !complete)
			continue;
		int code = look_at_request(call, requests[i], gompi_status_at(statuses, n));
		if (rc == MPI_SUCCESS)
			rc = code;
		indices[n++] = i;
	}
	*outcount = n;
	if (n == 0)
		gompi_message_polled();
	return rc;
}
GOMPI_ENTRY(MPI_Request_get_status_some, gompi_request_get_status_some);

static __attribute__((noinline)) bool no_live_request(const char *call, const MPI_Request *at, struct gompi_request **r,
						      int *rc) {
	if (at == NULL || gompi_load(&gompi_messages_here) == NULL) {
		*rc = gompi_call_error(call, MPI_ERR_ARG, "request is NULL");
		return false;
	}
	switch (gompi_what_is(*at, r)) {
	case GOMPI_NOTHING:
		*rc = gompi_call_error(call, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
		return false;
	case GOMPI_UNKNOWN:
		*rc = gompi_no_request(call, *at);
		return false;
	default:
		return true;
	}
}

// Stores the request at an address in *r, or NULL for GOMPI_REQUEST_DONE. Returns false if the handle is invalid; then
// *rc is what the call returns.
static inline bool single_request(const char *call, const MPI_Request *at, struct gompi_request **r, int *rc) {
	*r = at != NULL ? gompi_request_of(*at) : NULL;
	return __builtin_expect(*r != NULL, 1) || no_live_request(call, at, r, rc);
}

// Implements MPI_Request_free (MPI-5.0 3.7.3): frees a complete or inactive request immediately, an active one upon
// completion.
int gompi_request_free(MPI_Request *request) {
	const char *call = "MPI_Request_free";
	int rc;
	struct gompi_request *r;
	if (!single_request(call, request, &r, &rc))
		return rc;
	if (r == NULL) {
		*request = MPI_REQUEST_NULL;
		return MPI_SUCCESS;
	}
	if (r->apart && gompi_persistent_free(r)) {
		*request = MPI_REQUEST_NULL;
		return MPI_SUCCESS;
	}
	// With MPI_PROC_NULL, the operation may be complete already. With other peers that depends on timing, so a
	// request that is complete but has not been waited for is refused too.
	if (r->kind != NULL && r->kind->idle_to_free && !gompi_is_idle(r) &&
	    (r->peer != MPI_PROC_NULL || gompi_load(&r->state) == REQUEST_ACTIVE)) {
		struct gompi_verdict v;
		gompi_error(&v, MPI_ERR_REQUEST,
			    "the partitioned request is active: complete it (MPI_Wait) before freeing it");
		return gompi_request_raise(&v, call, r->comm);
	}
	struct gompi_lane *l = r->lane;
	gompi_lane_take(l);
	bool active = gompi_load(&r->state) == REQUEST_ACTIVE && (r->kind == NULL || !r->kind->lets_go);
	bool other = !active && r->kind != NULL;
	if (!active || r->kind == NULL || !r->kind->keeps)
		gompi_request_remove(r);
	if (active)
		r->freed = true;
	else if (!other)
		gompi_request_give(r); // r is invalid from here on
	gompi_lane_give(l);
	*request = MPI_REQUEST_NULL;
	if (!other)
		return MPI_SUCCESS;
	struct gompi_verdict v;
	uintptr_t on = r->comm;
	r->result.class = MPI_SUCCESS; // discards the error of the operation
	return gompi_request_forget(r, &v) == MPI_SUCCESS ? MPI_SUCCESS : gompi_request_raise(&v, call, on);
}
GOMPI_ENTRY(MPI_Request_free, gompi_request_free);

// Implements MPI_Cancel (MPI-5.0 3.8.4).
int gompi_cancel(MPI_Request *request) {
	const char *call = "MPI_Cancel";
	int rc;
	struct gompi_request *r;
	if (!single_request(call, request, &r, &rc))
		return rc;
	if (r == NULL)
		return MPI_SUCCESS;
	if (r->kind != NULL) {
		struct gompi_verdict v = {.class = MPI_SUCCESS};
		if (r->kind->cancel == NULL)
			gompi_error(&v, MPI_ERR_REQUEST,
				    "only requests of point-to-point messages and generalized requests can be "
				    "cancelled");
		else
			v.class = r->kind->cancel(r, &v);
		return v.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_request_raise(&v, call, r->comm);
	}
	gompi_lane_take(r->lane);
	gompi_cancel_locked(r->lane, r);
	gompi_lane_end(r->lane);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cancel, gompi_cancel);

// Returns true if a request can be started. Else v describes the error, MPI_ERR_REQUEST.
static bool is_startable(const struct gompi_request *r, struct gompi_verdict *v) {
	if (r == NULL || !r->persistent)
		gompi_error(v, MPI_ERR_REQUEST, "the request is not persistent and cannot be started");
	else if (!gompi_is_idle(r))
		gompi_error(v, MPI_ERR_REQUEST,
			    "the persistent request is active: complete it (MPI_Wait) before starting it again");
	else
		return true;
	return false;
}

static int start_again(struct gompi_request *r, struct gompi_verdict *v) {
	if (__builtin_expect(r->kind == NULL, 1)) {
		if (__builtin_expect(r->mode == MODE_BUFFERED, 0))
			return gompi_buffered_start(r, v);
		gompi_request_restart(r);
		return MPI_SUCCESS;
	}
	gompi_store(&r->state, REQUEST_ACTIVE);
	int class = r->kind->start(r, v);
	if (class != MPI_SUCCESS)
		gompi_store(&r->state, REQUEST_INACTIVE);
	return class;
}

// Implements MPI_Start. Raises MPI_ERR_REQUEST if the request is not persistent, or active.
int gompi_start(MPI_Request *request) {
	const char *call = "MPI_Start";
	struct gompi_verdict v;
	int rc;
	struct gompi_request *r;
	if (!single_request(call, request, &r, &rc))
		return rc;
	if (__builtin_expect(is_startable(r, &v) && start_again(r, &v) == MPI_SUCCESS, 1))
		return MPI_SUCCESS;
	return gompi_request_raise(&v, call, r != NULL ? r->comm : (uintptr_t)MPI_COMM_NULL);
}
GOMPI_ENTRY(MPI_Start, gompi_start);

static __attribute__((cold)) int refuse_at(const char *call, const struct gompi_verdict *why, int i, int n,
					   const struct gompi_request *r) {
	struct gompi_verdict v;
	gompi_error(&v, why->class, "request %d of %d: %.300s", i, n, why->text);
	return gompi_request_raise(&v, call, r != NULL ? r->comm : (uintptr_t)MPI_COMM_NULL);
}

// Implements MPI_Startall. Starts no request unless all can be started.
int gompi_startall(int count, MPI_Request requests[]) {
	const char *call = "MPI_Startall";
	struct gompi_request *r;
	struct gompi_verdict v;
	int rc;
	struct gompi_several s = {.count = count, .requests = requests};
	if (gompi_array_refused(call, &s, true, &rc))
		return rc;
	for (int i = 0; i < count; i++) {
		bool nothing = gompi_what_is(requests[i], &r) == GOMPI_NOTHING;
		if (nothing)
			gompi_error(&v, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
		if (nothing || !is_startable(r, &v))
			return refuse_at(call, &v, i, count, r);
	}
	for (int i = 0; i < count; i++) {
		r = gompi_request_of(requests[i]);
		if (start_again(r, &v) != MPI_SUCCESS)
			return refuse_at(call, &v, i, count, r);
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Startall, gompi_startall);
