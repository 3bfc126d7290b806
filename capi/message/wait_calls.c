// Waiting and testing for requests (MPI-5.0 3.7.3, 3.7.5), whatever they stand for.
#include "base/loss.h"
#include "base/poll.h"
#include "base/tuning.h"
#include "message/handles.h"
#include "message/z_calls.h"

static inline bool running(void) { return gompi_load(&gompi_messages_here) != NULL; }

// Ends what is complete: its status and error.
static inline int end_one(const char *call, struct gompi_request *r, MPI_Request *request, MPI_Status *status) {
	gompi_request_settle(r);
	gompi_status_of(r, status);
	if (__builtin_expect(r->result.class == MPI_SUCCESS, 1)) {
		gompi_request_end(r, request);
		return MPI_SUCCESS;
	}
	struct gompi_verdict v;
	uintptr_t on = r->comm;
	gompi_request_why(r, &v);
	gompi_request_end(r, request);
	return gompi_request_raise(&v, call, on);
}

static void end_done(MPI_Request *request, MPI_Status *status) {
	*request = MPI_REQUEST_NULL;
	gompi_status_done(status);
}

// Why a request will not complete.
static __attribute__((cold)) int refuse_wait(const char *call, const struct gompi_request *r, int class) {
	struct gompi_verdict v;
	gompi_request_lost(class, &v);
	return gompi_request_raise(&v, call, r->comm);
}

int gompi_no_request(const char *call, MPI_Request request) {
	return gompi_call_error(call, MPI_ERR_REQUEST, "%#zx is no request, or one that was completed or freed",
				(size_t)request);
}

int gompi_wait(MPI_Request *request, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || !running(), 0))
		return gompi_call_error("MPI_Wait", MPI_ERR_ARG, "request is NULL");
	switch (gompi_what_is(*request, &r)) {
	case GOMPI_LIVE:
		if (gompi_is_idle(r))
			break;
		int class = gompi_request_await(r, "MPI_Wait");
		return class == MPI_SUCCESS ? end_one("MPI_Wait", r, request, status)
					    : refuse_wait("MPI_Wait", r, class);
	case GOMPI_DONE:
		end_done(request, status);
		return MPI_SUCCESS;
	case GOMPI_NOTHING:
		break;
	case GOMPI_UNKNOWN:
		return gompi_no_request("MPI_Wait", *request);
	}
	gompi_status_empty(status);
	return MPI_SUCCESS;
}

// A call that programs repeat until it succeeds found nothing: it may be a wait.
void gompi_message_polled(void) {
	static _Thread_local unsigned polls __attribute__((tls_model("initial-exec")));
	gompi_polled();
	if (++polls % GOMPI_TESTS_TO_WAIT == 0)
		gompi_messages_remind(gompi_load(&gompi_messages_here));
}

void gompi_message_progress(void) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	gompi_messages_progress(m);
	uint32_t hooks = gompi_load(&m->hooks);
	if (__builtin_expect(hooks != 0, 0)) {
		if (hooks & HOOK_NETWORK)
			gompi_fabric_progress();
		if (hooks & HOOK_SERVED)
			gompi_serve();
		if (hooks >= HOOK_PLANS)
			gompi_messages_step(m);
	}
}

int gompi_test(MPI_Request *request, int *flag, MPI_Status *status) {
	struct gompi_request *r;
	if (__builtin_expect(request == NULL || flag == NULL || !running(), 0))
		return gompi_call_error("MPI_Test", MPI_ERR_ARG, "%s is NULL", request == NULL ? "request" : "flag");
	switch (gompi_what_is(*request, &r)) {
	case GOMPI_LIVE:
		if (gompi_is_idle(r))
			break;
		if (!gompi_is_complete(r))
			gompi_message_progress();
		*flag = gompi_is_complete(r);
		if (*flag) {
			gompi_poll_over();
			return end_one("MPI_Test", r, request, status);
		}
		gompi_message_polled();
		return MPI_SUCCESS;
	case GOMPI_DONE:
		*flag = 1;
		end_done(request, status);
		return MPI_SUCCESS;
	case GOMPI_NOTHING:
		break;
	case GOMPI_UNKNOWN:
		return gompi_no_request("MPI_Test", *request);
	}
	*flag = 1;
	gompi_status_empty(status);
	return MPI_SUCCESS;
}

// Calls on arrays.

static __attribute__((cold)) int refuse_array(const char *call, int count, const MPI_Request requests[], int i) {
	if (count < 0)
		return gompi_call_error(call, MPI_ERR_COUNT, "%d requests", count);
	if (count > 0 && requests == NULL)
		return gompi_call_error(call, MPI_ERR_ARG, "the address of %d requests is NULL", count);
	if (i < 0)
		return gompi_call_error(call, MPI_ERR_ARG, "an address for a result is NULL");
	return gompi_call_error(call, MPI_ERR_REQUEST,
				"request %d of %d: %#zx is no request, or one that was completed or freed", i, count,
				(size_t)requests[i]);
}

