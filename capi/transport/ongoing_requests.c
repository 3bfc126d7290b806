// Requests of pending operations: created when the call has sent all parts; any wait completes them after the last part
// has ended.
#include <stdlib.h>

#include "base/abi.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/wait.h"
#include "message/call.h"
#include "transport/bounce.h"
#include "transport/ongoing.h"
#include "transport/stream.h"

// The pending operations whose calls have returned.
static struct {
	struct gompi_mutex mu;
	struct gompi_ongoing *first;
	gompi_a32 number;
	gompi_a32 rings; // number of them with parts in rings, whose ends this file must poll for
} live;

// Ends all parts of g with an error, because its stream returns nothing more. Transfers of the stream end by
// themselves.
static void give_up_ongoing(struct gompi_ongoing *g, int class) {
	uint32_t none = 0;
	gompi_change_once(&g->class, &none, (uint32_t) class);
	gompi_store_release(&g->left, 0);
}

void gompi_ongoing_stream_gone(const struct gompi_stream *s) {
	gompi_mutex_take(&live.mu);
	for (struct gompi_ongoing *g = live.first; g != NULL; g = g->next)
		if (g->remote == s) {
			g->remote = NULL;
			if (gompi_load_acquire(&g->left) != 0)
				give_up_ongoing(g, MPI_ERR_PROC_ABORTED);
			gompi_store_total(&gompi_ongoing_news, 1);
		}
	gompi_mutex_give(&live.mu);
}

static void enter(struct gompi_ongoing *g) {
	gompi_mutex_take(&live.mu);
	if (live.first == NULL)
		gompi_messages_watch(true);
	g->next = live.first;
	live.first = g;
	gompi_add(&live.number, 1);
	gompi_add(&live.rings, g->process >= 0);
	// the part that stands for the call itself. Under the lock, since other threads may end g from then on.
	gompi_ongoing_part_over(g, NULL);
	gompi_mutex_give(&live.mu);
}

// --- The requests

static struct gompi_ongoing *of_request(const struct gompi_request *r) { return (struct gompi_ongoing *)r->object; }

static void say_why(const struct gompi_request *r, struct gompi_verdict *v) {
	const struct gompi_ongoing *g = of_request(r);
	if (g->reason.class == r->result.class)
		gompi_reason_keep(&g->reason);
	gompi_operation_verdict(v, g->dynamic, r->result.class);
}

static void await_ongoing(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t) {
	struct gompi_ongoing *g = of_request(r);
	(void)t;
	gompi_mutex_take(&live.mu);
	if (g->remote != NULL)
		gompi_stream_awaits(g->remote, what);
	gompi_mutex_give(&live.mu);
}

static void drop_ongoing(struct gompi_request *r) { free(of_request(r)); }

// Checks a pending operation. Returns true if it has ended. The caller holds live.mu.
static bool has_ended(struct gompi_ongoing *g) {
	if (gompi_load_acquire(&g->left) == 0)
		return true;
	if (g->process >= 0 && !g->rung) { // a waiter must ring the doorbell for packets that want no reply
		gompi_ring_doorbell(g->process);
		g->rung = true;
	}
	int class = g->remote == NULL ? MPI_SUCCESS : gompi_stream_over(g->remote);
	if (class != MPI_SUCCESS)
		give_up_ongoing(g, class);
	return class != MPI_SUCCESS;
}

// Removes the operations that have ended from the list, and returns them.
static struct gompi_ongoing *take_over(void) {
	struct gompi_ongoing *over = NULL, *g;
	gompi_mutex_take(&live.mu);
	gompi_store_total(&gompi_ongoing_news, 0);
	for (struct gompi_ongoing **at = &live.first; (g = *at) != NULL;) {
		if (!has_ended(g)) {
			at = &g->next;
			continue;
		}
		*at = g->next;
		g->next = over;
		over = g;
		gompi_sub(&live.number, 1);
		gompi_sub(&live.rings, g->process >= 0);
	}
	if (live.first == NULL && over != NULL)
		gompi_messages_watch(false);
	gompi_mutex_give(&live.mu);
	return over;
}

static bool serve(void) {
	if (gompi_load(&live.number) == 0)
		return false;
	if (gompi_load(&live.rings) != 0)
		gompi_bounce_look();
	struct gompi_ongoing *next, *g = take_over();
	bool worked = g != NULL;
	for (; g != NULL; g = next) {
		next = g->next;
		if (g->request == NULL) {
			free(g);
			continue;
		}
		g->request->result = (struct gompi_result){
			.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = (int32_t)gompi_load(&g->class)};
		gompi_request_complete(g->request);
	}
	return worked;
}

// Returns true if serve may find work. The failure of a stream's member causes no notification, so it is checked once
// every 256 calls.
static bool ready(void) {
	enum { NOW_AND_THEN = 256 };
	static gompi_a32 looks;
	return gompi_load(&live.number) != 0 && (gompi_load(&gompi_ongoing_news) != 0 || gompi_load(&live.rings) != 0 ||
						 gompi_add(&looks, 1) % NOW_AND_THEN == 0);
}

static void progress_ongoing(struct gompi_request *r) {
	if (ready())
		serve();
}

static const struct gompi_request_kind ongoing_kind = {
	.progress = progress_ongoing, .awaits = await_ongoing, .why = say_why, .drop = drop_ongoing};

int gompi_ongoing_sent(struct gompi_ongoing *g, struct gompi_win *w, const struct gompi_operation *o, int rc) {
	MPI_Request *request = o->request;
	bool left = g != NULL && gompi_load_acquire(&g->left) != 1;
	if (rc == MPI_SUCCESS && left) {
		g->request = gompi_request_new(gompi_load(&gompi_messages_here), 0, &ongoing_kind, (uintptr_t)g);
		if (g->request != NULL) {
			g->request->comm = w->handle;
			g->request->world = gompi_win_peer(w, o->target);
			*request = (MPI_Request)gompi_request_handle(g->request);
			enter(g);
			return MPI_SUCCESS;
		}
		return GOMPI_ONGOING_WAITS;
	}
	if (left) { // the call has failed: the remaining parts end without a request
		enter(g);
		return rc;
	}
	if (g != NULL && rc == MPI_SUCCESS && gompi_load(&g->class) != MPI_SUCCESS) {
		rc = (int)gompi_load(&g->class);
		if (g->reason.class == rc)
			gompi_reason_keep(&g->reason);
	}
	free(g);
	if (rc == MPI_SUCCESS)
		*request = GOMPI_REQUEST_DONE;
	return rc;
}

void gompi_ongoing_open(void) {
	static const struct gompi_service service = {.ready = ready, .serve = serve};
	gompi_service_add(&service);
}
