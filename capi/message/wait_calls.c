// Completion of requests (MPI-5.0 3.7.3, 3.7.5, 3.7.6), what frees, cancels and starts them. Requests of messages are
// done here; a call that has another one among its own, of a collective, say, is Go's (capi/request.go).
#include "base/poll.h"
#include "message/call.h"
#include "message/z_calls.h"

// What a handle stands for.
enum what {
	MESSAGE, // a request of a message
	NOTHING, // MPI_REQUEST_NULL
	DONE,    // the one that is always complete
	OTHER,   // a request that Go knows, or none
};

static inline enum what what_is(MPI_Request h, struct gompi_request **r) {
	*r = gompi_request_of(h);
	if (__builtin_expect(*r != NULL, 1))
		return MESSAGE;
	return h == GOMPI_REQUEST_DONE ? DONE : h == MPI_REQUEST_NULL ? NOTHING : OTHER;
}

// Whether there is nothing to complete: then the status is empty.
static inline bool idle(const struct gompi_request *r) {
	return gompi_load((gompi_a32 *)&r->state) == REQUEST_INACTIVE;
}

static inline bool running(void) { return gompi_load(&gompi_messages_here) != NULL; }

// Ends what is complete: its status and error.
static int end_one(const char *call, struct gompi_request *r, MPI_Request *request, MPI_Status *status) {
	gompi_status_of(r, status);
	if (__builtin_expect(r->result.class == MPI_SUCCESS, 1)) {
		gompi_request_end(r, request);
		return MPI_SUCCESS;
	}
	struct gompi_request copy = *r;
	gompi_request_end(r, request);
	return gompi_request_refuse(&copy, call);
}

static void end_done(MPI_Request *request, MPI_Status *status) {
	*request = MPI_REQUEST_NULL;
	gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
}

// Why a request will not complete.
static __attribute__((cold)) int refuse_wait(const char *call, const struct gompi_request *r, int class) {
	struct gompi_request copy = *r;
	copy.result.class = class;
	return gompi_request_refuse(&copy, call);
}

int gompi_wait(MPI_Request *request, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || !running(), 0))
		return gompi_call_wrong("MPI_Wait", MPI_ERR_ARG, "request is NULL");
	switch (what_is(*request, &r)) {
	case MESSAGE:
		if (idle(r))
			break;
		int class = gompi_request_await(r, "MPI_Wait");
		return class == MPI_SUCCESS ? end_one("MPI_Wait", r, request, status)
					    : refuse_wait("MPI_Wait", r, class);
	case DONE:
		end_done(request, status);
		return MPI_SUCCESS;
	case NOTHING:
		break;
	case OTHER:
		return gompi_up.wait(request, status);
	}
	gompi_status_empty(status);
	return MPI_SUCCESS;
}

// A call that programs repeat until it succeeds found nothing: it may be a wait.
static void found_nothing(void) {
	enum { POLLS_TO_WAIT = 1024 };
	static _Thread_local unsigned polls __attribute__((tls_model("initial-exec")));
	gompi_polled();
	if (++polls % POLLS_TO_WAIT == 0)
		gompi_messages_remind(gompi_load(&gompi_messages_here));
}

void gompi_message_polled(void) { found_nothing(); }

// Makes progress for a call that must not wait.
static void poll_messages(void) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	gompi_messages_progress(m);
	uint32_t hooks = gompi_load(&m->hooks);
	if (__builtin_expect(hooks != 0, 0)) {
		if (hooks & HOOK_NETWORK)
			gompi_fabric_progress();
		if (hooks >= HOOK)
			gompi_up.progress_messages();
	}
}

void gompi_message_progress(void) { poll_messages(); }

int gompi_test(MPI_Request *request, int *flag, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || flag == NULL || !running(), 0))
		return gompi_call_wrong("MPI_Test", MPI_ERR_ARG, "%s is NULL", request == NULL ? "request" : "flag");
	switch (what_is(*request, &r)) {
	case MESSAGE:
		if (idle(r))
			break;
		if (!gompi_is_complete(r))
			poll_messages();
		*flag = gompi_is_complete(r);
		if (*flag) {
			gompi_poll_over();
			return end_one("MPI_Test", r, request, status);
		}
		found_nothing();
		return MPI_SUCCESS;
	case DONE:
		*flag = 1;
		end_done(request, status);
		return MPI_SUCCESS;
	case NOTHING:
		break;
	case OTHER:
		return gompi_up.test(request, flag, status);
	}
	*flag = 1;
	gompi_status_empty(status);
	return MPI_SUCCESS;
}

// Calls on arrays.

