// Requests of operations with pending parts. A request is created when the call has sent all parts. After the last part
// has ended, any wait completes the request.
#include <stdlib.h>

#include "base/abi.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/wait.h"
#include "message/call.h"
#include "transport/bounce.h"
#include "transport/rma_request.h"
#include "transport/stream.h"

// List of the pending operations whose calls have returned.
static struct {
	struct gompi_mutex mu;
	struct gompi_rma_request *first;
	gompi_a32 count;
	// number of operations with parts in rings: their ends set no flag, so they must be polled
	gompi_a32 ring_count;
} pending_requests;

// Ends all parts of g with an error, because g->stream delivers no more answers. All of these parts wait for answers: a
// call to a process on another node sends either records or one transfer of registered memory. If it makes a transfer,
// g->stream is NULL and this function is not called, because the network ends the transfer even after a failure.
static void fail_rma_request(struct gompi_rma_request *g, int class) {
	uint32_t none = 0;
	gompi_cas_strong(&g->error_class, &none, (uint32_t) class);
	gompi_store_release(&g->pending_parts, 0);
}

void gompi_rma_request_end_stream(const struct gompi_stream *s) {
	gompi_mutex_lock(&pending_requests.mu);
	for (struct gompi_rma_request *g = pending_requests.first; g != NULL; g = g->next)
		if (g->stream == s) {
			g->stream = NULL;
			if (gompi_load_acquire(&g->pending_parts) != 0)
				fail_rma_request(g, MPI_ERR_PROC_ABORTED);
			gompi_store_seq_cst(&gompi_rma_request_event, 1);
		}
	gompi_mutex_unlock(&pending_requests.mu);
}

static void add_pending_request(struct gompi_rma_request *g) {
	gompi_mutex_lock(&pending_requests.mu);
	if (pending_requests.first == NULL)
		gompi_messages_use_services(true);
	g->next = pending_requests.first;
	pending_requests.first = g;
	gompi_add(&pending_requests.count, 1);
	gompi_add(&pending_requests.ring_count, g->ring_process >= 0);
	// Ends the part that represents the call itself. The lock keeps other threads from completing g until this
	// function ends.
	gompi_rma_request_end_part(g, NULL);
	gompi_mutex_unlock(&pending_requests.mu);
}

// --- The requests

static struct gompi_rma_request *rma_request_of(const struct gompi_request *r) {
	return (struct gompi_rma_request *)r->object;
}

static void describe_rma_error(const struct gompi_request *r, struct gompi_error_status *v) {
	const struct gompi_rma_request *g = rma_request_of(r);
	if (g->error_detail.class == r->result.class)
		gompi_store_error_detail(&g->error_detail);
	gompi_describe_op_error(v, g->is_dynamic, r->result.class);
}

static void describe_rma_wait(const struct gompi_request *r, struct gompi_wait_desc *waiting,
			      struct gompi_wait_details *t) {
	struct gompi_rma_request *g = rma_request_of(r);
	(void)t;
	gompi_mutex_lock(&pending_requests.mu);
	if (g->stream != NULL)
		gompi_stream_describe_wait(g->stream, waiting);
	gompi_mutex_unlock(&pending_requests.mu);
}

static void free_rma_request(struct gompi_request *r) { free(rma_request_of(r)); }

// Checks a pending operation. Returns true if it has ended. The caller holds pending_requests.mu.
static bool rma_request_ended(struct gompi_rma_request *g) {
	if (gompi_load_acquire(&g->pending_parts) == 0)
		return true;
	if (g->ring_process >= 0 && !g->is_notified) { // packets without reply do not wake the target
		gompi_ring_doorbell(g->ring_process);
		g->is_notified = true;
	}
	int class = g->stream == NULL ? MPI_SUCCESS : gompi_stream_check_broken(g->stream);
	if (class != MPI_SUCCESS)
		fail_rma_request(g, class);
	return class != MPI_SUCCESS;
}

