#include "message/other.h"

#include <stdlib.h>

#include "message/call.h"

// What is wrong, for requests that fail without memory to say it in.
static const char UNSAID[] = "the operation failed";

struct other {
	uintptr_t object;
	char *text; // what is wrong, NULL: nothing, or nobody knows
};

static struct other *other_of(const struct gompi_request *r) { return (struct other *)r->object; }

static void forget_text(struct gompi_request *r) {
	free(other_of(r)->text);
	other_of(r)->text = NULL;
}

static int start_other(struct gompi_request *r, struct gompi_verdict *v) {
	forget_text(r);
	v->class = gompi_up.request(other_of(r)->object, GOMPI_REQUEST_START, v->text);
	return v->class;
}

static int cancel_other(struct gompi_request *r, struct gompi_verdict *v) {
	v->class = gompi_up.request(other_of(r)->object, GOMPI_REQUEST_CANCEL, v->text);
	return v->class;
}

static void release_other(struct gompi_request *r) {
	struct gompi_verdict v;
	gompi_up.request(other_of(r)->object, GOMPI_REQUEST_RELEASE, v.text);
}

static void say_other(const struct gompi_request *r, struct gompi_verdict *v) {
	const char *text = other_of(r)->text;
	gompi_wrong(v, r->result.class, "%s", text != NULL ? text : UNSAID);
}

static void drop_other(struct gompi_request *r) {
	free(other_of(r)->text);
	free(other_of(r));
}

static const struct gompi_request_kind other_kind = {
	.start = start_other, .cancel = cancel_other, .release = release_other, .why = say_other, .drop = drop_other};

struct gompi_request *gompi_other_open(uintptr_t object, uintptr_t comm, uint64_t context, bool persistent,
				       uintptr_t *handle) {
	struct other *o = malloc(sizeof *o);
	struct gompi_request *r = o != NULL ? gompi_request_new(context, &other_kind, (uintptr_t)o) : NULL;
	if (r == NULL) {
		free(o);
		return NULL;
	}
	*o = (struct other){object, NULL};
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
		other_of(r)->text = strdup(text);
	gompi_request_complete(r);
}

uintptr_t gompi_other_object(uintptr_t handle) {
	struct gompi_request *r = gompi_request_of((MPI_Request)handle);
	return r != NULL && r->kind == &other_kind ? other_of(r)->object : 0;
}

uintptr_t gompi_request_comm(uintptr_t handle) {
	struct gompi_request *r = gompi_request_of((MPI_Request)handle);
	return r != NULL ? r->comm : 0;
}
