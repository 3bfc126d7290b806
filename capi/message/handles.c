#include "message/handles.h"

int gompi_no_request(const char *call, MPI_Request request) {
	return gompi_call_error(call, MPI_ERR_REQUEST, "%#zx is not a request, or has been completed or freed",
				(size_t)request);
}

int gompi_refuse_array(const char *call, const struct gompi_several *s, int i) {
	if (s->count < 0)
		return gompi_call_error(call, MPI_ERR_COUNT, "the number of requests is %d; it must not be negative",
					s->count);
	if (s->count > 0 && s->requests == NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "the array of %d requests is NULL", s->count);
	if (i < 0)
		return gompi_call_error(call, MPI_ERR_ARG, "a result pointer is NULL");
	return gompi_call_error(call, MPI_ERR_REQUEST,
				"request %d of %d: %#zx is not a request, or has been completed or freed", i, s->count,
				(size_t)s->requests[i]);
}

int gompi_end_failed(const char *call, struct gompi_request *r, MPI_Request *request) {
	struct gompi_verdict v;
	uintptr_t on = r->comm;
	gompi_request_why(r, &v);
	gompi_request_end(r, request);
	return gompi_request_raise(&v, call, on);
}

int gompi_in_status(const char *call, const struct gompi_failure *f, int n) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_IN_STATUS, "request %d of %d: %.300s", f->which, n, f->why.text);
	return gompi_request_raise(&v, call, f->on);
}

int gompi_loss_to_one(const struct gompi_several *s, struct gompi_stuck *place, int *which) {
	bool complete;
	for (int i = 0; i < s->count; i++) {
		struct gompi_request *r = gompi_request_of(s->requests[i]);
		*which = i;
		int lost = r != NULL && gompi_is_active(s->requests[i], &complete) && !complete
				   ? gompi_request_loss(r, place)
				   : GOMPI_NOBODY;
		if (lost != GOMPI_NOBODY)
			return lost;
	}
	*which = -1;
	return GOMPI_NOBODY;
}

int gompi_loss_to_any(const void *of, struct gompi_stuck *place) {
	int which;
	return gompi_loss_to_one(of, place, &which);
}