bool gompi_array_refused(const char *call, int count, const MPI_Request requests[], bool place, int *rc) {
	struct gompi_request *r;
	int i = 0;
	if (count < 0 || (count > 0 && requests == NULL) || !place || !running())
		i = -1;
	else
		while (i < count && gompi_what_is(requests[i], &r) != GOMPI_UNKNOWN)
			i++;
	if (__builtin_expect(i >= 0 && i == count, 1))
		return false;
	*rc = refuse_array(call, count, requests, i);
	return true;
}

// What ends a call with MPI_ERR_IN_STATUS: the first request of several that has failed.
struct failure {
	int which; // -1: none
	uintptr_t on;
	struct gompi_verdict why;
};

// Raises MPI_ERR_IN_STATUS for a request of n on what that was made on.
static __attribute__((cold)) int in_status(const char *call, const struct failure *f, int n) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_IN_STATUS, "request %d of %d: %.300s", f->which, n, f->why.text);
	return gompi_request_raise(&v, call, f->on);
}

// Finds out what has become of a request; if it has failed and is the first to, it is why the call fails.
static inline void settle(MPI_Request h, int i, struct failure *f) {
	struct gompi_request *r;
	if (gompi_what_is(h, &r) != GOMPI_LIVE || !gompi_is_complete(r))
		return;
	gompi_request_settle(r);
	if (__builtin_expect(r->result.class != MPI_SUCCESS, 0) && f->which < 0) {
		f->which = i;
		f->on = r->comm;
		gompi_request_why(r, &f->why);
	}
}

// Ends request i, which is complete and settled, or has nothing to complete, and stores its status. Its error class.
static inline int end_at(MPI_Request *request, MPI_Status *status) {
	struct gompi_request *r;
	int class = MPI_SUCCESS;
	switch (gompi_what_is(*request, &r)) {
	case GOMPI_LIVE:
		if (gompi_is_idle(r)) {
			gompi_status_empty(status);
			break;
		}
		class = r->result.class;
		gompi_status_of(r, status);
		gompi_request_end(r, request);
		break;
	case GOMPI_DONE:
		end_done(request, status);
		break;
	default:
		gompi_status_empty(status);
	}
	return class;
}

// A wait for several.
struct several {
	int count;
	const MPI_Request *requests;
	int active; // how many can complete
};

// Whose loss keeps one of several from ever being complete. *which: that one.
static int loss_to_one(const struct several *s, struct gompi_stuck *place, int *which) {
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

static int loss_to_any(const void *of, struct gompi_stuck *place) {
	int which;
	return loss_to_one(of, place, &which);
}

// Ends all requests that are complete and stores the status of each. If one has failed every status has its error,
// MPI_ERR_PENDING for those that are not complete, and the call's is MPI_ERR_IN_STATUS (MPI-5.0 3.7.5). pending: why
// one never will be: the first that waits for a lost process, else the first.
static int end_all(const char *call, int count, MPI_Request requests[], MPI_Status statuses[], int pending) {
	struct failure f;
	f.which = -1;
	bool complete;
	int lost = -1;
	for (int i = 0; i < count; i++)
		settle(requests[i], i, &f);
	if (__builtin_expect(pending == MPI_ERR_PROC_ABORTED, 0))
		loss_to_one(&(struct several){.count = count, .requests = requests}, &(struct gompi_stuck){0}, &lost);
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
			class = end_at(&requests[i], s);
		}
		if (__builtin_expect(f.which >= 0 || pending != MPI_SUCCESS, 0) && s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return __builtin_expect(f.which < 0, 1) ? MPI_SUCCESS : in_status(call, &f, count);
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
	const struct several all = {.count = count, .requests = requests};
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL)
			continue;
		if (__builtin_expect(!gompi_is_complete(r), 0) &&
		    gompi_request_await_with(r, "MPI_Waitall", loss_to_any, &all) != MPI_SUCCESS)
			return false;
		if (__builtin_expect(
			    gompi_is_idle(r) || r->persistent || r->kind != NULL || r->result.class != MPI_SUCCESS, 0))
			return false;
	}
	struct gompi_lane *locked = NULL; // one lock for many
	for (int i = 0; i < count; i++) {
		struct gompi_request *r = rs[i];
		if (r == NULL) {
			end_done(&requests[i], gompi_status_at(statuses, i));
			continue;
		}
		gompi_status_of(r, gompi_status_at(statuses, i));
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
	if (gompi_array_refused("MPI_Waitall", count, requests, true, &pending))
		return pending;
	const struct several all = {.count = count, .requests = requests};
	for (int i = 0; i < count && pending == MPI_SUCCESS; i++) {
		struct gompi_request *r = gompi_request_of(requests[i]);
		if (r != NULL)
			pending = gompi_request_await_with(r, "MPI_Waitall", loss_to_any, &all);
	}
	return end_all("MPI_Waitall", count, requests, statuses, pending);
}

