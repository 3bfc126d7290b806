// Waiting and testing for any or some of several requests (MPI-5.0 3.7.5).
#include "base/poll.h"
#include "message/handles.h"
#include "message/z_calls.h"

static int first_complete(struct gompi_several *s) {
	gompi_look(s);
	return s->first;
}

static bool any_complete(void *arg) {
	struct gompi_several *s = arg;
	if (first_complete(s) >= 0 || s->active == 0)
		return true;
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	gompi_messages_progress(m);
	for (int i = 0; i < GOMPI_LANES; i++)
		if (gompi_load(&m->lane[i].broken) != 0)
			return true;
	return first_complete(s) >= 0;
}

// Describes the first request from index first on that may end the wait (struct gompi_waiting).
static int describe_one(const void *on, int first, struct gompi_waiting *what, struct gompi_told *t) {
	const struct gompi_several *s = on;
	struct gompi_request *r;
	for (int i = first; i < s->count; i++)
		if (gompi_what_is(s->requests[i], &r) == GOMPI_LIVE && !gompi_is_idle(r) && !gompi_is_complete(r)) {
			gompi_request_awaits(r, what, t);
			return i;
		}
	return -1;
}

// Waits until a request is complete. Returns its index, or -1 if none is active or, with *rc set, if one can never
// complete. *lost is the index of that one, or -1 if it is unknown.
static int await_first(const char *call, struct gompi_several *s, int *lost, int *rc) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	struct gompi_waiting what = {.call = call,
				     .peer = GOMPI_PEERS_SEVERAL,
				     .lost = gompi_loss_to_any,
				     .of = s,
				     .describe = describe_one,
				     .on = s};
	*rc = MPI_SUCCESS;
	if (s->first >= 0 || s->active == 0)
		return s->first;
	int class = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, any_complete, s, &what);
	gompi_call_step(m);
	int i = first_complete(s);
	*lost = -1;
	if (i < 0 && class == MPI_ERR_PROC_ABORTED)
		gompi_loss_to_one(s, &(struct gompi_stuck){0}, lost);
	if (i < 0)
		*rc = gompi_request_gone(call, class != MPI_SUCCESS ? class : MPI_ERR_INTERN,
					 *lost < 0 ? 0 : gompi_request_of(s->requests[*lost])->comm);
	return i;
}

// Ends request i.
static int end_this(const char *call, MPI_Request requests[], int i, MPI_Status *status) {
	struct gompi_request *r;
	if (gompi_what_is(requests[i], &r) == GOMPI_LIVE)
		return gompi_end_one(call, r, &requests[i], status);
	gompi_end_done(&requests[i], status);
	return MPI_SUCCESS;
}

int gompi_waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
	int rc;
	struct gompi_several s = {.count = count, .requests = requests};
	if (gompi_array_refused("MPI_Waitany", &s, index != NULL, &rc))
		return rc;
	int lost = -1, i = await_first("MPI_Waitany", &s, &lost, &rc);
	if (i >= 0) {
		*index = i;
		return end_this("MPI_Waitany", requests, i, status);
	}
	if (lost >= 0)
		*index = lost;
	if (rc == MPI_SUCCESS && s.active == 0) {
		*index = MPI_UNDEFINED;
		gompi_status_empty(status);
	}
	return rc;
}
GOMPI_ENTRY(MPI_Waitany, gompi_waitany);

int gompi_testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	int rc;
	struct gompi_several s = {.count = count, .requests = requests};
	if (gompi_array_refused("MPI_Testany", &s, index != NULL && flag != NULL, &rc))
		return rc;
	if (gompi_look_again(&s, false)) {
		*index = s.first;
		*flag = 1;
		gompi_poll_over();
		return end_this("MPI_Testany", requests, s.first, status);
	}
	*index = MPI_UNDEFINED;
	*flag = s.active == 0;
	if (*flag)
		gompi_status_empty(status);
	else
		gompi_message_polled();
	return MPI_SUCCESS;
}
GOMPI_ENTRY(MPI_Testany, gompi_testany);

// Ends all complete requests, and stores their number, indices and statuses. Determines the set once: other requests
// may complete meanwhile, and whether one of the set has failed decides about the statuses of all.
static int end_some(const char *call, int count, MPI_Request requests[], int *outcount, int indices[],
		    MPI_Status statuses[]) {
	struct gompi_failure f;
	f.which = -1;
	int n = 0;
	bool complete;
	for (int i = 0; i < count; i++) {
		if (!gompi_is_active(requests[i], &complete) || !complete)
			continue;
		gompi_settle(requests[i], i, &f);
		indices[n++] = i;
	}
	*outcount = n;
	for (int k = 0; k < n; k++) {
		MPI_Status *s = gompi_status_at(statuses, k);
		int class = gompi_end_at(&requests[indices[k]], s);
		if (__builtin_expect(f.which >= 0, 0) && s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return __builtin_expect(f.which < 0, 1) ? MPI_SUCCESS : gompi_in_status(call, &f, count);
}

int gompi_waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int rc;
	struct gompi_several s = {.count = incount, .requests = requests};
	if (gompi_array_refused("MPI_Waitsome", &s, outcount != NULL && (incount <= 0 || indices != NULL), &rc))
		return rc;
	int lost, i = await_first("MPI_Waitsome", &s, &lost, &rc);
	if (i >= 0)
		return end_some("MPI_Waitsome", incount, requests, outcount, indices, statuses);
	if (rc == MPI_SUCCESS && s.active == 0)
		*outcount = MPI_UNDEFINED;
	return rc;
}
GOMPI_ENTRY(MPI_Waitsome, gompi_waitsome);

int gompi_testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int rc;
	struct gompi_several s = {.count = incount, .requests = requests};
	if (gompi_array_refused("MPI_Testsome", &s, outcount != NULL && (incount <= 0 || indices != NULL), &rc))
		return rc;
	if (s.active == 0) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	if (gompi_message_progress())
		gompi_look(&s);
	if (s.complete == 0) {
		*outcount = 0;
		gompi_message_polled();
		return MPI_SUCCESS;
	}
	gompi_poll_over();
	return end_some("MPI_Testsome", incount, requests, outcount, indices, statuses);
}
GOMPI_ENTRY(MPI_Testsome, gompi_testsome);
