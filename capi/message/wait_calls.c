// Waiting and testing for one request of any kind (MPI-5.0 3.7.3).
#include "base/poll.h"
#include "message/completion.h"
#include "message/z_calls.h"

// Ends a call whose handle refers to no active request. Returns the result of the MPI function.
static inline int end_inactive(const char *call, enum gompi_handle_state what, MPI_Request *request,
			       MPI_Status *status) {
	if (__builtin_expect(what == GOMPI_HANDLE_DONE, 1))
		gompi_end_done(request, status);
	else if (what == GOMPI_HANDLE_INVALID)
		return gompi_raise_invalid_request(call, *request);
	else
		gompi_status_set_empty(status);
	return MPI_SUCCESS;
}

// Waits for a request and ends it. It is a separate function, so that calls that need not wait do not save registers.
static __attribute__((noinline)) int wait_and_end(struct gompi_request *r, MPI_Request *request, MPI_Status *status) {
	if (gompi_is_complete(r))
		return gompi_end_with_status("MPI_Wait", r, request, status);
	int class = gompi_request_wait(r, "MPI_Wait");
	if (__builtin_expect(class == MPI_ERR_PROC_ABORTED, 0) && gompi_request_fail(r, &class))
		class = MPI_SUCCESS;
	return class == MPI_SUCCESS ? gompi_end_with_status("MPI_Wait", r, request, status)
				    : gompi_request_raise_failed("MPI_Wait", class, r->comm);
}

int gompi_wait(MPI_Request *request, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || !gompi_is_running(), 0))
		return gompi_call_error("MPI_Wait", MPI_ERR_ARG, "request is NULL");
	enum gompi_handle_state what = gompi_classify_handle(*request, &r);
	if (what != GOMPI_HANDLE_LIVE || gompi_is_inactive(r))
		return end_inactive("MPI_Wait", what, request, status);
	return wait_and_end(r, request, status);
}
GOMPI_ENTRY(MPI_Wait, gompi_wait);

// Ends a request that can never complete.
static __attribute__((noinline, cold)) int test_failed(struct gompi_request *r, MPI_Request *request, int *flag,
						       MPI_Status *status) {
	int class;
	*flag = gompi_request_test_failed(r, &class);
	if (*flag)
		return gompi_end_with_status("MPI_Test", r, request, status);
	return class == MPIX_ERR_PROC_FAILED_PENDING ? gompi_request_raise_failed("MPI_Test", class, r->comm)
						     : MPI_SUCCESS;
}

int gompi_test(MPI_Request *request, int *flag, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || flag == NULL || !gompi_is_running(), 0))
		return gompi_call_error("MPI_Test", MPI_ERR_ARG, "%s is NULL", request == NULL ? "request" : "flag");
	enum gompi_handle_state what = gompi_classify_handle(*request, &r);
	if (what != GOMPI_HANDLE_LIVE || gompi_is_inactive(r)) {
		if (what != GOMPI_HANDLE_INVALID)
			*flag = 1;
		return end_inactive("MPI_Test", what, request, status);
	}
	*flag = gompi_is_complete(r) || (gompi_test_progress() && gompi_is_complete(r));
	if (*flag) {
		gompi_poll_reset();
		return gompi_end_with_status("MPI_Test", r, request, status);
	}
	gompi_test_unsuccessful();
	return gompi_must_check_failures() ? test_failed(r, request, flag, status) : MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Test, gompi_test);
