// Querying, freeing, cancelling and starting requests (MPI-5.0 3.7.3, 3.7.6, 3.8.4, 3.9).
#include "base/poll.h"
#include "message/completion.h"
#include "message/z_calls.h"

// Stores the status of a complete or inactive request, without ending the request. If the query callback of a
// generalized request fails, raises its error. All other errors are raised by the call that ends the request.
static int query_request_status(const char *call, MPI_Request h, MPI_Status *status) {
	struct gompi_request *r;
	switch (gompi_classify_handle(h, &r)) {
	case GOMPI_HANDLE_LIVE:
		if (gompi_is_inactive(r))
			break;
		gompi_request_query(r);
		gompi_status_from_request(r, status);
		return r->kind != NULL && r->kind->query != NULL && r->result.class != MPI_SUCCESS
			       ? gompi_request_raise_error(r, call)
			       : MPI_SUCCESS;
	case GOMPI_HANDLE_DONE:
		gompi_status_done(status);
		return MPI_SUCCESS;
	default:
		break;
	}
	gompi_status_set_empty(status);
	return MPI_SUCCESS;
}

int gompi_request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
	const char *call = "MPI_Request_get_status";
	struct gompi_request *r;
	if (__builtin_expect(flag == NULL || gompi_load(&gompi_app_messages) == NULL, 0))
		return gompi_call_error(call, MPI_ERR_ARG, "flag is NULL");
	enum gompi_handle_state w = gompi_classify_handle(request, &r);
	if (w == GOMPI_HANDLE_INVALID)
		return gompi_raise_invalid_request(call, request);
	*flag = w != GOMPI_HANDLE_LIVE || gompi_load_acquire(&r->state) != REQUEST_ACTIVE ||
		(gompi_test_progress() && gompi_load_acquire(&r->state) != REQUEST_ACTIVE);
	if (*flag)
		return query_request_status(call, request, status);
	gompi_test_unsuccessful();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Request_get_status, gompi_request_get_status);

int gompi_request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	const char *call = "MPI_Request_get_status_all";
	int rc = MPI_SUCCESS;
	struct gompi_request_array s = {.count = count, .requests = requests};
	if (gompi_array_is_invalid(call, &s, flag != NULL, &rc))
		return rc;
	*flag = gompi_array_progress(&s, true);
	if (!*flag)
		gompi_test_unsuccessful();
	for (int i = 0; i < count && *flag; i++) {
		int code = query_request_status(call, requests[i], gompi_status_at(statuses, i));
		if (rc == MPI_SUCCESS)
			rc = code;
	}
	return rc;
}
GOMPI_ENTRY(MPI_Request_get_status_all, gompi_request_get_status_all);

int gompi_request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	const char *call = "MPI_Request_get_status_any";
	int rc;
	struct gompi_request_array s = {.count = count, .requests = requests};
	if (gompi_array_is_invalid(call, &s, index != NULL && flag != NULL, &rc))
		return rc;
	bool found = gompi_array_progress(&s, false);
	*flag = found || s.active_count == 0;
	*index = found ? s.first_complete : MPI_UNDEFINED;
	if (found)
		return query_request_status(call, requests[s.first_complete], status);
	if (*flag)
		gompi_status_set_empty(status);
	else
		gompi_test_unsuccessful();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Request_get_status_any, gompi_request_get_status_any);

int gompi_request_get_status_some(int incount, const MPI_Request requests[], int *outcount, int indices[],
				  MPI_Status statuses[]) {
	const char *call = "MPI_Request_get_status_some";
	int rc = MPI_SUCCESS, n = 0;
	bool complete;
	struct gompi_request_array s = {.count = incount, .requests = requests};
	if (gompi_array_is_invalid(call, &s, outcount != NULL && (incount == 0 || indices != NULL), &rc))
		return rc;
	if (s.active_count == 0) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	bool found = gompi_array_progress(&s, false);
	for (int i = 0; i < incount && found; i++) {
		if (!gompi_is_active(requests[i], &complete) || !complete)
			continue;
		int code = query_request_status(call, requests[i], gompi_status_at(statuses, n));
		if (rc == MPI_SUCCESS)
			rc = code;
		indices[n++] = i;
	}
	*outcount = n;
	if (n == 0)
		gompi_test_unsuccessful();
	return rc;
}
GOMPI_ENTRY(MPI_Request_get_status_some, gompi_request_get_status_some);

