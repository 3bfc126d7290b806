// Waiting and testing for all of several requests (MPI-5.0 3.7.5).
#include "base/poll.h"
#include "message/completion.h"
#include "message/z_calls.h"

// Ends all complete requests and stores the status of each. If a request has failed, stores an error class in every
// status (MPI_ERR_PENDING for an incomplete request), and raises MPI_ERR_IN_STATUS (MPI-5.0 3.7.5).
//
// The argument wait_error is MPI_SUCCESS, or the error class of a wait for a request that can never complete. After
// such a wait, the error text names the first request that has failed. If none has failed, the text names the first
// request that depends on a failed process, or else the first incomplete request.
static int end_all_requests(const char *call, int count, MPI_Request requests[], MPI_Status statuses[],
			    int wait_error) {
	struct gompi_first_failure f;
	f.failed_index = -1;
	bool complete;
	int failed_index = -1;
	const struct gompi_request_array all = {.count = count, .requests = requests};
	int pending_class = MPI_SUCCESS;
	if (__builtin_expect(wait_error == MPI_ERR_PROC_ABORTED, 0))
		gompi_array_fail(&all, &pending_class);
	for (int i = 0; i < count; i++)
		gompi_finish_if_complete(requests[i], i, &f);
	if (__builtin_expect(wait_error == MPI_ERR_PROC_ABORTED, 0))
		gompi_array_failed_peer(&all, &(struct gompi_stuck_entry){0}, &failed_index);
	for (int i = 0; i < count; i++) {
		MPI_Status *s = gompi_status_at(statuses, i);
		int class;
		if (__builtin_expect(wait_error != MPI_SUCCESS, 0) && gompi_is_active(requests[i], &complete) &&
		    !complete) {
			gompi_status_set_empty(s);
			class = MPI_ERR_PENDING;
			if (f.failed_index < 0 && (failed_index < 0 || failed_index == i)) {
				f.failed_index = i;
				f.object = gompi_request_of(requests[i])->comm;
				class = gompi_request_fill_failure(
					pending_class != MPI_SUCCESS ? pending_class : wait_error, &f.error);
			}
		} else {
			class = gompi_end_any(&requests[i], s);
		}
		if (__builtin_expect(f.failed_index >= 0 || wait_error != MPI_SUCCESS, 0) && s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return __builtin_expect(f.failed_index < 0, 1) ? MPI_SUCCESS : gompi_raise_in_status(call, &f, count);
}

enum { MAX_FAST_REQUESTS = 64 };

// Handles the most common case: at most MAX_FAST_REQUESTS requests, each an active request of a message or
// GOMPI_REQUEST_DONE, and no failure. In other cases returns false and has ended no request.
static bool waitall_fast(int count, MPI_Request requests[], MPI_Status statuses[]) {
	struct gompi_request *rs[MAX_FAST_REQUESTS];
	if (count < 0 || count > MAX_FAST_REQUESTS || requests == NULL || !gompi_is_running())
		return false;
	for (int i = 0; i < count; i++)
		if ((rs[i] = gompi_request_of(requests[i])) == NULL && requests[i] != GOMPI_REQUEST_DONE)
			return false;
	const struct gompi_request_array all = {.count = count, .requests = requests};
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL)
			continue;
		if (__builtin_expect(!gompi_is_complete(r), 0) &&
		    gompi_request_wait_with(r, "MPI_Waitall", gompi_array_any_failed, &all) != MPI_SUCCESS)
			return false;
		if (__builtin_expect(gompi_is_inactive(r) || r->kind != NULL || r->result.class != MPI_SUCCESS, 0))
			return false;
	}
	struct gompi_vci *locked = NULL; // locked once for consecutive requests of one VCI
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL) {
			gompi_end_done(&requests[i], gompi_status_at(statuses, i));
			continue;
		}
		gompi_status_from_request(r, gompi_status_at(statuses, i));
		if (r->persistent) {
			gompi_request_end(r, &requests[i]);
			continue;
		}
		if (locked != r->vci) {
			if (locked != NULL)
				gompi_vci_unlock(locked);
			gompi_vci_lock(locked = r->vci);
		}
		gompi_request_drop_handle(r);
		gompi_request_release(r);
		requests[i] = MPI_REQUEST_NULL;
	}
	if (locked != NULL)
		gompi_vci_unlock(locked);
	return true;
}

int gompi_waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
	if (__builtin_expect(waitall_fast(count, requests, statuses), 1))
		return MPI_SUCCESS;
	int wait_error = MPI_SUCCESS;
	struct gompi_request_array all = {.count = count, .requests = requests};
	if (gompi_array_is_invalid("MPI_Waitall", &all, true, &wait_error))
		return wait_error;
	for (int i = 0; i < count && wait_error == MPI_SUCCESS; i++) {
		struct gompi_request *r = gompi_request_of(requests[i]);
		if (r != NULL)
			wait_error = gompi_request_wait_with(r, "MPI_Waitall", gompi_array_any_failed, &all);
	}
	return end_all_requests("MPI_Waitall", count, requests, statuses, wait_error);
}
GOMPI_ENTRY(MPI_Waitall, gompi_waitall);

int gompi_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	int rc;
	struct gompi_request_array s = {.count = count, .requests = requests};
	if (gompi_array_is_invalid("MPI_Testall", &s, flag != NULL, &rc))
		return rc;
	*flag = gompi_array_progress(&s, true);
	if (!*flag) {
		gompi_test_unsuccessful();
		int pending_class;
		if (!gompi_must_check_failures() ||
		    (!gompi_array_fail(&s, &pending_class) && pending_class == MPI_SUCCESS))
			return MPI_SUCCESS;
		*flag = 1;
		return end_all_requests("MPI_Testall", count, requests, statuses, MPI_ERR_PROC_ABORTED);
	}
	gompi_poll_reset();
	return end_all_requests("MPI_Testall", count, requests, statuses, MPI_SUCCESS);
}
GOMPI_ENTRY(MPI_Testall, gompi_testall);
