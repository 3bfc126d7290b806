#include "message/call.h"

#include "base/loss.h"
#include "datatype/label.h"
#include "message/remote.h"
#include "win/win.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Implements gompi_call_check, without the arguments in the error text.
static inline int check_envelope(struct gompi_request *r, const struct gompi_envelope *e, bool receive,
				 struct gompi_verdict *v) {
	struct gompi_comm *c = gompi_comm_get(e->comm);
	struct gompi_messages *m = gompi_load(&gompi_messages_here);
	if (c == NULL || m == NULL)
		return gompi_comm_none(v, e->comm);
	bool nobody = e->peer == MPI_PROC_NULL;
	if ((uint32_t)e->peer >= (uint32_t)c->peers.n && !nobody && !(receive && e->peer == MPI_ANY_SOURCE))
		return gompi_error(v, MPI_ERR_RANK, "%s is %d; valid ranks of the communicator are 0 to %d",
				   receive ? "source" : "dest", e->peer, c->peers.n - 1);
	if (e->tag < 0 && !(receive && e->tag == MPI_ANY_TAG))
		return gompi_error(v, MPI_ERR_TAG, "tag is %d; it must be from 0 to %d", e->tag, INT32_MAX);
	int class = gompi_buffer_check(&r->buf, e->at, e->count, e->type, nobody, v);
	if (class != MPI_SUCCESS)
		return class;
	r->receive = receive;
	r->context = c->id;
	r->comm = (uintptr_t)e->comm;
	r->peer = e->peer;
	r->tag = e->tag;
	r->source = c->rank;
	r->world = nobody || e->peer < 0 ? -1 : gompi_ranks_at(&c->peers, e->peer);
	r->lane = gompi_lane_of(m, c->id);
	return MPI_SUCCESS;
}

// Appends the arguments of a failed call to its error text.
static __attribute__((cold, noinline)) void append_envelope(const struct gompi_envelope *e, bool receive,
							    struct gompi_verdict *v) {
	char label[GOMPI_LABEL], address[20];
	const size_t n = strlen(v->text);
	if (e->at == NULL && e->count == 0) // a probe, which has no buffer
		snprintf(v->text + n, sizeof v->text - n, " (%s %d, tag %d)", receive ? "source" : "dest", e->peer,
			 e->tag);
	else
		snprintf(v->text + n, sizeof v->text - n, " (buf %s, count %lld, datatype %s, %s %d, tag %d)",
			 gompi_address_label(e->at, address), (long long)e->count, gompi_type_label(e->type, label),
			 receive ? "source" : "dest", e->peer, e->tag);
}

int gompi_call_check(struct gompi_request *r, const struct gompi_envelope *e, bool receive, struct gompi_verdict *v) {
	const int class = check_envelope(r, e, receive, v);
	if (__builtin_expect(class != MPI_SUCCESS, 0))
		append_envelope(e, receive, v);
	return class;
}

int gompi_call_refuse(const struct gompi_verdict *v, const char *call, MPI_Comm comm) {
	bool there = gompi_comm_get(comm) != NULL;
	return gompi_refuse(v->class, call, v->text, there ? GOMPI_ON_COMM : GOMPI_ON_NONE,
			    there ? (uintptr_t)comm : 0);
}

int gompi_request_raise(const struct gompi_verdict *v, const char *call, uintptr_t on) {
	if (gompi_win_get((MPI_Win)on) != NULL)
		return gompi_refuse(v->class, call, v->text, GOMPI_ON_WIN, on);
	return gompi_call_refuse(v, call, (MPI_Comm)on);
}

int gompi_request_refuse(const struct gompi_request *r, const char *call) {
	struct gompi_verdict v;
	gompi_request_why(r, &v);
	return gompi_request_raise(&v, call, r->comm);
}

int gompi_request_gone(const char *call, int class, uintptr_t on) {
	struct gompi_verdict v;
	gompi_request_lost(class, &v);
	return gompi_request_raise(&v, call, on);
}

int gompi_call_error(const char *call, int class, const char *text, ...) {
	struct gompi_verdict v;
	va_list ap;
	va_start(ap, text);
	vsnprintf(v.text, sizeof v.text, text, ap);
	va_end(ap);
	// If MPI is not running, that is the error to report.
	if (gompi_load(&gompi_messages_here) == NULL)
		class = MPI_ERR_COMM;
	return gompi_refuse(class, call, v.text, GOMPI_ON_NONE, 0);
}

static bool over(void *arg) {
	struct gompi_request *r = arg;
	if (gompi_load_acquire(&r->state) != REQUEST_ACTIVE)
		return true;
	struct gompi_lane *l = r->lane;
	if (gompi_lane_ready(l))
		gompi_lane_progress(l);
	gompi_request_advance(r);
	return gompi_load_acquire(&r->state) != REQUEST_ACTIVE || gompi_load(&l->broken) != 0;
}

