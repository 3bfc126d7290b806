// Collectives that have been started: how one goes on, as a request.
#include "coll/started.h"

#include "base/call.h"
#include "coll/kept.h"
#include "message/call.h"

// Begins it, or again; the caller has the board's lock.
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

// Fills the head of the part at hand, once there is room, and lets others read it.
static bool publish_part(struct gompi_started *s) {
	struct gompi_board *b = s->board;
	if (s->now == 0 && !gompi_board_room(b, s->number / 2, gompi_takes_space(s)))
		return false;
	struct gompi_board_head *h = gompi_board_head(b, b->me, s->number);
	bool directly = gompi_pieces(s) > 1 && gompi_node.cma;
	s->state = STARTED_RUNNING;
	s->piece = 0;
	s->read = s->awaited = false;
	for (int i = 0; i < b->n; i++)
		s->taken[i] = 0;
	gompi_write_piece(s, directly ? BOARD_DIRECT : 0);
	s->wrote = directly ? BOARD_DIRECT : 1;
	gompi_store(&h->what, gompi_part_what(s, b->me));
	gompi_store(&h->plan, gompi_part_plan(s));
	gompi_store(&h->read, 0);
	gompi_store(&h->wrote, s->wrote);
	gompi_store_release(&h->number, s->number); // pairs with the acquire of who reads
	gompi_board_tell(b, gompi_is_much(s));
	return true;
}

// Whether all who read what this member gives have read so many pieces; *refused: one wants pieces.
static bool is_taken(struct gompi_started *s, uint32_t pieces, bool *refused) {
	const struct gompi_board *b = s->board;
	bool all = true;
	*refused = false;
	for (int i = 0; i < b->n; i++) {
		if (!gompi_is_read_by(s, i))
			continue;
		struct gompi_board_head *h = gompi_board_head(b, i, s->number);
		// acquire: pairs with the release of who has read
		uint64_t there = gompi_load_acquire(&h->number);
		uint32_t read = there == s->number ? gompi_load_acquire(&h->read) : there > s->number ? BOARD_DONE : 0;
		*refused = *refused || read == BOARD_REFUSED;
		all = all && (read == BOARD_DONE || (read != BOARD_REFUSED && read >= pieces));
	}
	return all;
}

static void write_more(struct gompi_started *s) {
	gompi_write_piece(s, s->wrote);
	s->wrote++;
	// release: pairs with the acquire of who reads
	gompi_store_release(&gompi_board_head(s->board, s->board->me, s->number)->wrote, s->wrote);
	gompi_board_tell(s->board, gompi_is_much(s));
}

// Writes what there is room for. Whether others need nothing more of this member.
static bool write_pieces(struct gompi_started *s) {
	bool refused;
	if (s->wrote == BOARD_DIRECT) {
		if (is_taken(s, BOARD_DONE, &refused))
			return true;
		if (!refused)
			return false;
		s->wrote = 0;
		gompi_store_total(&gompi_board_head(s->board, s->board->me, s->number)->wrote, 0);
		write_more(s);
	}
	uint32_t most = gompi_pieces(s);
	while (s->wrote < most && is_taken(s, s->wrote, &refused))
		write_more(s);
	if (s->wrote < most)
		return false;
	return s->now + 1 == s->parts || is_taken(s, BOARD_DONE, &refused);
}

// Whether the next step calls a function of the application, which the progress thread must not do.
static bool is_for_application(const struct gompi_started *s) {
	return s->asks && gompi_progress_thread && !s->read && s->part[s->now].kind != GOMPI_ALLGATHER &&
	       s->part[s->now].kind != GOMPI_GATHER;
}

bool gompi_started_advance(struct gompi_started *s) {
	if (s->state == STARTED_OVER)
		return false;
	for (;;) {
		if (s->state == STARTED_QUEUED && !publish_part(s))
			return false;
		bool wrote, read;
		uint32_t before;
		do {
			before = s->piece;
			read = !is_for_application(s) && gompi_take_pieces(s);
			wrote = write_pieces(s);
		} while (s->piece != before && !read);
		if (!read || !wrote)
			return false;
		if (s->now + 1 == s->parts || s->differ.rank >= 0)
			break;
		s->now++;
		s->number++;
		s->state = STARTED_QUEUED;
	}
	if (s->differ.rank < 0)
		gompi_started_store(s);
	s->state = STARTED_OVER;
	return true;
}

// The request.

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

