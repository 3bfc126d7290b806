#include "message/go_request.h"

#include "message/call.h"

static const struct gompi_request_kind go_request_kind = {
	.survives = true, .error_detail = gompi_request_text_detail, .free_object = gompi_request_free_text};

struct gompi_request *gompi_go_request_open(uintptr_t comm, uint64_t context, uintptr_t *handle) {
	struct gompi_request *r = gompi_request_new(gompi_load(&gompi_app_messages), context, &go_request_kind, 0);
	if (r != NULL) {
		r->comm = comm;
		*handle = gompi_request_handle(r);
	}
	return r;
}

void gompi_go_request_complete(struct gompi_request *r, int class, const char *text) {
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = class};
	if (class != MPI_SUCCESS)
		r->text = strdup(text);
	gompi_request_complete(r);
}
