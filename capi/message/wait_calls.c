// Waiting and testing for one request of any kind (MPI-5.0 3.7.3).
#include "base/poll.h"
#include "message/handles.h"
#include "message/z_calls.h"

// Ends a call on a handle that refers to no active request. Returns what the call returns.
static inline int end_idle(const char *call, enum gompi_what what, MPI_Request *request, MPI_Status *status) {
	if (__builtin_expect(what == GOMPI_DONE, 1))
		gompi_end_done(request, status);
	else if (what == GOMPI_UNKNOWN)
		return gompi_no_request(call, *request);
	else
		gompi_status_empty(status);
	return MPI_SUCCESS;
}

// Waits for a request and ends it. This is a separate function so that a call that need not wait saves no registers.
static __attribute__((noinline)) int wait_live(struct gompi_request *r, MPI_Request *request, MPI_Status *status) {
	if (gompi_is_complete(r))
		return gompi_end_one("MPI_Wait", r, request, status);
	int class = gompi_request_await(r, "MPI_Wait");
	return class == MPI_SUCCESS ? gompi_end_one("MPI_Wait", r, request, status)
				    : gompi_request_gone("MPI_Wait", class, r->comm);
}

int gompi_wait(MPI_Request *request, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || !gompi_is_running(), 0))
		return gompi_call_error("MPI_Wait", MPI_ERR_ARG, "request is NULL");
	enum gompi_what what = gompi_what_is(*request, &r);
	if (what != GOMPI_LIVE || gompi_is_idle(r))
		return end_idle("MPI_Wait", what, request, status);
	return wait_live(r, request, status);
}
GOMPI_ENTRY(MPI_Wait, gompi_wait);

int gompi_test(MPI_Request *request, int *flag, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || flag == NULL || !gompi_is_running(), 0))
		return gompi_call_error("MPI_Test", MPI_ERR_ARG, "%s is NULL", request == NULL ? "request" : "flag");
	enum gompi_what what = gompi_what_is(*request, &r);
	if (what != GOMPI_LIVE || gompi_is_idle(r)) {
		if (what != GOMPI_UNKNOWN)
			*flag = 1;
		return end_idle("MPI_Test", what, request, status);
	}
	*flag = gompi_is_complete(r) || (gompi_message_progress() && gompi_is_complete(r));
	if (*flag) {
		gompi_poll_over();
		return gompi_end_one("MPI_Test", r, request, status);
	}
	gompi_message_polled();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Test, gompi_test);