// Whether all of an array are what is done here; false: Go's, with the checks of the arguments.
static bool ours(int count, const MPI_Request requests[], const void *more) {
	if (count < 0 || (count > 0 && requests == NULL) || more == NULL || !running())
		return false;
	struct gompi_request *r;
	for (int i = 0; i < count; i++)
		if (what_is(requests[i], &r) == OTHER)
			return false;
	return true;
}

// Whether a handle's request can complete, and whether it has.
static bool active(MPI_Request h, bool *complete) {
	struct gompi_request *r;
	enum what w = what_is(h, &r);
	*complete = w == DONE || (w == MESSAGE && gompi_is_complete(r));
	return w == DONE || (w == MESSAGE && !idle(r));
}

static MPI_Status *status_at(MPI_Status *statuses, int i) {
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static int class_of(MPI_Request h) {
	struct gompi_request *r;
	return what_is(h, &r) == MESSAGE && gompi_is_complete(r) ? r->result.class : MPI_SUCCESS;
}

// Raises MPI_ERR_IN_STATUS for the request i of n, which has ended as r has, on what that was made on.
static __attribute__((cold)) int in_status(const char *call, const struct gompi_request *r, int i, int n) {
	struct gompi_verdict why, v;
	gompi_request_why(r, &why);
	gompi_wrong(&v, MPI_ERR_IN_STATUS, "request %d of %d: %.300s", i, n, why.text);
	return gompi_call_refuse(&v, call, (MPI_Comm)r->comm);
}

// Ends all requests that are complete and stores the status of each. If one has failed every status has its error,
// MPI_ERR_PENDING for those that are not complete, and the call's is MPI_ERR_IN_STATUS (MPI-5.0 3.7.5). pending: what
// the first that is not complete has waited for in vain.
static int end_all(const char *call, int count, MPI_Request requests[], MPI_Status statuses[], int pending) {
	int which = -1;
	for (int i = 0; i < count && which < 0; i++)
		if (class_of(requests[i]) != MPI_SUCCESS)
			which = i;
	if (__builtin_expect(which < 0 && pending == MPI_SUCCESS, 1)) {
		for (int i = 0; i < count; i++) {
			struct gompi_request *r;
			MPI_Status *s = status_at(statuses, i);
			switch (what_is(requests[i], &r)) {
			case MESSAGE:
				if (idle(r)) {
					gompi_status_empty(s);
					break;
				}
				gompi_status_of(r, s);
				gompi_request_end(r, &requests[i]);
				break;
			case DONE:
				end_done(&requests[i], s);
				break;
			default:
				gompi_status_empty(s);
			}
		}
		return MPI_SUCCESS;
	}
	struct gompi_request failed = {0}, *r;
	for (int i = 0; i < count; i++) {
		MPI_Status *s = status_at(statuses, i);
		int class = MPI_SUCCESS;
		switch (what_is(requests[i], &r)) {
		case MESSAGE:
			if (idle(r)) {
				gompi_status_empty(s);
				continue;
			}
			if (gompi_is_complete(r)) {
				class = r->result.class;
				gompi_status_of(r, s);
				if (class != MPI_SUCCESS && failed.result.class == MPI_SUCCESS) {
					failed = *r;
					which = i;
				}
				gompi_request_end(r, &requests[i]);
			} else {
				gompi_status_empty(s);
				class = MPI_ERR_PENDING;
				if (failed.result.class == MPI_SUCCESS) {
					class = pending;
					failed = *r;
					failed.result.class = pending;
					which = i;
				}
			}
			break;
		case DONE:
			end_done(&requests[i], s);
			break;
		default:
			gompi_status_empty(s);
			continue;
		}
		if (s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return in_status(call, &failed, which, count);
}

// What most calls of MPI_Waitall are: some requests of messages, and others that are over already, none of which fails.
// Whether it was; if not nothing has been ended.
enum { FEW = 64 };
static bool wait_few(int count, MPI_Request requests[], MPI_Status statuses[]) {
	struct gompi_request *rs[FEW];
	if (count < 0 || count > FEW || requests == NULL || !running())
		return false;
	for (int i = 0; i < count; i++)
		if ((rs[i] = gompi_request_of(requests[i])) == NULL && requests[i] != GOMPI_REQUEST_DONE)
			return false;
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL)
			continue;
		if (__builtin_expect(!gompi_is_complete(r), 0) && gompi_request_await(r, "MPI_Waitall") != MPI_SUCCESS)
			return false;
		if (__builtin_expect(idle(r) || r->persistent || r->result.class != MPI_SUCCESS, 0))
			return false;
	}
	struct gompi_lane *locked = NULL; // one lock for many
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL) {
			end_done(&requests[i], status_at(statuses, i));
			continue;
		}
		gompi_status_of(r, status_at(statuses, i));
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
	if (!ours(count, requests, ""))
		return gompi_up.waitall(count, requests, statuses);
	int pending = MPI_SUCCESS;
	for (int i = 0; i < count && pending == MPI_SUCCESS; i++) {
		struct gompi_request *r = gompi_request_of(requests[i]);
		if (r != NULL)
			pending = gompi_request_await(r, "MPI_Waitall");
	}
	return end_all("MPI_Waitall", count, requests, statuses, pending);
}

