#include "plan/plan.h"

#include <stdlib.h>

#include "message/call.h"

int (*gompi_plan_go)(uintptr_t go, int64_t what, struct gompi_verdict *v);
void (*gompi_plan_gone)(uintptr_t go);

struct gompi_plan *gompi_plan_new(uint32_t steps) {
	struct gompi_plan *p = calloc(1, sizeof *p + steps * sizeof p->step[0]);
	if (p != NULL)
		p->steps = steps;
	return p;
}

struct gompi_step *gompi_plan_steps(struct gompi_plan *p) {
	return p->step;
}

struct gompi_plan_run *gompi_plan_open(const struct gompi_plan *p, struct gompi_messages *m, const void *send,
				       void *recv, int32_t tag, bool urgent) {
	struct gompi_plan_run *run = calloc(1, sizeof *run + p->most * sizeof run->under_way[0]);
	char *own = p->own > 0 && run != NULL ? calloc(1, (size_t)p->own) : NULL;
	if (run == NULL || (p->own > 0 && own == NULL)) {
		free(run);
		return NULL;
	}
	run->plan = p;
	run->home = m;
	run->base[BASE_SEND] = (char *)(uintptr_t)send;
	run->base[BASE_RECV] = recv;
	run->base[BASE_OWN] = own;
	run->tag = tag;
	run->urgent = urgent;
	return run;
}

void gompi_plan_close(struct gompi_plan_run *run) {
	for (struct gompi_plan_mark *more = run->marks, *next; more != NULL; more = next) {
		next = more->next;
		free(more);
	}
	if (run->plan->once)
		free((struct gompi_plan *)(uintptr_t)run->plan);
	free(run->base[BASE_OWN]);
	free(run);
}

// Keeps the first thing that is wrong.
#define remember(run, code, ...) \
	((void)((run)->why.class != MPI_SUCCESS || gompi_wrong(&(run)->why, code, __VA_ARGS__)))

static bool is_of_length(int class) { return class == MPI_ERR_TRUNCATE || class == MPI_ERR_COUNT; }

// Takes what a message has ended with. false: the run cannot go on.
static bool take_result(struct gompi_plan_run *run, const struct gompi_request *r) {
	const struct gompi_result *s = &r->result;
	if (s->class == MPI_SUCCESS) {
		if (r->receive && s->bytes != r->buf.size)
			remember(run, MPI_ERR_COUNT, "rank %d contributed %lld bytes where %lld were expected",
				 s->source, (long long)s->bytes, (long long)r->buf.size);
		return true;
	}
	if (run->why.class == MPI_SUCCESS || !is_of_length(s->class))
		gompi_request_why(r, &run->why);
	return is_of_length(s->class);
}

// Lets the messages go that are done. false: the run cannot go on.
static bool reap(struct gompi_plan_run *run) {
	uint32_t left = 0;
	bool fine = true;
	struct gompi_lane *l = NULL;
	for (uint32_t i = 0; i < run->count; i++) {
		struct gompi_request *r = run->under_way[i];
		if (!gompi_is_complete(r)) {
			run->under_way[left++] = r;
			continue;
		}
		fine = take_result(run, r) && fine;
		if (l == NULL)
			gompi_lane_take(l = r->lane); // all are of one
		gompi_request_give(r);
	}
	if (l != NULL)
		gompi_lane_give(l);
	run->count = left;
	return fine;
}

// Starts a message of bytes at an address. false: there is no memory.
static bool start_message(struct gompi_plan_run *run, const struct gompi_step *s, char *at, int64_t bytes) {
	const struct gompi_plan *p = run->plan;
	struct gompi_lane *l = gompi_lane_of(run->home, p->context[s->via]);
	struct gompi_request q = {.context = p->context[s->via],
				  .comm = p->comm,
				  .source = p->source,
				  .peer = s->peer,
				  .world = s->world,
				  .tag = run->tag,
				  .lane = l,
				  .mode = MODE_STANDARD,
				  .receive = s->kind == STEP_RECV,
				  .urgent = run->urgent,
				  .buf = {.at = at, .size = bytes}};
	if (!q.receive && (q.world == run->home->node.rank ? gompi_give_self(l, &q)
							   : gompi_eager_anywhere(gompi_link_to(l, q.world), &q)))
		return true;
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	if (r == NULL) {
		gompi_lane_give(l);
		return false;
	}
	*r = q;
	if (r->receive) {
		gompi_receive_locked(l, r);
		gompi_lane_look(l);
	} else {
		gompi_send_locked(l, r);
	}
	gompi_lane_end_started(l);
	run->under_way[run->count++] = r;
	return true;
}

// The bytes of a message that is passed on: of another number if this member knows of a wrong one, so that everybody
// who gets a part of it is told.
static int64_t marked(const struct gompi_plan_run *run, int64_t bytes) {
	if (run->why.class == MPI_SUCCESS)
		return bytes;
	return run->why.class == MPI_ERR_TRUNCATE ? bytes + 1 : bytes > 0 ? bytes - 1 : 0;
}

