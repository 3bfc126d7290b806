#include "message/other.h"

#include "message/call.h"

static int start_other(struct gompi_request *r, struct gompi_verdict *v) {
	gompi_request_drop_text(r);
	v->class = gompi_up.request(r->object, GOMPI_REQUEST_START, v->text);
	return v->class;
}

static int cancel_other(struct gompi_request *r, struct gompi_verdict *v) {
	v->class = gompi_up.request(r->object, GOMPI_REQUEST_CANCEL, v->text);
	return v->class;
}

static void release_other(struct gompi_request *r) {
	struct gompi_verdict v;
	gompi_up.request(r->object, GOMPI_REQUEST_RELEASE, v.text);
}

static const struct gompi_request_kind other_kind = {.start = start_other,
						     .cancel = cancel_other,
						     .release = release_other,
						     .why = gompi_request_say_text,
						     .drop = gompi_request_drop_text};

// Requests of operations that were complete when the request was created. Go no longer knows of them.
static const struct gompi_request_kind over_kind = {.why = gompi_request_say_text, .drop = gompi_request_drop_text};

struct gompi_request *gompi_other_open(uintptr_t object, uintptr_t comm, uint64_t context, bool persistent,
				       uintptr_t *handle) {
	struct gompi_request *r = gompi_request_new(gompi_load(&gompi_messages_here), context,
						    object != 0 ? &other_kind : &over_kind, object);
	if (r == NULL)
		return NULL;
	r->comm = comm;
	r->persistent = persistent;
	if (persistent)
		gompi_store(&r->state, REQUEST_INACTIVE);
	*handle = gompi_request_handle(r);
	return r;
}

void gompi_other_complete(struct gompi_request *r, const struct gompi_engine_result *result, const char *text) {
	r->result = (struct gompi_result){.source = result->source,
					  .tag = result->tag,
					  .class = result->class,
					  .cancelled = result->cancelled,
					  .bytes = result->bytes};
	if (result->class != MPI_SUCCESS)
		r->text = strdup(text);
	gompi_request_complete(r);
}