static bool all_complete(int count, const MPI_Request requests[]) {
	bool complete;
	for (int i = 0; i < count; i++)
		if (active(requests[i], &complete) && !complete)
			return false;
	return true;
}

int gompi_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	if (!ours(count, requests, flag))
		return gompi_up.testall(count, requests, flag, statuses);
	if (!all_complete(count, requests))
		poll_messages();
	*flag = all_complete(count, requests);
	if (!*flag) {
		found_nothing();
		return MPI_SUCCESS;
	}
	gompi_poll_over();
	return end_all("MPI_Testall", count, requests, statuses, MPI_SUCCESS);
}

// A wait for the first of several.
struct several {
	int count;
	const MPI_Request *requests;
	int active; // how many can complete
};

// The first request that is complete, -1: none is.
static int first_complete(struct several *s) {
	bool complete;
	s->active = 0;
	for (int i = 0; i < s->count; i++) {
		s->active += active(s->requests[i], &complete);
		if (complete)
			return i;
	}
	return -1;
}

static bool any_complete(void *arg) {
	struct several *s = arg;
	if (first_complete(s) >= 0 || s->active == 0)
		return true;
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	gompi_messages_progress(m);
	for (int i = 0; i < GOMPI_LANES; i++)
		if (gompi_load(&m->lane[i].broken) != 0)
			return true;
	return first_complete(s) >= 0;
}

// Waits until a request is complete. Which; -1 and *rc: none will be.
static int await_first(const char *call, struct several *s, int *rc) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	struct gompi_waiting what = {call, -1, 0};
	*rc = MPI_SUCCESS;
	int i = first_complete(s);
	if (i >= 0 || s->active == 0)
		return i;
	int class = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, any_complete, s, &what);
	gompi_call_step(m);
	i = first_complete(s);
	if (i < 0)
		*rc = gompi_call_wrong(call, class != MPI_SUCCESS ? class : MPI_ERR_INTERN,
				       class != MPI_SUCCESS ? gompi_lost_text() : "the inbox of messages is damaged");
	return i;
}

// Ends request i.
static int end_at(const char *call, MPI_Request requests[], int i, MPI_Status *status) {
	struct gompi_request *r;
	if (what_is(requests[i], &r) == MESSAGE)
		return end_one(call, r, &requests[i], status);
	end_done(&requests[i], status);
	return MPI_SUCCESS;
}

int gompi_waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
	if (!ours(count, requests, index))
		return gompi_up.waitany(count, requests, index, status);
	struct several s = {count, requests, 0};
	int rc, i = await_first("MPI_Waitany", &s, &rc);
	if (i >= 0) {
		*index = i;
		return end_at("MPI_Waitany", requests, i, status);
	}
	if (rc == MPI_SUCCESS && s.active == 0) {
		*index = MPI_UNDEFINED;
		gompi_status_empty(status);
	}
	return rc;
}

int gompi_testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	if (flag == NULL || !ours(count, requests, index))
		return gompi_up.testany(count, requests, index, flag, status);
	struct several s = {count, requests, 0};
	int i = first_complete(&s);
	if (i < 0 && s.active > 0) {
		poll_messages();
		i = first_complete(&s);
	}
	if (i >= 0) {
		*index = i;
		*flag = 1;
		gompi_poll_over();
		return end_at("MPI_Testany", requests, i, status);
	}
	*index = MPI_UNDEFINED;
	*flag = s.active == 0;
	if (*flag)
		gompi_status_empty(status);
	else
		found_nothing();
	return MPI_SUCCESS;
}

