// Requests of nonblocking and persistent collectives, and the calls that create them.
#include "base/call.h"
#include "coll/kept.h"
#include "coll/persistent.h"
#include "coll/started.h"
#include "info/info.h"
#include "message/call.h"

// Starts s, or its next round. The caller holds the board's lock.
static void begin_started(struct gompi_started *s) {
	struct gompi_board *b = s->board;
	s->state = STARTED_QUEUED;
	s->now = 0;
	s->number = 2 * ++b->last;
	s->differ.rank = -1;
	s->failed = 0;
	s->why.class = MPI_SUCCESS;
	gompi_store(&s->missing, NULL);
	gompi_board_add(b, s);
}

static struct gompi_started *started_of(const struct gompi_request *r) { return (struct gompi_started *)r->object; }

static void progress_started(struct gompi_request *r) {
	struct gompi_started *s = started_of(r);
	struct gompi_board_head *missing = gompi_load_acquire(&s->missing);
	if (missing == NULL || gompi_load(&missing->number) == gompi_load(&s->missing_number))
		gompi_board_progress(s->board);
}

static void start_now(struct gompi_started *s) {
	struct gompi_board *b = s->board;
	gompi_started_load(s);
	gompi_mutex_take(&b->lock);
	begin_started(s);
	gompi_board_progress_locked(b);
}

static int start_started(struct gompi_request *r, struct gompi_verdict *v) {
	start_now(started_of(r));
	return MPI_SUCCESS;
}

static void say_started(const struct gompi_request *r, struct gompi_verdict *v) {
	const struct gompi_started *s = started_of(r);
	*v = s->why;
	v->class = r->result.class;
}

// Returns the board whose reference count keeps the communicator.
static struct gompi_board *board_of_comm(struct gompi_board *b) { return b->parent != NULL ? b->parent : b; }

static void release_started(struct gompi_request *r) {
	struct gompi_board *b = started_of(r)->board, *comm = board_of_comm(b);
	if (b != comm)
		gompi_persistent_close(b);
	gompi_board_let_go(comm);
}

static void drop_started(struct gompi_request *r) { gompi_started_drop(started_of(r)); }

static void await_started(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t) {
	const struct gompi_started *s = started_of(r);
	gompi_mutex_take(&s->board->lock); // another thread may make progress
	const int missing = gompi_started_missing(s, t->missing, GOMPI_TOLD_MISSING);
	if (missing >= 0) {
		what->reason = GOMPI_FOR_COLLECTIVE;
		what->tag = (int32_t)(s->number / 2);
		t->operation = s->name;
		t->lacks = missing;
	}
	gompi_board_unlock(s->board);
}

static const struct gompi_request_kind started_kind = {.progress = progress_started,
						       .awaits = await_started,
						       .start = start_started,
						       .release = release_started,
						       .why = say_started,
						       .drop = drop_started};

bool gompi_started_issue(struct gompi_started *s, const struct gompi_collective *a, bool persistent,
			 MPI_Request *request) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)a->comm);
	struct gompi_request *r =
		gompi_request_new(gompi_load(&gompi_messages_here), c->id, &started_kind, (uintptr_t)s);
	if (r == NULL)
		return false;
	gompi_board_hold(board_of_comm(s->board));
	s->request = r;
	r->comm = a->comm;
	r->persistent = persistent;
	*request = (MPI_Request)gompi_request_handle(r);
	if (persistent)
		gompi_store(&r->state, REQUEST_INACTIVE);
	else
		start_now(s);
	return true;
}

// Passes a call to Go, which finds and reports its error.
static int to_go(const struct gompi_collective *a, bool here, bool persistent, MPI_Info info, MPI_Request *request) {
	struct gompi_collective call = *a;
	call.here = here;
	return gompi_up.start_collective(&call, persistent, (uintptr_t)info, (uintptr_t)request);
}

// Runs a call with messages, by a cached plan or by one that Go makes.
static int by_plan(struct gompi_comm *c, const struct gompi_collective *a, bool persistent, MPI_Info info,
		   MPI_Request *request) {
	struct gompi_collective call = *a;
	call.tag = (int32_t)((uint32_t)c->started % INT32_MAX + 1);
	struct gompi_plan *p = gompi_kept_take(c, a);
	struct gompi_request *r;
	MPI_Request h = MPI_REQUEST_NULL;
	int rc = MPI_SUCCESS;
	if (p != NULL) {
		p->head.tag = call.tag;
		r = gompi_plan_request(p, persistent ? PLAN_AGAIN : PLAN_ONCE);
		if (r == NULL) {
			gompi_plan_leave_it(p);
			return gompi_refuse(MPI_ERR_NO_MEM, a->name,
					    "out of memory for a request, or too many requests are active",
					    GOMPI_ON_COMM, a->comm);
		}
		h = (MPI_Request)gompi_request_handle(r);
	} else {
		// Success means that there is a request: an error handler may have turned the error code into
		// MPI_SUCCESS.
		rc = gompi_up.start_collective(&call, persistent, (uintptr_t)info, (uintptr_t)&h);
		p = gompi_plan_for_later();
		if (p != NULL)
			gompi_kept_add(c, a, p);
		if (h == MPI_REQUEST_NULL)
			return rc;
	}
	c->started = call.tag;
	if ((r = gompi_request_of(h)) != NULL) {
		r->operation = a->name;
		r->tag = call.tag;
	}
	*request = h;
	return rc;
}

static int no_request(const struct gompi_collective *a) {
	return gompi_refuse(MPI_ERR_NO_MEM, a->name, "out of memory for a request, or too many requests are active",
			    GOMPI_ON_COMM, a->comm);
}

static bool has_board(const struct gompi_comm *c) { return c->board != NULL && c->size <= GOMPI_BOARD_MOST; }

int gompi_collective_start(const struct gompi_collective *a, MPI_Request *request) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)a->comm);
	if (c == NULL || request == NULL)
		return to_go(a, false, false, MPI_INFO_NULL, request);
	bool other = !has_board(c);
	struct gompi_started *s = other ? NULL : gompi_started_make(c, a, &other);
	if (other)
		return by_plan(c, a, false, MPI_INFO_NULL, request);
	if (s == NULL)
		return to_go(a, true, false, MPI_INFO_NULL, request);
	if (gompi_started_issue(s, a, false, request))
		return MPI_SUCCESS;
	gompi_started_drop(s);
	return no_request(a);
}

// Implements the initialization of a persistent collective. No info key has a meaning for collectives. Go raises the
// error if info is not a valid handle. A call that fails still counts in initialized, because the other members' calls
// may succeed.
int gompi_collective_init(const struct gompi_collective *a, MPI_Info info, MPI_Request *request) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)a->comm);
	bool messages = c == NULL || !has_board(c);
	uint64_t number = messages ? 0 : ++c->board->initialized;
	if (c == NULL || request == NULL || (info != MPI_INFO_NULL && !gompi_info_is(info)))
		return to_go(a, c != NULL, true, info, request);
	struct gompi_started *s = messages ? NULL : gompi_started_make(c, a, &messages);
	if (!messages && s == NULL)
		return to_go(a, true, true, info, request);
	struct gompi_board *b = messages ? NULL : gompi_persistent_open(c->board, number, &messages);
	if (b != NULL) {
		s->board = b;
		if (gompi_started_issue(s, a, true, request))
			return MPI_SUCCESS;
		gompi_persistent_close(b);
	}
	if (s != NULL)
		gompi_started_drop(s);
	return messages ? by_plan(c, a, true, info, request) : no_request(a);
}