// Removes the operations that have ended from the list. Returns these operations as a list.
static struct gompi_rma_request *remove_ended_requests(void) {
	struct gompi_rma_request *ended = NULL, *g;
	gompi_mutex_lock(&pending_requests.mu);
	gompi_store_seq_cst(&gompi_rma_request_event, 0);
	for (struct gompi_rma_request **at = &pending_requests.first; (g = *at) != NULL;) {
		if (!rma_request_ended(g)) {
			at = &g->next;
			continue;
		}
		*at = g->next;
		g->next = ended;
		ended = g;
		gompi_sub(&pending_requests.count, 1);
		gompi_sub(&pending_requests.ring_count, g->ring_process >= 0);
	}
	if (pending_requests.first == NULL && ended != NULL)
		gompi_messages_use_services(false);
	gompi_mutex_unlock(&pending_requests.mu);
	return ended;
}

static bool complete_ended_requests(void) {
	if (gompi_load(&pending_requests.count) == 0)
		return false;
	if (gompi_load(&pending_requests.ring_count) != 0)
		gompi_bounce_poll();
	struct gompi_rma_request *next, *g = remove_ended_requests();
	bool worked = g != NULL;
	for (; g != NULL; g = next) {
		next = g->next;
		if (g->request == NULL) {
			free(g);
			continue;
		}
		g->request->result = (struct gompi_result){
			.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = (int32_t)gompi_load(&g->error_class)};
		gompi_request_complete(g->request);
	}
	return worked;
}

// Returns true if complete_ended_requests may find work. The failure of a stream's member sets no flag that this
// function could check. So while operations are pending, the function returns true at least once every
// FAILURE_CHECK_CALLS calls, and the failure is found then.
static bool may_have_ended(void) {
	enum { FAILURE_CHECK_CALLS = 256 };
	static gompi_a32 calls;
	return gompi_load(&pending_requests.count) != 0 &&
	       (gompi_load(&gompi_rma_request_event) != 0 || gompi_load(&pending_requests.ring_count) != 0 ||
		gompi_add(&calls, 1) % FAILURE_CHECK_CALLS == 0);
}

static void progress_rma_request(struct gompi_request *r) {
	if (may_have_ended())
		complete_ended_requests();
}

static const struct gompi_request_kind rma_request_kind = {.progress = progress_rma_request,
							   .describe_wait = describe_rma_wait,
							   .error_detail = describe_rma_error,
							   .free_object = free_rma_request};

int gompi_rma_request_finish(struct gompi_rma_request *g, struct gompi_win *w, const struct gompi_operation *o,
			     int rc) {
	MPI_Request *request = o->request;
	bool has_pending_parts = g != NULL && gompi_load_acquire(&g->pending_parts) != 1;
	if (rc == MPI_SUCCESS && has_pending_parts) {
		g->request = gompi_request_new(gompi_load(&gompi_app_messages), 0, &rma_request_kind, (uintptr_t)g);
		if (g->request != NULL) {
			g->request->comm = w->handle;
			g->request->world = gompi_win_peer(w, o->target);
			*request = (MPI_Request)gompi_request_handle(g->request);
			add_pending_request(g);
			return MPI_SUCCESS;
		}
		return GOMPI_RMA_REQUEST_WAIT;
	}
	if (has_pending_parts) { // the call has failed, so the remaining parts end without a request
		add_pending_request(g);
		return rc;
	}
	if (g != NULL && rc == MPI_SUCCESS && gompi_load(&g->error_class) != MPI_SUCCESS) {
		rc = (int)gompi_load(&g->error_class);
		if (g->error_detail.class == rc)
			gompi_store_error_detail(&g->error_detail);
	}
	free(g);
	if (rc == MPI_SUCCESS)
		*request = GOMPI_REQUEST_DONE;
	return rc;
}

void gompi_rma_request_open(void) {
	static const struct gompi_service service = {.has_work = may_have_ended, .serve = complete_ended_requests};
	gompi_service_add(&service);
}
