#include "message/go_request.h"

#include "message/call.h"

static int start_go_request(struct gompi_request *r, struct gompi_error_status *v) {
	gompi_request_free_text(r);
	v->class = gompi_go_callbacks.control_request(r->object, GOMPI_REQUEST_START, v->text);
	return v->class;
}

static int cancel_go_request(struct gompi_request *r, struct gompi_error_status *v) {
	v->class = gompi_go_callbacks.control_request(r->object, GOMPI_REQUEST_CANCEL, v->text);
	return v->class;
}

static void release_go_request(struct gompi_request *r) {
	struct gompi_error_status v;
	gompi_go_callbacks.control_request(r->object, GOMPI_REQUEST_RELEASE, v.text);
}

static const struct gompi_request_kind go_request_kind = {.start = start_go_request,
							  .cancel = cancel_go_request,
							  .release = release_go_request,
							  .error_detail = gompi_request_text_detail,
							  .free_object = gompi_request_free_text};

// Requests of operations that were complete when the request was created. Go no longer knows of them.
static const struct gompi_request_kind complete_go_request_kind = {.error_detail = gompi_request_text_detail,
								   .free_object = gompi_request_free_text};

struct gompi_request *gompi_go_request_open(uintptr_t object, uintptr_t comm, uint64_t context, bool persistent,
					    uintptr_t *handle) {
	struct gompi_request *r = gompi_request_new(gompi_load(&gompi_app_messages), context,
						    object != 0 ? &go_request_kind : &complete_go_request_kind, object);
	if (r == NULL)
		return NULL;
	r->comm = comm;
	r->persistent = persistent;
	if (persistent)
		gompi_store(&r->state, REQUEST_INACTIVE);
	*handle = gompi_request_handle(r);
	return r;
}

void gompi_go_request_complete(struct gompi_request *r, const struct gompi_engine_result *result, const char *text) {
	r->result = (struct gompi_result){.source = result->source,
					  .tag = result->tag,
					  .class = result->class,
					  .cancelled = result->cancelled,
					  .bytes = result->bytes};
	if (result->class != MPI_SUCCESS)
		r->text = strdup(text);
	gompi_request_complete(r);
}