static void release_started(struct gompi_request *r) { gompi_board_let_go(started_of(r)->board); }

static void drop_started(struct gompi_request *r) { gompi_started_drop(started_of(r)); }

static const struct gompi_request_kind started_kind = {.progress = progress_started,
						       .start = start_started,
						       .release = release_started,
						       .why = say_started,
						       .drop = drop_started};

void gompi_started_over(struct gompi_started *s) {
	struct gompi_request *r = s->request;
	if (s->differ.rank >= 0)
		s->why.class = gompi_up.explain_differ(&s->differ, s->why.text);
	else if (s->failed != 0)
		gompi_wrong(&s->why, s->failed, "the reduction failed");
	else if (s->why.class == MPI_SUCCESS && s->wrong.class != MPI_SUCCESS)
		s->why = s->wrong;
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = s->why.class};
	gompi_request_complete(r);
}

// Hands a call to Go, which finds what is wrong with it.
static int to_go(const struct gompi_collective *a, bool here, bool persistent, MPI_Info info, MPI_Request *request) {
	struct gompi_collective call = *a;
	call.here = here;
	return gompi_up.start_collective(&call, persistent, (uintptr_t)info, (uintptr_t)request);
}

// Does a call with messages, by a plan that is kept or one that Go makes.
static int by_plan(struct gompi_comm *c, const struct gompi_collective *a, bool persistent, MPI_Info info,
		   MPI_Request *request) {
	struct gompi_collective call = *a;
	call.tag = (int32_t)((uint32_t)c->started % INT32_MAX + 1);
	struct gompi_plan *p = persistent ? NULL : gompi_kept_take(c, a);
	struct gompi_request *r;
	MPI_Request h = MPI_REQUEST_NULL;
	int rc = MPI_SUCCESS;
	if (p != NULL) {
		p->head.tag = call.tag;
		r = gompi_plan_request(p, PLAN_ONCE);
		if (r == NULL) {
			gompi_plan_leave_it(p);
			return gompi_refuse(MPI_ERR_NO_MEM, a->name, "no memory for a request, or too many are live",
					    GOMPI_ON_COMM, a->comm);
		}
		h = (MPI_Request)gompi_request_handle(r);
	} else {
		// What counts is whether there is a request: an error handler may have turned the code to MPI_SUCCESS.
		rc = gompi_up.start_collective(&call, persistent, (uintptr_t)info, (uintptr_t)&h);
		p = gompi_plan_for_later();
		if (p != NULL)
			gompi_kept_add(c, a, p);
		if (h == MPI_REQUEST_NULL)
			return rc;
	}
	c->started = call.tag;
	*request = h;
	return rc;
}

static int make_request(const struct gompi_collective *a, bool persistent, MPI_Info info, MPI_Request *request) {
	struct gompi_comm *c = gompi_comm_get((MPI_Comm)a->comm);
	if (c == NULL || request == NULL)
		return to_go(a, false, persistent, info, request);
	bool other = c->board == NULL || c->size > GOMPI_BOARD_MOST;
	struct gompi_started *s = other ? NULL : gompi_started_make(c, a, &other);
	if (other)
		return by_plan(c, a, persistent, info, request);
	if (s == NULL)
		return to_go(a, true, persistent, info, request);
	struct gompi_request *r =
		gompi_request_new(gompi_load(&gompi_messages_here), c->id, &started_kind, (uintptr_t)s);
	if (r == NULL) {
		gompi_started_drop(s);
		return gompi_refuse(MPI_ERR_NO_MEM, a->name, "no memory for a request, or too many are live",
				    GOMPI_ON_COMM, a->comm);
	}
	gompi_board_hold(s->board);
	s->request = r;
	r->comm = a->comm;
	r->persistent = persistent;
	*request = (MPI_Request)gompi_request_handle(r);
	if (persistent)
		gompi_store(&r->state, REQUEST_INACTIVE);
	else
		start_now(s);
	return MPI_SUCCESS;
}

int gompi_collective_start(const struct gompi_collective *a, MPI_Request *request) {
	return make_request(a, false, MPI_INFO_NULL, request);
}

// No info key means anything to collectives; Go knows whether there is such an object.
int gompi_collective_init(const struct gompi_collective *a, MPI_Info info, MPI_Request *request) {
	if (info != MPI_INFO_NULL && !gompi_up.tell_info((uintptr_t)info))
		return to_go(a, true, true, info, request);
	return make_request(a, true, info, request);
}
