#include "message/call.h"

#include "base/failure.h"
#include "comm/failures.h"
#include "datatype/label.h"
#include "message/messages.h"
#include "message/remote.h"
#include "win/win.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Implements gompi_call_check, except that the error text does not contain the arguments.
static inline int check_envelope(struct gompi_request *r, const struct gompi_envelope *e, bool receive,
				 struct gompi_error_status *v) {
	struct gompi_comm *c = gompi_comm_get(e->comm);
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	if (c == NULL || m == NULL)
		return gompi_comm_invalid(v, e->comm);
	const bool is_restricted = gompi_load(&c->usable_handle) == 0;
	if (__builtin_expect(is_restricted, 0) && gompi_comm_check_usable(c->handle, true, v) != MPI_SUCCESS)
		return v->class;
	bool is_proc_null = e->peer == MPI_PROC_NULL;
	if ((uint32_t)e->peer >= (uint32_t)c->peers.n && !is_proc_null && !(receive && e->peer == MPI_ANY_SOURCE))
		return gompi_set_error(v, MPI_ERR_RANK, "%s is %d; valid ranks of the communicator are 0 to %d",
				       receive ? "source" : "dest", e->peer, c->peers.n - 1);
	if (e->tag < 0 && !(receive && e->tag == MPI_ANY_TAG))
		return gompi_set_error(v, MPI_ERR_TAG, "tag is %d; it must be from 0 to %d", e->tag, INT32_MAX);
	int class = gompi_buffer_check(&r->buf, e->at, e->count, e->type, is_proc_null, v);
	if (class != MPI_SUCCESS)
		return class;
	r->receive = receive;
	r->context = c->id;
	r->comm = (uintptr_t)e->comm;
	r->peer = e->peer;
	r->tag = e->tag;
	r->source = c->rank;
	r->world = is_proc_null || e->peer < 0 ? -1 : gompi_ranks_at(&c->peers, e->peer);
	r->vci = gompi_vci_of(m, c->id);
	if (__builtin_expect(is_restricted, 0) && !receive && !is_proc_null && gompi_is_failed(r->world)) {
		gompi_note_failed(r->world);
		return gompi_set_error(v, MPI_ERR_PROC_ABORTED, "%s", gompi_failure_text());
	}
	return MPI_SUCCESS;
}

// Appends the arguments of a failed call to its error text.
static __attribute__((cold, noinline)) void append_envelope(const struct gompi_envelope *e, bool receive,
							    struct gompi_error_status *v) {
	char label[GOMPI_LABEL], address[20];
	const size_t n = strlen(v->text);
	if (e->at == NULL && e->count == 0) // a probe, or a message without data: there is no buffer to report
		snprintf(v->text + n, sizeof v->text - n, " (%s %d, tag %d)", receive ? "source" : "dest", e->peer,
			 e->tag);
	else
		snprintf(v->text + n, sizeof v->text - n, " (buf %s, count %lld, datatype %s, %s %d, tag %d)",
			 gompi_address_label(e->at, address), (long long)e->count, gompi_type_label(e->type, label),
			 receive ? "source" : "dest", e->peer, e->tag);
}

int gompi_call_check(struct gompi_request *r, const struct gompi_envelope *e, bool receive,
		     struct gompi_error_status *v) {
	const int class = check_envelope(r, e, receive, v);
	if (__builtin_expect(class != MPI_SUCCESS, 0))
		append_envelope(e, receive, v);
	return class;
}

int gompi_call_raise(const struct gompi_error_status *v, const char *call, MPI_Comm comm) {
	bool is_comm = gompi_comm_get(comm) != NULL;
	return gompi_return_error(v->class, call, v->text, is_comm ? GOMPI_ON_COMM : GOMPI_ON_NONE,
				  is_comm ? (uintptr_t)comm : 0);
}

int gompi_request_raise(const struct gompi_error_status *v, const char *call, uintptr_t object) {
	if (gompi_win_get((MPI_Win)object) != NULL)
		return gompi_return_error(v->class, call, v->text, GOMPI_ON_WIN, object);
	if (object >> GOMPI_KIND_BITS == GOMPI_ON_FILE)
		return gompi_return_error(v->class, call, v->text, GOMPI_ON_FILE, object);
	return gompi_call_raise(v, call, (MPI_Comm)object);
}

int gompi_request_error(const char *call, uintptr_t object, int class, const char *text, ...) {
	struct gompi_error_status v = {.class = class};
	va_list ap;
	va_start(ap, text);
	vsnprintf(v.text, sizeof v.text, text, ap);
	va_end(ap);
	return gompi_request_raise(&v, call, object);
}

