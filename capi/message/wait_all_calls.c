// Waiting and testing for all of several requests (MPI-5.0 3.7.5).
#include "base/poll.h"
#include "message/handles.h"
#include "message/z_calls.h"

// Ends all complete requests and stores the status of each. If one has failed, every status has its error class, or
// MPI_ERR_PENDING if the request is not complete, and the call returns MPI_ERR_IN_STATUS (MPI-5.0 3.7.5).
//
// pending is the error class because of which a request can never complete, or MPI_SUCCESS. Then the error of the call
// names the first request that waits for a failed process, else the first incomplete one.
static int end_all(const char *call, int count, MPI_Request requests[], MPI_Status statuses[], int pending) {
	struct gompi_failure f;
	f.which = -1;
	bool complete;
	int lost = -1;
	for (int i = 0; i < count; i++)
		gompi_settle(requests[i], i, &f);
	if (__builtin_expect(pending == MPI_ERR_PROC_ABORTED, 0))
		gompi_loss_to_one(&(struct gompi_several){.count = count, .requests = requests},
				  &(struct gompi_stuck){0}, &lost);
	for (int i = 0; i < count; i++) {
		MPI_Status *s = gompi_status_at(statuses, i);
		int class;
		if (__builtin_expect(pending != MPI_SUCCESS, 0) && gompi_is_active(requests[i], &complete) &&
		    !complete) {
			gompi_status_empty(s);
			class = MPI_ERR_PENDING;
			if (f.which < 0 && (lost < 0 || lost == i)) {
				f.which = i;
				f.on = gompi_request_of(requests[i])->comm;
				class = gompi_request_lost(pending, &f.why);
			}
		} else {
			class = gompi_end_at(&requests[i], s);
		}
		if (__builtin_expect(f.which >= 0 || pending != MPI_SUCCESS, 0) && s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return __builtin_expect(f.which < 0, 1) ? MPI_SUCCESS : gompi_in_status(call, &f, count);
}

enum { FEW = 64 };

// Performs the most common case: few requests of messages or complete ones, none of which fails. Returns false, without
// ending any request, if the case is a different one.
static bool wait_few(int count, MPI_Request requests[], MPI_Status statuses[]) {
	struct gompi_request *rs[FEW];
	if (count < 0 || count > FEW || requests == NULL || !gompi_is_running())
		return false;
	for (int i = 0; i < count; i++)
		if ((rs[i] = gompi_request_of(requests[i])) == NULL && requests[i] != GOMPI_REQUEST_DONE)
			return false;
	const struct gompi_several all = {.count = count, .requests = requests};
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL)
			continue;
		if (__builtin_expect(!gompi_is_complete(r), 0) &&
		    gompi_request_await_with(r, "MPI_Waitall", gompi_loss_to_any, &all) != MPI_SUCCESS)
			return false;
		if (__builtin_expect(gompi_is_idle(r) || r->kind != NULL || r->result.class != MPI_SUCCESS, 0))
			return false;
	}
	struct gompi_lane *locked = NULL; // one lock acquisition for consecutive requests of a lane
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL) {
			gompi_end_done(&requests[i], gompi_status_at(statuses, i));
			continue;
		}
		gompi_status_of(r, gompi_status_at(statuses, i));
		if (r->persistent) {
			gompi_request_end(r, &requests[i]);
			continue;
		}
		if (locked != r->lane) {
			if (locked != NULL)
				gompi_lane_give(locked);
			gompi_lane_take(locked = r->lane);
		}
		gompi_request_remove(r);
		gompi_request_give(r);
		requests[i] = MPI_REQUEST_NULL;
	}
	if (locked != NULL)
		gompi_lane_give(locked);
	return true;
}

int gompi_waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
	if (__builtin_expect(wait_few(count, requests, statuses), 1))
		return MPI_SUCCESS;
	int pending = MPI_SUCCESS;
	struct gompi_several all = {.count = count, .requests = requests};
	if (gompi_array_refused("MPI_Waitall", &all, true, &pending))
		return pending;
	for (int i = 0; i < count && pending == MPI_SUCCESS; i++) {
		struct gompi_request *r = gompi_request_of(requests[i]);
		if (r != NULL)
			pending = gompi_request_await_with(r, "MPI_Waitall", gompi_loss_to_any, &all);
	}
	return end_all("MPI_Waitall", count, requests, statuses, pending);
}
GOMPI_ENTRY(MPI_Waitall, gompi_waitall);

int gompi_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	int rc;
	struct gompi_several s = {.count = count, .requests = requests};
	if (gompi_array_refused("MPI_Testall", &s, flag != NULL, &rc))
		return rc;
	*flag = gompi_look_again(&s, true);
	if (!*flag) {
		gompi_message_polled();
		return MPI_SUCCESS;
	}
	gompi_poll_over();
	return end_all("MPI_Testall", count, requests, statuses, MPI_SUCCESS);
}
GOMPI_ENTRY(MPI_Testall, gompi_testall);
