// Requests of nonblocking and persistent collectives, and the calls that create them.
#include "base/call_name.h"
#include "coll/plan_cache.h"
#include "coll/nbc_persistent.h"
#include "coll/nbc_op.h"
#include "info/info.h"
#include "message/call.h"

// Starts s or, if s is persistent, its next round. The caller holds the view's lock.
static void begin_round(struct gompi_nbc_op *s) {
	struct gompi_nbc *b = s->nbc;
	s->state = NBC_QUEUED;
	s->phase_index = 0;
	s->number = 2 * ++b->last_started;
	s->mismatch.rank = -1;
	s->reduce_error = 0;
	s->error.class = MPI_SUCCESS;
	gompi_store(&s->missing_header, NULL);
	gompi_nbc_enqueue(b, s);
}

static struct gompi_nbc_op *nbc_op_of(const struct gompi_request *r) { return (struct gompi_nbc_op *)r->object; }

static void progress_nbc_op(struct gompi_request *r) {
	struct gompi_nbc_op *s = nbc_op_of(r);
	struct gompi_nbc_header *missing = gompi_load_acquire(&s->missing_header);
	if (missing == NULL || gompi_load(&missing->number) == gompi_load(&s->missing_number))
		gompi_nbc_progress(s->nbc);
}

static void pack_and_start(struct gompi_nbc_op *s) {
	struct gompi_nbc *b = s->nbc;
	gompi_nbc_op_pack(s);
	gompi_mutex_lock(&b->lock.mutex);
	begin_round(s);
	gompi_nbc_progress_locked(b);
}

static int start_nbc_op(struct gompi_request *r, struct gompi_error_status *v) {
	pack_and_start(nbc_op_of(r));
	return MPI_SUCCESS;
}

static void report_nbc_error(const struct gompi_request *r, struct gompi_error_status *v) {
	const struct gompi_nbc_op *s = nbc_op_of(r);
	*v = s->error;
	v->class = r->result.class;
}

// Returns the communicator's view, whose reference count keeps the communicator alive.
static struct gompi_nbc *comm_nbc_of(struct gompi_nbc *b) { return b->parent != NULL ? b->parent : b; }

static void release_nbc_op(struct gompi_request *r) {
	struct gompi_nbc *b = nbc_op_of(r)->nbc, *comm = comm_nbc_of(b);
	if (b != comm)
		gompi_nbc_persistent_close(b);
	gompi_nbc_release(comm);
}

static void free_nbc_op(struct gompi_request *r) { gompi_nbc_op_free(nbc_op_of(r)); }

static void fill_nbc_wait_record(const struct gompi_request *r, struct gompi_wait_desc *waiting,
				 struct gompi_wait_details *t) {
	const struct gompi_nbc_op *s = nbc_op_of(r);
	gompi_mutex_lock(&s->nbc->lock.mutex); // another thread may make progress
	const int missing = gompi_nbc_op_missing_ranks(s, t->missing_bitmap, GOMPI_WAIT_MISSING_WORDS);
	if (missing >= 0) {
		waiting->reason = GOMPI_FOR_COLLECTIVE;
		waiting->tag = (int32_t)(s->number / 2);
		t->operation = s->name;
		t->pending_count = missing;
	}
	gompi_nbc_unlock(s->nbc);
}

static void abandon_nbc_op(struct gompi_request *r, int class) { gompi_nbc_abandon(nbc_op_of(r), class); }

static const struct gompi_request_kind nbc_request_kind = {.abandon = abandon_nbc_op,
							   .progress = progress_nbc_op,
							   .describe_wait = fill_nbc_wait_record,
							   .start = start_nbc_op,
							   .release = release_nbc_op,
							   .error_detail = report_nbc_error,
							   .free_object = free_nbc_op};

bool gompi_nbc_op_issue(struct gompi_nbc_op *s, const struct gompi_collective *a, bool persistent,
			MPI_Request *request) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)a->comm);
	struct gompi_request *r =
		gompi_request_new(gompi_load(&gompi_app_messages), c->id, &nbc_request_kind, (uintptr_t)s);
	if (r == NULL)
		return false;
	gompi_nbc_acquire(comm_nbc_of(s->nbc));
	s->request = r;
	r->comm = a->comm;
	r->persistent = persistent;
	*request = (MPI_Request)gompi_request_handle(r);
	if (persistent)
		gompi_store(&r->state, REQUEST_INACTIVE);
	else
		pack_and_start(s);
	return true;
}

