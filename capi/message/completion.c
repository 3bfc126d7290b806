#include "message/completion.h"

int gompi_raise_invalid_request(const char *call, MPI_Request request) {
	return gompi_call_error(call, MPI_ERR_REQUEST, "%#zx is not a request, or has been completed or freed",
				(size_t)request);
}

int gompi_array_raise(const char *call, const struct gompi_request_array *s, int i) {
	if (s->count < 0)
		return gompi_call_error(call, MPI_ERR_COUNT, "the number of requests is %d; it must not be negative",
					s->count);
	if (s->count > 0 && s->requests == NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "the array of %d requests is NULL", s->count);
	if (i < 0)
		return gompi_call_error(call, MPI_ERR_ARG, "an output argument is NULL");
	return gompi_call_error(call, MPI_ERR_REQUEST,
				"array_of_requests[%d] (of %d): %#zx is not a request, or has been completed or freed",
				i, s->count, (size_t)s->requests[i]);
}

int gompi_end_failed(const char *call, struct gompi_request *r, MPI_Request *request) {
	struct gompi_error_status v;
	uintptr_t object = r->comm;
	gompi_request_error_detail(r, &v);
	gompi_request_end(r, request);
	return gompi_request_raise(&v, call, object);
}

int gompi_raise_in_status(const char *call, const struct gompi_first_failure *f, int n) {
	gompi_class_in_status = gompi_fault_class(f->error.class, f->object);
	return gompi_request_error(call, f->object, MPI_ERR_IN_STATUS, "array_of_requests[%d] (of %d): %.300s",
				   f->failed_index, n, f->error.text);
}

int gompi_array_failed_peer(const struct gompi_request_array *s, struct gompi_stuck_entry *place, int *failed_index) {
	bool complete;
	for (int i = 0; i < s->count; i++) {
		struct gompi_request *r = gompi_request_of(s->requests[i]);
		*failed_index = i;
		int failed = r != NULL && gompi_is_active(s->requests[i], &complete) && !complete
				     ? gompi_request_failed_peer(r, place)
				     : GOMPI_NONE_FAILED;
		if (failed != GOMPI_NONE_FAILED)
			return failed;
	}
	*failed_index = -1;
	return GOMPI_NONE_FAILED;
}

int gompi_array_any_failed(const void *of, struct gompi_stuck_entry *place) {
	int which;
	return gompi_array_failed_peer(of, place, &which);
}