static __attribute__((noinline)) bool find_request_slow(const char *call, const MPI_Request *at,
							struct gompi_request **r, int *rc) {
	if (at == NULL || gompi_load(&gompi_app_messages) == NULL) {
		*rc = gompi_call_error(call, MPI_ERR_ARG, "request is NULL");
		return false;
	}
	switch (gompi_classify_handle(*at, r)) {
	case GOMPI_HANDLE_NULL:
		*rc = gompi_call_error(call, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
		return false;
	case GOMPI_HANDLE_INVALID:
		*rc = gompi_raise_invalid_request(call, *at);
		return false;
	default:
		return true;
	}
}

// Stores the request of handle *at in *r, or NULL if the handle is GOMPI_REQUEST_DONE. If the handle is invalid, raises
// an error, stores the result of the MPI function in *rc, and returns false.
static inline bool find_request(const char *call, const MPI_Request *at, struct gompi_request **r, int *rc) {
	*r = at != NULL ? gompi_request_of(*at) : NULL;
	return __builtin_expect(*r != NULL, 1) || find_request_slow(call, at, r, rc);
}

// Implements MPI_Request_free (MPI-5.0 3.7.3): frees a complete or inactive request immediately, and an active request
// upon completion, unless the flags of its kind (struct gompi_request_kind) require something else.
int gompi_request_free(MPI_Request *request) {
	const char *call = "MPI_Request_free";
	int rc;
	struct gompi_request *r;
	if (!find_request(call, request, &r, &rc))
		return rc;
	if (r == NULL) {
		*request = MPI_REQUEST_NULL;
		return MPI_SUCCESS;
	}
	if (r->in_persistent_table && gompi_persistent_free(r)) {
		*request = MPI_REQUEST_NULL;
		return MPI_SUCCESS;
	}
	// MPI_Request_free refuses a started partitioned request even if it is complete, because whether it is complete
	// depends on timing. With MPI_PROC_NULL this does not depend on timing, so a complete request is accepted.
	if (r->kind != NULL && r->kind->free_needs_inactive && !gompi_is_inactive(r) &&
	    (r->peer != MPI_PROC_NULL || gompi_load(&r->state) == REQUEST_ACTIVE))
		return gompi_request_error(
			call, r->comm, MPI_ERR_REQUEST,
			"the partitioned request is active: complete it (MPI_Wait) before freeing it");
	struct gompi_vci *l = r->vci;
	gompi_vci_lock(l);
	bool active = gompi_load(&r->state) == REQUEST_ACTIVE && (r->kind == NULL || !r->kind->frees_at_once);
	bool has_kind = !active && r->kind != NULL;
	if (!active || r->kind == NULL || !r->kind->keeps_handle)
		gompi_request_drop_handle(r);
	if (active)
		r->freed = true;
	else if (!has_kind)
		gompi_request_release(r); // r is invalid from here on
	gompi_vci_unlock(l);
	*request = MPI_REQUEST_NULL;
	if (!has_kind)
		return MPI_SUCCESS;
	struct gompi_error_status v;
	uintptr_t object = r->comm;
	r->result.class = MPI_SUCCESS; // discards the operation's error: only an error of release is raised
	return gompi_request_destroy(r, &v) == MPI_SUCCESS ? MPI_SUCCESS : gompi_request_raise(&v, call, object);
}
GOMPI_ENTRY(MPI_Request_free, gompi_request_free);

// Implements MPI_Cancel (MPI-5.0 3.8.4).
int gompi_cancel(MPI_Request *request) {
	const char *call = "MPI_Cancel";
	int rc;
	struct gompi_request *r;
	if (!find_request(call, request, &r, &rc))
		return rc;
	if (r == NULL)
		return MPI_SUCCESS;
	if (r->kind != NULL) {
		struct gompi_error_status v;
		if (r->kind->cancel == NULL)
			return gompi_request_error(call, r->comm, MPI_ERR_REQUEST,
						   "the request cannot be cancelled: MPI_Cancel supports only "
						   "point-to-point and generalized requests");
		v.class = r->kind->cancel(r, &v);
		return v.class == MPI_SUCCESS ? MPI_SUCCESS : gompi_request_raise(&v, call, r->comm);
	}
	gompi_vci_lock(r->vci);
	gompi_cancel_locked(r->vci, r);
	gompi_vci_unlock_progress(r->vci);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Cancel, gompi_cancel);

// Returns true if a request can be started. Otherwise stores MPI_ERR_REQUEST and its description in v.
static bool is_startable(const struct gompi_request *r, struct gompi_error_status *v) {
	if (r == NULL || !r->persistent)
		gompi_set_error(v, MPI_ERR_REQUEST, "the request is not persistent and cannot be started");
	else if (!gompi_is_inactive(r))
		gompi_set_error(v, MPI_ERR_REQUEST,
				"the persistent request is active: complete it (MPI_Wait) before starting it again");
	else
		return true;
	return false;
}

static int start_persistent(struct gompi_request *r, struct gompi_error_status *v) {
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

// Implements MPI_Start. Raises MPI_ERR_REQUEST unless the request is persistent and inactive.
int gompi_start(MPI_Request *request) {
	const char *call = "MPI_Start";
	struct gompi_error_status v;
	int rc;
	struct gompi_request *r;
	if (!find_request(call, request, &r, &rc))
		return rc;
	if (__builtin_expect(is_startable(r, &v) && start_persistent(r, &v) == MPI_SUCCESS, 1))
		return MPI_SUCCESS;
	return gompi_request_raise(&v, call, r != NULL ? r->comm : (uintptr_t)MPI_COMM_NULL);
}
GOMPI_ENTRY(MPI_Start, gompi_start);

static __attribute__((cold)) int raise_at_index(const char *call, const struct gompi_error_status *error, int i, int n,
						const struct gompi_request *r) {
	return gompi_request_error(call, r != NULL ? r->comm : (uintptr_t)MPI_COMM_NULL, error->class,
				   "array_of_requests[%d] (of %d): %.300s", i, n, error->text);
}

// Implements MPI_Startall. Starts no request unless all can be started.
int gompi_startall(int count, MPI_Request requests[]) {
	const char *call = "MPI_Startall";
	struct gompi_request *r;
	struct gompi_error_status v;
	int rc;
	struct gompi_request_array s = {.count = count, .requests = requests};
	if (gompi_array_is_invalid(call, &s, true, &rc))
		return rc;
	for (int i = 0; i < count; i++) {
		bool is_null = gompi_classify_handle(requests[i], &r) == GOMPI_HANDLE_NULL;
		if (is_null)
			gompi_set_error(&v, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
		if (is_null || !is_startable(r, &v))
			return raise_at_index(call, &v, i, count, r);
	}
	for (int i = 0; i < count; i++) {
		r = gompi_request_of(requests[i]);
		if (start_persistent(r, &v) != MPI_SUCCESS)
			return raise_at_index(call, &v, i, count, r);
	}
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Startall, gompi_startall);