int gompi_request_raise_error(const struct gompi_request *r, const char *call) {
	struct gompi_error_status v;
	gompi_request_error_detail(r, &v);
	return gompi_request_raise(&v, call, r->comm);
}

int gompi_request_raise_failed(const char *call, int class, uintptr_t object) {
	struct gompi_error_status v;
	gompi_request_fill_failure(class, &v);
	return gompi_request_raise(&v, call, object);
}

int gompi_call_error(const char *call, int class, const char *text, ...) {
	struct gompi_error_status v;
	va_list ap;
	va_start(ap, text);
	vsnprintf(v.text, sizeof v.text, text, ap);
	va_end(ap);
	// If MPI is not running, MPI_ERR_COMM makes gompi_raise_error report that MPI is not running, instead of the
	// error that the caller describes.
	if (gompi_load(&gompi_app_messages) == NULL)
		class = MPI_ERR_COMM;
	return gompi_return_error(class, call, v.text, GOMPI_ON_NONE, 0);
}

static bool request_is_over(void *arg) {
	struct gompi_request *r = arg;
	if (gompi_load_acquire(&r->state) != REQUEST_ACTIVE)
		return true;
	struct gompi_vci *l = r->vci;
	if (gompi_vci_has_work(l))
		gompi_vci_progress_until(l, r);
	else if (__builtin_expect(r->buf.size >= INBOX_MIN_CHUNKED_BYTES, 0) && gompi_vci_has_interim(l))
		gompi_vci_receive_chunks(l, r);
	gompi_request_progress(r);
	return gompi_load_acquire(&r->state) != REQUEST_ACTIVE || gompi_load(&l->inbox_error) != 0;
}

static int describe_kind_wait(const void *on, int first, struct gompi_wait_desc *what, struct gompi_wait_details *t) {
	const struct gompi_request *r = on;
	r->kind->describe_wait(r, what, t);
	return first;
}

// Implements find_failed (struct gompi_wait_desc) for a receive from MPI_ANY_SOURCE in a fault-tolerant job: only
// failures that the application has not acknowledged end the wait.
static int find_unacknowledged(const void *of, struct gompi_stuck_entry *place) {
	const struct gompi_request *r = of;
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)r->comm);
	(void)place;
	if (c == NULL)
		return GOMPI_NONE_FAILED;
	return gompi_load(&c->is_revoked) != 0 ? GOMPI_REVOKED : gompi_comm_unacknowledged(c);
}

void gompi_request_set_failures(const struct gompi_request *r, struct gompi_wait_desc *what) {
	if (r->peer != MPI_ANY_SOURCE || !gompi_node.is_fault_tolerant)
		return;
	what->find_failed = find_unacknowledged;
	what->find_failed_arg = r;
}

static _Thread_local const int32_t *pending_members;
static _Thread_local int pending_member_count;

void gompi_request_set_members(const int32_t *members, int n) {
	pending_members = members;
	pending_member_count = n;
}

static _Thread_local bool pending_depends_on_all;

void gompi_request_set_depends_on_all(bool depends_on_all) {
	pending_depends_on_all = depends_on_all && gompi_node.is_fault_tolerant;
}

static _Thread_local uint64_t pending_outer;

void gompi_request_set_outer(uint64_t outer) { pending_outer = outer; }

// Returns the description of a wait for a request.
static struct gompi_wait_desc wait_of_request(const struct gompi_request *r, const char *call) {
	int world = r->world;
	if (r->receive && (r->comm != 0 || world < 0)) { // comm is 0 if only the library uses the communicator
		world = GOMPI_PEERS_ANY;
		struct gompi_comm *c = gompi_comm_get((MPI_Comm)r->comm);
		if (c != NULL && (uint32_t)r->peer < (uint32_t)c->peers.n)
			world = gompi_ranks_at(&c->peers, r->peer);
	}
	struct gompi_wait_desc what = {.call = call,
				       .peer = world,
				       .tag = r->tag,
				       .object = r->comm,
				       .outer = r->comm == 0 ? pending_outer : 0,
				       .members = pending_members,
				       .member_count = pending_member_count,
				       .only_members = pending_member_count > 0,
				       .depends_on_all =
					       pending_depends_on_all && (r->comm != 0 || pending_member_count > 0),
				       .reason = r->receive ? GOMPI_FOR_MESSAGE : GOMPI_FOR_RECEIPT};
	if (r->receive && r->comm == 0 && r->world >= 0 && !gompi_node.is_fault_tolerant) {
		// a receive that only the library uses: the sender may also wait for another process of the job
		what.depends_on_all = true;
		if (pending_member_count == 0) {
			what.members = &r->world;
			what.member_count = 1;
		}
	}
	if (r->receive)
		gompi_request_set_failures(r, &what);
	if (r->kind != NULL) {
		what.reason = GOMPI_FOR_CALL;
		what.fill_details = r->kind->describe_wait != NULL ? describe_kind_wait : NULL;
		what.fill_details_arg = r;
		what.find_failed = r->kind->survives ? gompi_ignore_failures : NULL;
	}
	return what;
}