int gompi_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
	int rc;
	if (gompi_array_refused("MPI_Testall", count, requests, flag != NULL, &rc))
		return rc;
	if (!gompi_all_complete(count, requests))
		gompi_message_progress();
	*flag = gompi_all_complete(count, requests);
	if (!*flag) {
		gompi_message_polled();
		return MPI_SUCCESS;
	}
	gompi_poll_over();
	return end_all("MPI_Testall", count, requests, statuses, MPI_SUCCESS);
}

static int first_complete(struct several *s) { return gompi_first_complete(s->count, s->requests, &s->active); }

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

// Waits until a request is complete. Which; -1 and *rc: one never will be, *lost, -1 if it is not known which.
static int await_first(const char *call, struct several *s, int *lost, int *rc) {
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	struct gompi_waiting what = {.call = call, .peer = GOMPI_PEERS_SEVERAL, .lost = loss_to_any, .of = s};
	*rc = MPI_SUCCESS;
	int i = first_complete(s);
	if (i >= 0 || s->active == 0)
		return i;
	int class = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, any_complete, s, &what);
	gompi_call_step(m);
	i = first_complete(s);
	*lost = -1;
	if (i < 0 && class == MPI_ERR_PROC_ABORTED)
		loss_to_one(s, &(struct gompi_stuck){0}, lost);
	if (i < 0) {
		struct gompi_verdict v;
		gompi_request_lost(class != MPI_SUCCESS ? class : MPI_ERR_INTERN, &v);
		*rc = *lost < 0 ? gompi_call_error(call, v.class, "%s", v.text)
				: gompi_request_raise(&v, call, gompi_request_of(s->requests[*lost])->comm);
	}
	return i;
}

// Ends request i.
static int end_this(const char *call, MPI_Request requests[], int i, MPI_Status *status) {
	struct gompi_request *r;
	if (gompi_what_is(requests[i], &r) == GOMPI_LIVE)
		return end_one(call, r, &requests[i], status);
	end_done(&requests[i], status);
	return MPI_SUCCESS;
}

int gompi_waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
	int rc;
	if (gompi_array_refused("MPI_Waitany", count, requests, index != NULL, &rc))
		return rc;
	struct several s = {count, requests, 0};
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

int gompi_testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
	int rc;
	if (gompi_array_refused("MPI_Testany", count, requests, index != NULL && flag != NULL, &rc))
		return rc;
	struct several s = {count, requests, 0};
	int i = first_complete(&s);
	if (i < 0 && s.active > 0) {
		gompi_message_progress();
		i = first_complete(&s);
	}
	if (i >= 0) {
		*index = i;
		*flag = 1;
		gompi_poll_over();
		return end_this("MPI_Testany", requests, i, status);
	}
	*index = MPI_UNDEFINED;
	*flag = s.active == 0;
	if (*flag)
		gompi_status_empty(status);
	else
		gompi_message_polled();
	return MPI_SUCCESS;
}

// Ends all that are complete, and stores their number, indices and statuses. Which those are is looked at once: others
// may complete meanwhile, and whether one has failed decides about the statuses of all.
static int end_some(const char *call, int count, MPI_Request requests[], int *outcount, int indices[],
		    MPI_Status statuses[]) {
	struct failure f;
	f.which = -1;
	int n = 0;
	bool complete;
	for (int i = 0; i < count; i++) {
		if (!gompi_is_active(requests[i], &complete) || !complete)
			continue;
		settle(requests[i], i, &f);
		indices[n++] = i;
	}
	*outcount = n;
	for (int k = 0; k < n; k++) {
		MPI_Status *s = gompi_status_at(statuses, k);
		int class = end_at(&requests[indices[k]], s);
		if (__builtin_expect(f.which >= 0, 0) && s != MPI_STATUS_IGNORE)
			s->MPI_ERROR = class;
	}
	return __builtin_expect(f.which < 0, 1) ? MPI_SUCCESS : in_status(call, &f, count);
}

int gompi_waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int rc;
	if (gompi_array_refused("MPI_Waitsome", incount, requests,
				outcount != NULL && (incount <= 0 || indices != NULL), &rc))
		return rc;
	struct several s = {incount, requests, 0};
	int lost, i = await_first("MPI_Waitsome", &s, &lost, &rc);
	if (i >= 0)
		return end_some("MPI_Waitsome", incount, requests, outcount, indices, statuses);
	if (rc == MPI_SUCCESS && s.active == 0)
		*outcount = MPI_UNDEFINED;
	return rc;
}

int gompi_testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) {
	int rc;
	if (gompi_array_refused("MPI_Testsome", incount, requests,
				outcount != NULL && (incount <= 0 || indices != NULL), &rc))
		return rc;
	struct several s = {incount, requests, 0};
	if (first_complete(&s) < 0 && s.active == 0) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	gompi_message_progress();
	if (first_complete(&s) < 0)
		gompi_message_polled();
	else
		gompi_poll_over();
	return end_some("MPI_Testsome", incount, requests, outcount, indices, statuses);
}