// Ends all that are complete, and stores their number, indices and statuses. Which those are is looked at once: others
// may complete meanwhile, and whether one has failed decides about the statuses of all.
static int end_some(const char *call, int count, MPI_Request requests[], int *outcount, int indices[],
		    MPI_Status statuses[]) {
	struct gompi_request failed = {0}, *r;
	int n = 0, which = -1;
	bool complete;
	for (int i = 0; i < count; i++) {
		if (!active(requests[i], &complete) || !complete)
			continue;
		if (which < 0 && class_of(requests[i]) != MPI_SUCCESS)
			which = i;
		indices[n++] = i;
	}
	*outcount = n;
	for (int k = 0; k < n; k++) {
		MPI_Request *request = &requests[indices[k]];
		MPI_Status *s = status_at(statuses, k);
		int class = MPI_SUCCESS;
		if (what_is(*request, &r) == MESSAGE) {
			class = r->result.class;
			gompi_status_of(r, s);
			if (indices[k] == which)
				failed = *r;
			gompi_request_end(r, request);
		} else {
			end_done(request, s);
		}
		if (which >= 0 && s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return which >= 0 ? in_status(call, &failed, which, count) : MPI_SUCCESS;
}

int gompi_waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	if ((incount > 0 && indices == NULL) || !ours(incount, requests, outcount))
		return gompi_up.waitsome(incount, requests, outcount, indices, statuses);
	struct several s = {incount, requests, 0};
	int rc, i = await_first("MPI_Waitsome", &s, &rc);
	if (i >= 0)
		return end_some("MPI_Waitsome", incount, requests, outcount, indices, statuses);
	if (rc == MPI_SUCCESS && s.active == 0)
		*outcount = MPI_UNDEFINED;
	return rc;
}

int gompi_testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	if ((incount > 0 && indices == NULL) || !ours(incount, requests, outcount))
		return gompi_up.testsome(incount, requests, outcount, indices, statuses);
	struct several s = {incount, requests, 0};
	if (first_complete(&s) < 0 && s.active == 0) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	poll_messages();
	if (first_complete(&s) < 0)
		found_nothing();
	else
		gompi_poll_over();
	return end_some("MPI_Testsome", incount, requests, outcount, indices, statuses);
}

int gompi_request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(flag == NULL || !running(), 0))
		return gompi_call_wrong("MPI_Request_get_status", MPI_ERR_ARG, "flag is NULL");
	switch (what_is(request, &r)) {
	case MESSAGE:
		if (idle(r))
			break;
		if (!gompi_is_complete(r))
			poll_messages();
		*flag = gompi_is_complete(r);
		if (*flag)
			gompi_status_of(r, status);
		else
			found_nothing();
		return MPI_SUCCESS;
	case DONE:
		*flag = 1;
		gompi_status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
		return MPI_SUCCESS;
	case NOTHING:
		break;
	case OTHER:
		return gompi_up.request_get_status(request, flag, status);
	}
	*flag = 1;
	gompi_status_empty(status);
	return MPI_SUCCESS;
}

// MPI-5.0 3.7.3: goes at once if it is complete or inactive, else when it is complete.
int gompi_request_free(MPI_Request *request) {
	struct gompi_request *r = request != NULL ? gompi_request_of(*request) : NULL;
	if (r == NULL) {
		if (request != NULL && *request == GOMPI_REQUEST_DONE) {
			*request = MPI_REQUEST_NULL;
			return MPI_SUCCESS;
		}
		return gompi_up.request_free(request);
	}
	struct gompi_lane *l = r->lane;
	gompi_lane_take(l);
	gompi_request_remove(r);
	if (gompi_load(&r->state) == REQUEST_ACTIVE)
		r->freed = true;
	else
		gompi_request_give(r);
	gompi_lane_give(l);
	*request = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}

// MPI-5.0 3.8.4.
int gompi_cancel(MPI_Request *request) {
	struct gompi_request *r = request != NULL ? gompi_request_of(*request) : NULL;
	if (r == NULL)
		return gompi_up.cancel(request);
	gompi_lane_take(r->lane);
	gompi_cancel_locked(r->lane, r);
	gompi_lane_end(r->lane);
	return MPI_SUCCESS;
}

// MPI-5.0 3.9. MPI_ERR_REQUEST: the request is not persistent, or active.
int gompi_start(MPI_Request *request) {
	struct gompi_request *r = request != NULL ? gompi_request_of(*request) : NULL;
	if (r == NULL || !r->persistent || !idle(r))
		return gompi_up.start(request);
	gompi_request_restart(r);
	return MPI_SUCCESS;
}

int gompi_startall(int count, MPI_Request requests[]) {
	struct gompi_request *r;
	bool plain = ours(count, requests, "");
	for (int i = 0; i < count && plain; i++)
		plain = what_is(requests[i], &r) == MESSAGE && r->persistent && idle(r);
	if (!plain)
		return gompi_up.startall(count, requests);
	for (int i = 0; i < count; i++)
		gompi_request_restart(gompi_request_of(requests[i]));
	return MPI_SUCCESS;
}
