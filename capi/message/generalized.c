// Generalized requests (MPI-5.0 13.2). The thread that completes, frees or cancels the request calls its callbacks
// inside that call.
#include "message/call.h"
#include "message/handles.h"
#include "message/z_calls.h"

// Records the first error code of a callback.
static void keep_code(struct gompi_request *r, const char *function, int code) {
	if (code == MPI_SUCCESS || r->result.class != MPI_SUCCESS)
		return;
	r->result.class = code;
	r->functions.failed = function;
}

static void ask_query(struct gompi_request *r) {
	MPI_Status s;
	gompi_status_empty(&s);
	r->result.class = MPI_SUCCESS;
	int code = r->functions.query(r->functions.extra, &s);
	r->result = (struct gompi_result){.source = s.MPI_SOURCE,
					  .tag = s.MPI_TAG,
					  .cancelled = (s.MPI_internal[0] & GOMPI_STATUS_CANCELLED) != 0,
					  .bytes = gompi_status_bytes(&s)};
	keep_code(r, "query", code);
}

static int say_code(struct gompi_verdict *v, const char *function, int code) {
	return gompi_error(v, code, "the %s callback of a generalized request returned error %d", function, code);
}

static int ask_cancel(struct gompi_request *r, struct gompi_verdict *v) {
	int code = r->functions.cancel(r->functions.extra, gompi_is_complete(r));
	return code == MPI_SUCCESS ? code : say_code(v, "cancel", code);
}

static void ask_free(struct gompi_request *r) { keep_code(r, "free", r->functions.free(r->functions.extra)); }

static void say_failed(const struct gompi_request *r, struct gompi_verdict *v) {
	say_code(v, r->functions.failed, r->result.class);
}

static void await_completion(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t) {
	what->reason = GOMPI_FOR_SELF;
	what->peer = r->lane->home->node.self;
	t->operation = "MPI_Grequest_complete";
}

static const struct gompi_request_kind generalized_kind = {.awaits = await_completion,
							   .query = ask_query,
							   .cancel = ask_cancel,
							   .release = ask_free,
							   .why = say_failed,
							   .keeps = true};

int gompi_grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
			 MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request) {
	const char *call = "MPI_Grequest_start";
	if (gompi_load(&gompi_messages_here) == NULL || request == NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "request is NULL");
	if (query_fn == NULL || free_fn == NULL || cancel_fn == NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "the %s callback is NULL",
					query_fn == NULL  ? "query"
					: free_fn == NULL ? "free"
							  : "cancel");
	struct gompi_request *r = gompi_request_new(gompi_load(&gompi_messages_here), 0, &generalized_kind, 0);
	if (r == NULL)
		return gompi_call_error(call, MPI_ERR_NO_MEM,
					"out of memory for a request, or too many requests are active");
	r->functions = (struct gompi_functions){query_fn, free_fn, cancel_fn, extra_state, NULL};
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
