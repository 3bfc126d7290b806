// Generalized requests (MPI-5.0 13.2). The callbacks run on the thread that waits for, tests, frees or cancels the
// request, inside that MPI call.
#include "message/call.h"
#include "message/completion.h"
#include "message/z_calls.h"

// Stores the error code of a callback in the request, unless an earlier callback has failed.
static void record_callback_error(struct gompi_request *r, const char *function, int code) {
	if (code == MPI_SUCCESS || r->result.class != MPI_SUCCESS)
		return;
	r->result.class = code;
	r->functions.failed_callback = function;
}

static void call_query_fn(struct gompi_request *r) {
	MPI_Status s;
	gompi_status_set_empty(&s);
	r->result.class = MPI_SUCCESS;
	int code = r->functions.query(r->functions.extra_state, &s);
	r->result = (struct gompi_result){.source = s.MPI_SOURCE,
					  .tag = s.MPI_TAG,
					  .cancelled = (s.MPI_internal[0] & GOMPI_STATUS_CANCELLED) != 0,
					  .bytes = gompi_status_bytes(&s)};
	record_callback_error(r, "query", code);
}

static int callback_error(struct gompi_error_status *v, const char *function, int code) {
	return gompi_set_error(v, code, "the %s callback of a generalized request returned error %d", function, code);
}

static int call_cancel_fn(struct gompi_request *r, struct gompi_error_status *v) {
	int code = r->functions.cancel(r->functions.extra_state, gompi_is_complete(r));
	return code == MPI_SUCCESS ? code : callback_error(v, "cancel", code);
}

static void call_free_fn(struct gompi_request *r) {
	record_callback_error(r, "free", r->functions.free(r->functions.extra_state));
}

static void grequest_error_detail(const struct gompi_request *r, struct gompi_error_status *v) {
	callback_error(v, r->functions.failed_callback, r->result.class);
}

static void describe_grequest_wait(const struct gompi_request *r, struct gompi_wait_desc *what,
				   struct gompi_wait_details *t) {
	what->reason = GOMPI_FOR_SELF;
	what->peer = r->vci->messages->node.self;
	t->operation = "MPI_Grequest_complete";
}

static const struct gompi_request_kind generalized_kind = {.describe_wait = describe_grequest_wait,
							   .query = call_query_fn,
							   .cancel = call_cancel_fn,
							   .release = call_free_fn,
							   .error_detail = grequest_error_detail,
							   .keeps_handle = true};

int gompi_grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
			 MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request) {
	const char *call = "MPI_Grequest_start";
	if (gompi_load(&gompi_app_messages) == NULL || request == NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "request is NULL");
	if (query_fn == NULL || free_fn == NULL || cancel_fn == NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "the %s callback is NULL",
					query_fn == NULL  ? "query"
					: free_fn == NULL ? "free"
							  : "cancel");
	struct gompi_request *r = gompi_request_new(gompi_load(&gompi_app_messages), 0, &generalized_kind, 0);
	if (r == NULL)
		return gompi_raise_no_request(call, 0);
	r->functions = (struct gompi_grequest_callbacks){query_fn, free_fn, cancel_fn, extra_state, NULL};
	*request = (MPI_Request)gompi_request_handle(r);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Grequest_start, gompi_grequest_start);

int gompi_grequest_complete(MPI_Request request) {
	struct gompi_request *r = gompi_request_of(request);
	if (r == NULL || r->kind != &generalized_kind || gompi_load(&r->state) != REQUEST_ACTIVE)
		return gompi_call_error("MPI_Grequest_complete", MPI_ERR_REQUEST,
					"%#zx is not an active generalized request", (size_t)request);
	gompi_request_complete(r);
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Grequest_complete, gompi_grequest_complete);