static int describe_request(const void *on, int first, struct gompi_waiting *what, struct gompi_told *t) {
	const struct gompi_request *r = on;
	r->kind->awaits(r, what, t);
	return first;
}

// Returns what a wait for a request depends on.
static struct gompi_waiting waiting_for(const struct gompi_request *r, const char *call) {
	int world = r->world;
	if (r->receive) {
		world = GOMPI_PEERS_ANY;
		struct gompi_comm *c = gompi_comm_get((MPI_Comm)r->comm);
		if (c != NULL && (uint32_t)r->peer < (uint32_t)c->peers.n)
			world = gompi_ranks_at(&c->peers, r->peer);
	}
	struct gompi_waiting what = {.call = call,
				     .peer = world,
				     .tag = r->tag,
				     .object = r->comm,
				     .reason = r->receive ? GOMPI_FOR_MESSAGE : GOMPI_FOR_RECEIPT};
	if (r->kind != NULL) {
		what.reason = GOMPI_FOR_UNSAID;
		what.describe = r->kind->awaits != NULL ? describe_request : NULL;
		what.on = r;
	}
	return what;
}

void gompi_request_awaits(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t) {
	*what = waiting_for(r, what->call);
	if (what->describe != NULL)
		r->kind->awaits(r, what, t);
}

int gompi_request_loss(const struct gompi_request *r, struct gompi_stuck *place) {
	struct gompi_waiting what = waiting_for(r, NULL);
	return gompi_loss_to(&what, place);
}

int gompi_request_await(struct gompi_request *r, const char *call) {
	return gompi_request_await_with(r, call, NULL, NULL);
}

int gompi_request_await_with(struct gompi_request *r, const char *call,
			     int (*lost)(const void *of, struct gompi_stuck *place), const void *of) {
	if (gompi_load_acquire(&r->state) == REQUEST_ACTIVE) {
		struct gompi_messages *m = r->lane->home;
		struct gompi_waiting what = waiting_for(r, call);
		what.lost = lost;
		what.of = of;
		int rc = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, over, r, &what);
		gompi_call_step(m);
		if (gompi_load_acquire(&r->state) == REQUEST_ACTIVE)
			return rc != MPI_SUCCESS ? rc : (int)gompi_load(&r->lane->broken);
	}
	return MPI_SUCCESS;
}

// Sends s, which could not complete immediately, and waits for it. Returns 0 or the error class, described in v.
int gompi_send_class(const struct gompi_request *s, const char *call, struct gompi_verdict *v) {
	struct gompi_lane *l = s->lane;
	if (s->world == l->home->node.self && gompi_give_self(l, s))
		return MPI_SUCCESS;
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	if (r == NULL) {
		gompi_lane_give(l);
		return gompi_error(v, MPI_ERR_NO_MEM, "out of memory for a request");
	}
	*r = *s;
	r->blocking = true;
	gompi_buffer_hold(&r->buf);
	gompi_send_locked(l, r);
	gompi_lane_end(l);
	int class = gompi_request_await(r, call);
	if (class == MPI_SUCCESS)
		class = r->result.class;
	if (class != MPI_SUCCESS) {
		r->result.class = class;
		gompi_request_why(r, v);
	}
	gompi_lane_take(l);
	if (gompi_load(&r->state) == REQUEST_ACTIVE)
		r->freed = true; // the peer may still answer it; the completion then frees it
	else
		gompi_request_give(r);
	gompi_lane_give(l);
	return class;
}

int gompi_send_blocking(const struct gompi_request *s, const char *call) {
	struct gompi_verdict v;
	return gompi_send_class(s, call, &v) == MPI_SUCCESS ? MPI_SUCCESS
							    : gompi_call_refuse(&v, call, (MPI_Comm)s->comm);
}

// Abandons a receive so that no thread writes to its buffer any longer. Returns true if nothing refers to it any
// longer.
static bool abandon(struct gompi_lane *l, struct gompi_request *r) {
	if (r->posted) {
		gompi_unpost(l, r);
		return true;
	}
	for (struct gompi_request **at = &l->work, *before = NULL; *at != NULL; before = *at, at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			if (l->work_end == r)
				l->work_end = before;
			if (l->work == NULL)
				gompi_store_total(&l->working, 0);
			gompi_message_give(l, r->matched);
			return true;
		}
	if (r->id != 0) {
		gompi_number_remove(&l->receives, r->id);
		gompi_message_give(l, r->matched);
		return true;
	}
	if (gompi_remote_abandon(l, r)) {
		gompi_message_give(l, r->matched);
		return true;
	}
	// a probe has extracted its message, whose data is being fetched
	if (r->matched != NULL && r->matched->receiver == r) {
		r->matched->receiver = NULL;
		return true;
	}
	return gompi_load(&r->state) != REQUEST_ACTIVE; // else another thread copies its data
}