void gompi_request_describe_wait(const struct gompi_request *r, struct gompi_wait_desc *what,
				 struct gompi_wait_details *t) {
	*what = wait_of_request(r, what->call);
	if (what->fill_details != NULL)
		r->kind->describe_wait(r, what, t);
}

int gompi_request_failed_peer(const struct gompi_request *r, struct gompi_stuck_entry *place) {
	struct gompi_wait_desc what = wait_of_request(r, NULL);
	return gompi_failed_for_wait(&what, place);
}

int gompi_request_wait(struct gompi_request *r, const char *call) {
	return gompi_request_wait_with(r, call, NULL, NULL);
}

int gompi_request_wait_with(struct gompi_request *r, const char *call,
			    int (*failed_peer)(const void *of, struct gompi_stuck_entry *place), const void *arg) {
	if (gompi_load_acquire(&r->state) == REQUEST_ACTIVE) {
		struct gompi_messages *m = r->vci->messages;
		struct gompi_wait_desc what = wait_of_request(r, call);
		if (failed_peer != NULL) {
			what.find_failed = failed_peer;
			what.find_failed_arg = arg;
		}
		int rc = gompi_await(&gompi_messages_cell(m, m->node.local_index)->wait, request_is_over, r, &what);
		gompi_call_run_plans(m);
		if (gompi_load_acquire(&r->state) == REQUEST_ACTIVE)
			return rc != MPI_SUCCESS ? rc : (int)gompi_load(&r->vci->inbox_error);
	}
	return MPI_SUCCESS;
}

int gompi_send_wait(const struct gompi_request *s, const char *call, struct gompi_error_status *v) {
	struct gompi_vci *l = s->vci;
	if (s->world == l->messages->node.self && gompi_send_self_eager(l, s))
		return MPI_SUCCESS;
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_alloc(l);
	if (r == NULL) {
		gompi_vci_unlock(l);
		return gompi_set_error(v, MPI_ERR_NO_MEM, "out of memory for a request");
	}
	*r = *s;
	r->blocking = true;
	gompi_buffer_retain(&r->buf);
	gompi_send_locked(l, r);
	gompi_vci_unlock_progress(l);
	int class = gompi_request_wait(r, call);
	if (class == MPI_SUCCESS)
		class = r->result.class;
	if (class != MPI_SUCCESS) {
		r->result.class = class;
		gompi_request_error_detail(r, v);
	}
	gompi_vci_lock(l);
	if (gompi_load(&r->state) == REQUEST_ACTIVE && gompi_fault_class(class, r->comm) != class)
		gompi_send_abandon(l, r, class);
	if (gompi_load(&r->state) == REQUEST_ACTIVE)
		r->freed = true; // the peer may still answer; completion then frees the request
	else
		gompi_request_release(r);
	gompi_vci_unlock(l);
	return class;
}

int gompi_send_blocking(const struct gompi_request *s, const char *call) {
	struct gompi_error_status v;
	return gompi_send_wait(s, call, &v) == MPI_SUCCESS ? MPI_SUCCESS
							   : gompi_call_raise(&v, call, (MPI_Comm)s->comm);
}

bool gompi_abandon_receive(struct gompi_vci *l, struct gompi_request *r) {
	if (r->posted) {
		gompi_unpost_receive(l, r);
		return true;
	}
	for (struct gompi_request **at = &l->work, *before = NULL; *at != NULL; before = *at, at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			if (l->last_work == r)
				l->last_work = before;
			if (l->work == NULL)
				gompi_store_seq_cst(&l->has_work, 0);
			gompi_message_release(l, r->matched);
			return true;
		}
	if (r->id != 0) {
		gompi_id_remove(&l->receive_ids, r->id);
		gompi_message_release(l, r->matched);
		return true;
	}
	if (gompi_remote_cancel_read(l, r)) {
		gompi_message_release(l, r->matched);
		return true;
	}
	// a matched probe has extracted the message, and an internal receive fetches its data
	if (r->matched != NULL && r->matched->receiver == r) {
		r->matched->receiver = NULL;
		return true;
	}
	return gompi_load(&r->state) != REQUEST_ACTIVE; // if still active, another thread copies the data
}