static bool send_passed(struct gompi_plan_run *run, const struct gompi_step *s, char *at) {
	int64_t bytes = marked(run, s->bytes);
	if (bytes <= s->bytes)
		return start_message(run, s, at, bytes);
	struct gompi_plan_mark *more = calloc(1, sizeof *more + (size_t)bytes); // nobody looks at the data
	if (more == NULL)
		return false;
	more->next = run->marks;
	run->marks = more;
	return start_message(run, s, more->data, bytes);
}

static bool do_step(struct gompi_plan_run *run, const struct gompi_step *s) {
	char *from = run->base[s->from.base] + s->from.offset, *to = run->base[s->to.base] + s->to.offset;
	struct gompi_verdict v = {.class = MPI_SUCCESS};
	struct gompi_buffer b = {.count = s->count, .type = s->type, .size = s->bytes};
	bool fine = true;
	switch ((enum gompi_step_kind)s->kind) {
	case STEP_SEND:
		fine = start_message(run, s, from, s->bytes);
		break;
	case STEP_PASS:
		fine = send_passed(run, s, from);
		break;
	case STEP_RECV:
		fine = start_message(run, s, to, s->bytes);
		break;
	case STEP_WAIT:
		break;
	case STEP_COPY:
		memmove(to, from, (size_t)s->bytes);
		break;
	case STEP_COMBINE:
		v.class = gompi_combine(&run->plan->reduction, from, to, (uint64_t)s->bytes);
		if (v.class != MPI_SUCCESS)
			gompi_wrong(&v, v.class, "the operation of a reduction failed");
		break;
	case STEP_PACK:
		b.at = from;
		gompi_buffer_pack(&b, to, 0, s->bytes);
		break;
	case STEP_UNPACK:
		b.at = to;
		gompi_buffer_unpack(&b, 0, from, s->bytes);
		break;
	case STEP_GO:
		v.class = gompi_plan_go(run->go, s->count, &v);
		break;
	}
	if (!fine)
		gompi_wrong(&v, MPI_ERR_NO_MEM, "no memory for a message of %lld bytes", (long long)s->bytes);
	if (v.class != MPI_SUCCESS)
		run->why = v;
	return v.class == MPI_SUCCESS;
}

// Gives up what is under way: a receive that has not been matched writes to nothing later.
static void end_run(struct gompi_plan_run *run) {
	for (uint32_t i = 0; i < run->count; i++) {
		struct gompi_request *r = run->under_way[i];
		struct gompi_lane *l = r->lane;
		gompi_lane_take(l);
		if (r->receive && gompi_load(&r->state) == REQUEST_ACTIVE)
			gompi_cancel_locked(l, r);
		if (gompi_load(&r->state) == REQUEST_ACTIVE) {
			r->freed = true;
			run->marks = NULL; // one of them may be read still: they stay
		} else {
			gompi_request_give(r);
		}
		gompi_lane_end(l);
	}
	run->count = 0;
	gompi_store_release(&run->over, 1);
}

static bool go_on(struct gompi_plan_run *run, bool agent) {
	const struct gompi_plan *p = run->plan;
	while (gompi_load(&run->over) == 0) {
		if (run->count > 0 && !reap(run))
			break;
		bool ends = run->next == p->steps;
		const struct gompi_step *s = &p->step[run->next];
		if (run->count > 0 && (ends || s->kind == STEP_WAIT))
			return false;
		if (ends)
			break;
		bool asks = p->asks && (s->kind == STEP_COMBINE || s->kind == STEP_GO);
		run->stalled = asks && agent;
		if (run->stalled)
			return false;
		run->next++;
		if (asks && run->why.class != MPI_SUCCESS)
			continue; // not on the wrong number of elements
		if (!do_step(run, s))
			break;
	}
	if (gompi_load(&run->over) == 0)
		end_run(run);
	return true;
}

void gompi_plan_reset(struct gompi_plan_run *run) {
	while (gompi_swap_total(&run->busy, 1) != 0)
		gompi_pause();
	run->next = 0;
	run->why.class = MPI_SUCCESS;
	gompi_store(&run->over, 0);
	gompi_store_total(&run->busy, 0);
}

bool gompi_plan_poll(struct gompi_plan_run *run, bool agent) {
	for (;;) {
		if (gompi_swap_total(&run->busy, 1) != 0) {
			// Whoever is at it looks at missed after it has left. If that was before it was set, nobody is.
			gompi_store_total(&run->missed, 1);
			if (gompi_swap_total(&run->busy, 1) != 0)
				return false;
		}
		bool over = go_on(run, agent);
		gompi_store_total(&run->busy, 0);
		if (over || gompi_load_total(&run->missed) == 0 || gompi_swap_total(&run->missed, 0) == 0)
			return over;
	}
}

void gompi_plan_abandon(struct gompi_plan_run *run, int class, const char *text) {
	while (gompi_swap_total(&run->busy, 1) != 0)
		gompi_pause();
	if (gompi_load(&run->over) == 0) {
		gompi_wrong(&run->why, class, "%s", text);
		end_run(run);
	}
	gompi_store_release(&run->busy, 0);
}