int gompi_receive_blocking(struct gompi_request *r, const char *call) {
	struct gompi_lane *l = r->lane;
	gompi_lane_take(l);
	gompi_receive_locked(l, r);
	gompi_lane_receive(l, r);
	gompi_lane_end(l);
	return gompi_receive_posted(r, call);
}

int gompi_receive_posted(struct gompi_request *r, const char *call) {
	struct gompi_lane *l = r->lane;
	int class = gompi_request_await(r, call);
	if (__builtin_expect(class != MPI_SUCCESS, 0)) {
		for (bool gone = false; !gone;) {
			gompi_lane_take(l);
			gone = abandon(l, r);
			gompi_lane_give(l);
		}
		if (gompi_load(&r->state) == REQUEST_ACTIVE)
			r->result.class = class;
	}
	return r->result.class;
}

void gompi_request_restart(struct gompi_request *r) {
	struct gompi_lane *l = r->lane;
	r->result = (struct gompi_result){0};
	if (r->peer == MPI_PROC_NULL) {
		if (r->receive)
			r->result = (struct gompi_result){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
		gompi_store_release(&r->state, REQUEST_COMPLETE);
		return;
	}
	gompi_store(&r->state, REQUEST_ACTIVE);
	r->id = 0;
	r->done = r->want = 0;
	r->to = NULL;
	r->cancel = r->gone = false;
	if (!r->receive && r->world != l->home->node.self && gompi_eager_anywhere(gompi_link_to(l, r->world), r)) {
		gompi_store_release(&r->state, REQUEST_COMPLETE);
		return;
	}
	gompi_lane_take(l);
	gompi_start_locked(l, r);
	gompi_lane_end_started(l);
	gompi_call_step(l->home);
}

struct gompi_request *gompi_start_taken(struct gompi_lane *l, const struct gompi_request *s, MPI_Request *request) {
	struct gompi_request *r = gompi_request_take(l);
	if (r == NULL)
		return NULL;
	*r = *s;
	if (!gompi_request_add(r)) {
		r->buf.type = NULL; // not retained yet
		gompi_request_give(r);
		return NULL;
	}
	gompi_buffer_hold(&r->buf);
	*request = (MPI_Request)gompi_request_handle(r);
	return r;
}

int gompi_call_no_request(const struct gompi_request *s, const char *call) {
	struct gompi_verdict v;
	gompi_error(&v, MPI_ERR_NO_MEM, "out of memory for a request, or too many requests are active");
	return gompi_call_refuse(&v, call, (MPI_Comm)s->comm);
}

static int make_persistent(const struct gompi_request *s, const char *call, MPI_Request *request) {
	struct gompi_request *r = gompi_persistent_make(s->lane);
	if (r == NULL)
		return gompi_call_no_request(s, call);
	uint32_t handle = r->handle;
	*r = *s;
	r->handle = handle;
	r->handled = r->apart = true;
	gompi_buffer_hold(&r->buf);
	*request = (MPI_Request)gompi_request_handle(r);
	return MPI_SUCCESS;
}

int gompi_start_request(const struct gompi_request *s, const char *call, MPI_Request *request) {
	struct gompi_lane *l = s->lane;
	if (s->persistent)
		return make_persistent(s, call, request);
	gompi_lane_take(l);
	struct gompi_request *r = gompi_start_taken(l, s, request);
	if (r == NULL) {
		gompi_lane_give(l);
		return gompi_call_no_request(s, call);
	}
	if (gompi_load(&r->state) != REQUEST_ACTIVE) {
		gompi_lane_give(l);
		return MPI_SUCCESS;
	}
	gompi_start_locked(l, r);
	gompi_lane_end_started(l);
	gompi_call_step(l->home);
	return MPI_SUCCESS;
}

void gompi_request_query(struct gompi_request *r) {
	if (__builtin_expect(r->kind != NULL, 0) && r->kind->query != NULL)
		r->kind->query(r);
}

void gompi_request_settle_other(struct gompi_request *r) {
	gompi_request_query(r);
	if (!r->persistent && r->kind->release != NULL)
		r->kind->release(r);
}

void gompi_request_end(struct gompi_request *r, MPI_Request *request) {
	if (r->persistent) {
		gompi_store(&r->state, REQUEST_INACTIVE);
		return;
	}
	struct gompi_lane *l = r->lane;
	*request = MPI_REQUEST_NULL;
	gompi_lane_take(l);
	gompi_request_remove(r);
	gompi_request_give(r);
	gompi_lane_give(l);
}