// Passes a call to Go: its arguments are wrong, or memory is exhausted. Go finds and reports the error.
static int start_in_go(const struct gompi_collective *a, bool shares_memory, bool persistent, MPI_Info info,
		       MPI_Request *request) {
	struct gompi_collective call = *a;
	call.uses_shm = shares_memory;
	return gompi_go_callbacks.start_collective(&call, persistent, (uintptr_t)info, (uintptr_t)request);
}

// Runs a call with messages: with a cached plan, or with a plan that Go compiles.
static int start_by_plan(struct gompi_comm *c, const struct gompi_collective *a, bool persistent, MPI_Info info,
			 MPI_Request *request) {
	struct gompi_collective call = *a;
	call.tag = (int32_t)((uint32_t)c->plan_tag % INT32_MAX + 1);
	struct gompi_plan *p = gompi_plan_cache_acquire(c, a);
	struct gompi_request *r;
	MPI_Request h = MPI_REQUEST_NULL;
	int rc = MPI_SUCCESS;
	if (p != NULL) {
		p->params.tag = call.tag;
		r = gompi_plan_request(p, persistent ? PLAN_PERSISTENT : PLAN_ONCE);
		if (r == NULL) {
			gompi_plan_return(p);
			return gompi_raise_no_request(a->name, a->comm);
		}
		h = (MPI_Request)gompi_request_handle(r);
	} else {
		// The call has succeeded if there is a request. The return code does not show success, because an error
		// handler may have turned an error into MPI_SUCCESS.
		rc = gompi_go_callbacks.start_collective(&call, persistent, (uintptr_t)info, (uintptr_t)&h);
		p = gompi_plan_to_cache();
		if (p != NULL)
			gompi_plan_cache_add(c, a, p);
		if (h == MPI_REQUEST_NULL)
			return rc;
	}
	c->plan_tag = call.tag;
	if ((r = gompi_request_of(h)) != NULL) {
		r->operation = a->name;
		r->tag = call.tag;
	}
	*request = h;
	return rc;
}

static bool has_nbc(const struct gompi_comm *c) { return c->nbc != NULL && c->size <= GOMPI_NBC_MAX_RANKS; }

int gompi_collective_start(const struct gompi_collective *a, MPI_Request *request) {
	struct gompi_comm *c = gompi_comm_usable((MPI_Comm)a->comm);
	if (c == NULL || request == NULL)
		return start_in_go(a, false, false, MPI_INFO_NULL, request);
	bool use_messages = !has_nbc(c);
	struct gompi_nbc_op *s = use_messages ? NULL : gompi_nbc_op_new(c, a, NULL, &use_messages);
	if (use_messages)
		return start_by_plan(c, a, false, MPI_INFO_NULL, request);
	if (s == NULL)
		return start_in_go(a, true, false, MPI_INFO_NULL, request);
	if (gompi_nbc_op_issue(s, a, false, request))
		return MPI_SUCCESS;
	gompi_nbc_op_free(s);
	return gompi_raise_no_request(a->name, a->comm);
}

// Implements the initialization of a persistent collective. No info key has a meaning for collectives. Go raises the
// error if info is not a valid handle. A call that fails still counts in init_count, because the other members' calls
// may succeed.
int gompi_collective_init(const struct gompi_collective *a, MPI_Info info, MPI_Request *request) {
	struct gompi_comm *c = gompi_comm_usable((MPI_Comm)a->comm);
	bool use_messages = c == NULL || !has_nbc(c);
	uint64_t number = use_messages ? 0 : ++c->nbc->init_count;
	if (c == NULL || request == NULL || (info != MPI_INFO_NULL && !gompi_info_exists(info)))
		return start_in_go(a, c != NULL, true, info, request);
	struct gompi_nbc_op *s = use_messages ? NULL : gompi_nbc_op_new(c, a, NULL, &use_messages);
	if (!use_messages && s == NULL)
		return start_in_go(a, true, true, info, request);
	struct gompi_nbc *b = use_messages ? NULL : gompi_nbc_persistent_open(c->nbc, number, &use_messages);
	if (b != NULL) {
		s->nbc = b;
		if (gompi_nbc_op_issue(s, a, true, request))
			return MPI_SUCCESS;
		gompi_nbc_persistent_close(b);
	}
	if (s != NULL)
		gompi_nbc_op_free(s);
	return use_messages ? start_by_plan(c, a, true, info, request) : gompi_raise_no_request(a->name, a->comm);
}
