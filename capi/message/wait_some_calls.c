// Waiting and testing for any or some of several requests (MPI-5.0 3.7.5).
#include "base/poll.h"
#include "message/completion.h"
#include "message/z_calls.h"

static int first_complete(struct gompi_request_array *s) {
	gompi_array_scan(s);
	return s->first_complete;
}

static bool any_is_complete(void *arg) {
	struct gompi_request_array *s = arg;
	if (first_complete(s) >= 0 || s->active_count == 0)
		return true;
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	gompi_messages_progress(m);
	return gompi_messages_inbox_error(m) != MPI_SUCCESS || first_complete(s) >= 0;
}

// Implements fill_details of struct gompi_wait_desc: describes the wait for the first incomplete request whose index in
// the array is at least `first`, and returns the index of this request. Returns -1 if all these requests are complete.
static int describe_one(const void *on, int first, struct gompi_wait_desc *what, struct gompi_wait_details *t) {
	const struct gompi_request_array *s = on;
	struct gompi_request *r;
	for (int i = first; i < s->count; i++)
		if (gompi_classify_handle(s->requests[i], &r) == GOMPI_HANDLE_LIVE && !gompi_is_inactive(r) &&
		    !gompi_is_complete(r)) {
			gompi_request_describe_wait(r, what, t);
			return i;
		}
	return -1;
}

// Waits until a request is complete, and returns its index. Returns -1 if no request is active. If a request can never
// complete, raises an error, stores the result of the MPI function in *rc, and returns -1. *failed_index is then the
// index of that request, or -1 if it is unknown.
static int wait_first_complete(const char *call, struct gompi_request_array *s, int *failed_index, int *rc) {
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	struct gompi_wait_desc what = {.call = call,
				       .peer = GOMPI_PEERS_SEVERAL,
				       .find_failed = gompi_array_any_failed,
				       .find_failed_arg = s,
				       .fill_details = describe_one,
				       .fill_details_arg = s};
	*rc = MPI_SUCCESS;
	if (s->first_complete >= 0 || s->active_count == 0)
		return s->first_complete;
	int class = gompi_await(&gompi_messages_cell(m, m->node.local_index)->wait, any_is_complete, s, &what);
	gompi_call_run_plans(m);
	int i = first_complete(s);
	*failed_index = -1;
	if (__builtin_expect(i < 0 && class == MPI_ERR_PROC_ABORTED, 0)) {
		int pending_class;
		if (gompi_array_fail(s, &pending_class))
			i = first_complete(s);
		else if (pending_class != MPI_SUCCESS)
			class = pending_class;
	}
	if (i < 0 && (class == MPI_ERR_PROC_ABORTED || class == MPIX_ERR_PROC_FAILED_PENDING))
		gompi_array_failed_peer(s, &(struct gompi_stuck_entry){0}, failed_index);
	if (i < 0)
		*rc = gompi_request_raise_failed(
			call, class != MPI_SUCCESS ? class : MPI_ERR_INTERN,
			*failed_index < 0 ? 0 : gompi_request_of(s->requests[*failed_index])->comm);
	return i;
}

static int end_at_index(const char *call, MPI_Request requests[], int i, MPI_Status *status) {
	struct gompi_request *r;
	if (gompi_classify_handle(requests[i], &r) == GOMPI_HANDLE_LIVE)
		return gompi_end_with_status(call, r, &requests[i], status);
	gompi_end_done(&requests[i], status);
	return MPI_SUCCESS;
}

int gompi_waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
	int rc;
	struct gompi_request_array s = {.count = count, .requests = requests};
	if (gompi_array_is_invalid("MPI_Waitany", &s, index != NULL, &rc))
		return rc;
	int failed_index = -1, i = wait_first_complete("MPI_Waitany", &s, &failed_index, &rc);
	if (i >= 0) {
		*index = i;
		return end_at_index("MPI_Waitany", requests, i, status);
	}
	if (failed_index >= 0)
		*index = failed_index;
	if (rc == MPI_SUCCESS && s.active_count == 0) {
		*index = MPI_UNDEFINED;
		gompi_status_set_empty(status);
	}
	return rc;
}
GOMPI_ENTRY(MPI_Waitany, gompi_waitany);

// Completes the requests that can never complete, if a process has failed. Returns true if there are any.
static bool array_has_failed(struct gompi_request_array *s) {
	int pending_class;
	if (s->active_count == 0 || !gompi_must_check_failures() || !gompi_array_fail(s, &pending_class))
		return false;
	gompi_array_scan(s);
	return true;
}

int gompi_testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	int rc;
	struct gompi_request_array s = {.count = count, .requests = requests};
	if (gompi_array_is_invalid("MPI_Testany", &s, index != NULL && flag != NULL, &rc))
		return rc;
	if (gompi_array_progress(&s, false) || array_has_failed(&s)) {
		*index = s.first_complete;
		*flag = 1;
		gompi_poll_reset();
		return end_at_index("MPI_Testany", requests, s.first_complete, status);
	}
	*index = MPI_UNDEFINED;
	*flag = s.active_count == 0;
	if (*flag)
		gompi_status_set_empty(status);
	else
		gompi_test_unsuccessful();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Testany, gompi_testany);

// Ends all complete requests, and stores their number, indices and statuses. Determines the set of complete requests
// once, because further requests may complete while this function runs. If one request of the set has failed, the
// statuses of the whole set have error classes.
static int end_some(const char *call, int count, MPI_Request requests[], int *outcount, int indices[],
		    MPI_Status statuses[]) {
	struct gompi_first_failure f;
	f.failed_index = -1;
	int n = 0;
	bool complete;
	for (int i = 0; i < count; i++) {
		if (!gompi_is_active(requests[i], &complete) || !complete)
			continue;
		gompi_finish_if_complete(requests[i], i, &f);
		indices[n++] = i;
	}
	*outcount = n;
	for (int k = 0; k < n; k++) {
		MPI_Status *s = gompi_status_at(statuses, k);
		int class = gompi_end_any(&requests[indices[k]], s);
		if (__builtin_expect(f.failed_index >= 0, 0) && s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return __builtin_expect(f.failed_index < 0, 1) ? MPI_SUCCESS : gompi_raise_in_status(call, &f, count);
}

int gompi_waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int rc;
	struct gompi_request_array s = {.count = incount, .requests = requests};
	if (gompi_array_is_invalid("MPI_Waitsome", &s, outcount != NULL && (incount <= 0 || indices != NULL), &rc))
		return rc;
	int failed_index, i = wait_first_complete("MPI_Waitsome", &s, &failed_index, &rc);
	if (i >= 0)
		return end_some("MPI_Waitsome", incount, requests, outcount, indices, statuses);
	if (rc == MPI_SUCCESS && s.active_count == 0)
		*outcount = MPI_UNDEFINED;
	return rc;
}
GOMPI_ENTRY(MPI_Waitsome, gompi_waitsome);

int gompi_testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int rc;
	struct gompi_request_array s = {.count = incount, .requests = requests};
	if (gompi_array_is_invalid("MPI_Testsome", &s, outcount != NULL && (incount <= 0 || indices != NULL), &rc))
		return rc;
	if (s.active_count == 0) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	if (gompi_test_progress())
		gompi_array_scan(&s);
	if (s.complete_count == 0 && !array_has_failed(&s)) {
		*outcount = 0;
		gompi_test_unsuccessful();
		return MPI_SUCCESS;
	}
	gompi_poll_reset();
	return end_some("MPI_Testsome", incount, requests, outcount, indices, statuses);
}
GOMPI_ENTRY(MPI_Testsome, gompi_testsome);