int gompi_receive_blocking(struct gompi_request *r, const char *call) {
	struct gompi_vci *l = r->vci;
	gompi_vci_lock(l);
	gompi_receive_locked(l, r);
	gompi_vci_drain_until(l, r);
	gompi_vci_unlock_progress(l);
	return gompi_receive_wait(r, call);
}

int gompi_receive_wait(struct gompi_request *r, const char *call) {
	struct gompi_vci *l = r->vci;
	int class = gompi_request_wait(r, call);
	if (__builtin_expect(class != MPI_SUCCESS, 0)) {
		for (bool is_abandoned = false; !is_abandoned;) {
			gompi_vci_lock(l);
			is_abandoned = gompi_abandon_receive(l, r);
			gompi_vci_unlock(l);
		}
		if (gompi_load(&r->state) == REQUEST_ACTIVE)
			r->result.class = class;
	}
	return r->result.class;
}

void gompi_request_restart(struct gompi_request *r) {
	struct gompi_vci *l = r->vci;
	r->result = (struct gompi_result){0};
	if (r->peer == MPI_PROC_NULL) {
		if (r->receive)
			r->result = (struct gompi_result){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
		gompi_store_release(&r->state, REQUEST_COMPLETE);
		return;
	}
	gompi_store(&r->state, REQUEST_ACTIVE);
	r->id = 0;
	r->done_bytes = r->transfer_bytes = 0;
	r->peer_link = NULL;
	r->cancel_requested = r->message_dropped = false;
	if (!r->receive && gompi_isend_try_complete(r)) {
		gompi_store_release(&r->state, REQUEST_COMPLETE);
		return;
	}
	gompi_vci_lock(l);
	gompi_start_locked(l, r);
	gompi_vci_unlock_started(l);
	gompi_call_run_plans(l->messages);
}

struct gompi_request *gompi_request_create_locked(struct gompi_vci *l, const struct gompi_request *s,
						  MPI_Request *request) {
	struct gompi_request *r = gompi_request_alloc(l);
	if (r == NULL)
		return NULL;
	*r = *s;
	if (!gompi_request_add_handle(r)) {
		r->buf.type = NULL; // prevents the release of a reference to the type that r does not hold yet
		gompi_request_release(r);
		return NULL;
	}
	gompi_buffer_retain(&r->buf);
	*request = (MPI_Request)gompi_request_handle(r);
	return r;
}

int gompi_raise_no_request(const char *call, uintptr_t comm) {
	return gompi_request_error(call, comm, MPI_ERR_NO_MEM,
				   "out of memory for a request, or too many requests are active");
}

static int make_persistent(const struct gompi_request *s, const char *call, MPI_Request *request) {
	struct gompi_request *r = gompi_persistent_alloc(s->vci);
	if (r == NULL)
		return gompi_raise_no_request(call, s->comm);
	uint32_t handle = r->handle;
	*r = *s;
	r->handle = handle;
	r->has_handle = r->in_persistent_table = true;
	gompi_buffer_retain(&r->buf);
	*request = (MPI_Request)gompi_request_handle(r);
	return MPI_SUCCESS;
}

int gompi_start_request(const struct gompi_request *s, const char *call, MPI_Request *request) {
	struct gompi_vci *l = s->vci;
	if (s->persistent)
		return make_persistent(s, call, request);
	gompi_vci_lock(l);
	struct gompi_request *r = gompi_request_create_locked(l, s, request);
	if (r == NULL) {
		gompi_vci_unlock(l);
		return gompi_raise_no_request(call, s->comm);
	}
	if (gompi_load(&r->state) != REQUEST_ACTIVE) {
		gompi_vci_unlock(l);
		return MPI_SUCCESS;
	}
	gompi_start_locked(l, r);
	gompi_vci_unlock_started(l);
	gompi_call_run_plans(l->messages);
	return MPI_SUCCESS;
}

void gompi_request_query(struct gompi_request *r) {
	if (__builtin_expect(r->kind != NULL, 0) && r->kind->query != NULL)
		r->kind->query(r);
}

void gompi_request_finish_slow(struct gompi_request *r) {
	gompi_request_query(r);
	if (!r->persistent && r->kind->release != NULL)
		r->kind->release(r);
}

void gompi_request_end(struct gompi_request *r, MPI_Request *request) {
	if (r->persistent) {
		gompi_store(&r->state, REQUEST_INACTIVE);
		return;
	}
	struct gompi_vci *l = r->vci;
	*request = MPI_REQUEST_NULL;
	gompi_vci_lock(l);
	gompi_request_drop_handle(r);
	gompi_request_release(r);
	gompi_vci_unlock(l);
}
