#include "message/plan.h"

#include <sched.h>
#include <stdlib.h>

#include "base/call.h"
#include "base/tuning.h"
#include "message/call.h"

int (*gompi_plan_go)(uintptr_t go, int64_t what, char *text);
void (*gompi_plan_gone)(uintptr_t go);

void gompi_plan_tell(void *go, void *gone) {
	gompi_plan_go = (int (*)(uintptr_t, int64_t, char *))go;
	gompi_plan_gone = (void (*)(uintptr_t))gone;
}

struct gompi_plan *gompi_plan_new(struct gompi_messages *m, const struct gompi_plan_head *head,
				  const struct gompi_step *steps, uint32_t n) {
	uint32_t messages = 0;
	for (uint32_t i = 0; i < n; i++)
		messages += steps[i].kind <= STEP_RECV;
	struct gompi_plan *p = malloc(sizeof *p + n * sizeof p->step[0] + messages * sizeof p->under_way[0]);
	if (p == NULL)
		return NULL;
	memset(p, 0, sizeof *p);
	p->head = *head;
	if (head->op != 0)
		p->kernel = gompi_op_kernel((MPI_Op)head->op, (MPI_Datatype)head->datatype);
	p->home = m;
	p->steps = n;
	if (n > 0)
		memcpy(p->step, steps, n * sizeof *steps);
	p->under_way = (struct gompi_request **)(void *)&p->step[n];
	return p;
}

static void free_marks(struct gompi_plan *p) {
	for (struct gompi_plan_mark *more = p->marks, *next; more != NULL; more = next) {
		next = more->next;
		free(more);
	}
	p->marks = NULL;
}

void gompi_plan_free(struct gompi_plan *p) {
	free_marks(p);
	free(p);
}

bool gompi_plan_is_here(const struct gompi_plan *p) { return p->home == gompi_load(&gompi_messages_here); }

void gompi_plan_in_progress_thread(void) { gompi_progress_thread = true; }

// Records an error unless there is one already.
#define remember(p, code, ...) ((void)((p)->why.class != MPI_SUCCESS || gompi_error(&(p)->why, code, __VA_ARGS__)))

static bool is_of_length(int class) { return class == MPI_ERR_TRUNCATE || class == MPI_ERR_COUNT; }

// Records the result of a complete message. Returns false if the plan cannot continue.
static bool take_result(struct gompi_plan *p, const struct gompi_request *r) {
	const struct gompi_result *s = &r->result;
	if (s->class == MPI_SUCCESS) {
		if (r->receive && s->bytes != r->buf.size)
			remember(p, MPI_ERR_COUNT, "rank %d sent %lld bytes, but %lld were expected", s->source,
				 (long long)s->bytes, (long long)r->buf.size);
		return true;
	}
	if (p->why.class == MPI_SUCCESS || !is_of_length(s->class))
		gompi_request_why(r, &p->why);
	return is_of_length(s->class);
}

// Frees the complete messages of a plan. Returns false if the plan cannot continue.
static bool reap(struct gompi_plan *p) {
	uint32_t left = 0;
	bool fine = true;
	struct gompi_lane *l = NULL;
	for (uint32_t i = 0; i < p->count; i++) {
		struct gompi_request *r = p->under_way[i];
		if (!gompi_is_complete(r)) {
			p->under_way[left++] = r;
			continue;
		}
		fine = take_result(p, r) && fine;
		if (l != r->lane) {
			if (l != NULL)
				gompi_lane_give(l);
			gompi_lane_take(l = r->lane);
		}
		gompi_request_give(r);
	}
	if (l != NULL)
		gompi_lane_give(l);
	p->count = left;
	return fine;
}

// Returns true if a message must notify the target's progress thread, in case the target computes. This holds for a
// large message of an urgent plan, a message that a progress thread sends, and a message to a process whose results
// another process waits for (called).
static bool is_urgent(const struct gompi_plan *p, const struct gompi_link *to, int64_t bytes) {
	if (gompi_is_remote(to))
		return p->head.urgent;
	const struct gompi_header *node = (const struct gompi_header *)(const void *)p->home->node.control;
	return (p->head.urgent && bytes >= GOMPI_MUCH && node->cores > node->processes) || gompi_progress_thread ||
	       gompi_load(&to->cell->called) != 0;
}

// Starts a message of bytes bytes at an address. Returns false if out of memory.
static bool start_message(struct gompi_plan *p, const struct gompi_step *s, uintptr_t at, int64_t bytes) {
	const struct gompi_plan_head *h = &p->head;
	struct gompi_lane *l = gompi_lane_of(p->home, h->context[s->via]);
	struct gompi_request q = {.context = h->context[s->via],
				  .comm = h->comm,
				  .source = h->source,
				  .peer = s->peer,
				  .world = s->world,
				  .tag = h->tag,
				  .lane = l,
				  .mode = MODE_STANDARD,
				  .receive = s->kind == STEP_RECV,
				  .buf = {.at = (char *)at, .size = bytes}};
	if (!q.receive && q.world == p->home->node.self) {
		if (gompi_give_self(l, &q))
			return true;
	} else if (!q.receive) {
		struct gompi_link *to = gompi_link_to(l, q.world);
		q.urgent = is_urgent(p, to, bytes);
		if (gompi_eager_anywhere(to, &q))
			return true;
	}
	gompi_lane_take(l);
	struct gompi_request *r = gompi_request_take(l);
	if (r == NULL) {
		gompi_lane_give(l);
		return false;
	}
	*r = q;
	gompi_start_locked(l, r);
	gompi_lane_end_started(l);
	p->under_way[p->count++] = r;
	return true;
}

// Returns the length of a message that passes on received data. After an error the length differs from the planned one,
// so that every process that receives a part of the data notices the error.
static int64_t marked(const struct gompi_plan *p, int64_t bytes) {
	if (p->why.class == MPI_SUCCESS)
		return bytes;
	return p->why.class == MPI_ERR_TRUNCATE ? bytes + 1 : bytes > 0 ? bytes - 1 : 0;
}

static bool send_passed(struct gompi_plan *p, const struct gompi_step *s) {
	int64_t bytes = marked(p, s->bytes);
	if (bytes <= s->bytes)
		return start_message(p, s, s->from, bytes);
	struct gompi_plan_mark *more = calloc(1, sizeof *more + (size_t)bytes); // no process reads the data
	if (more == NULL)
		return false;
	more->next = p->marks;
	p->marks = more;
	return start_message(p, s, (uintptr_t)more->data, bytes);
}

static bool do_step(struct gompi_plan *p, const struct gompi_step *s) {
	bool fine = true;
	switch ((enum gompi_step_kind)s->kind) {
	case STEP_SEND:
		fine = start_message(p, s, s->from, s->bytes);
		break;
	case STEP_PASS:
		fine = send_passed(p, s);
		break;
	case STEP_RECV:
		fine = start_message(p, s, s->to, s->bytes);
		break;
	case STEP_WAIT:
		break;
	case STEP_COPY:
		gompi_copy_between((void *)s->to, (const void *)s->from, (uint64_t)s->bytes);
		break;
	case STEP_COMBINE:
		p->kernel((const void *)s->from, (void *)s->to, (uint64_t)s->bytes / p->head.element);
		break;
	case STEP_GO: {
		struct gompi_verdict v;
		v.class = gompi_plan_go(p->head.go, s->bytes, v.text);
		if (v.class != MPI_SUCCESS)
			p->why = v;
		return v.class == MPI_SUCCESS;
	}
	}
	if (!fine)
		gompi_error(&p->why, MPI_ERR_NO_MEM, "out of memory for a message of %lld bytes", (long long)s->bytes);
	return fine;
}

// Ends a plan and abandons its active messages. Unmatched receives are cancelled, so that they write nothing later.
static void end_plan(struct gompi_plan *p) {
	for (uint32_t i = 0; i < p->count; i++) {
		struct gompi_request *r = p->under_way[i];
		struct gompi_lane *l = r->lane;
		gompi_lane_take(l);
		if (r->receive && gompi_load(&r->state) == REQUEST_ACTIVE)
			gompi_cancel_locked(l, r);
		if (gompi_load(&r->state) == REQUEST_ACTIVE) {
			r->freed = true;
			p->marks = NULL; // a send may still read one of them, so they are not freed
		} else {
			gompi_request_give(r);
		}
		gompi_lane_end(l);
	}
	p->count = 0;
	gompi_store_release(&p->over, 1); // pairs with the acquire loads of over, after which the result is read
}

static bool run_steps(struct gompi_plan *p) {
	while (gompi_load(&p->over) == 0) {
		if (p->count > 0 && !reap(p))
			break;
		bool ends = p->next == p->steps;
		const struct gompi_step *s = &p->step[p->next];
		if (p->count > 0 && (ends || s->kind == STEP_WAIT))
			return false;
		if (ends)
			break;
		p->stalled = s->asks && gompi_progress_thread;
		if (p->stalled)
			return false;
		p->next++;
		if (s->right && p->why.class != MPI_SUCCESS)
			continue;
		if (!do_step(p, s))
			break;
	}
	if (gompi_load(&p->over) == 0)
		end_plan(p);
	return true;
}

// Acquires a plan. The thread that runs it may be copying, or may not be scheduled, so this thread yields its core.
static void take_plan(struct gompi_plan *p) {
	while (gompi_swap_total(&p->busy, 1) != 0)
		sched_yield();
}

void gompi_plan_reset(struct gompi_plan *p) {
	take_plan(p);
	free_marks(p);
	p->next = p->reminded = 0;
	p->why.class = MPI_SUCCESS;
	gompi_store(&p->over, 0);
	gompi_store_total(&p->busy, 0);
}

bool gompi_plan_poll(struct gompi_plan *p) {
	for (;;) {
		if (gompi_swap_total(&p->busy, 1) != 0) {
			// The thread that runs the plan reads missed after it has released busy. If it read missed
			// before this store, busy is free by now, and the second swap succeeds.
			gompi_store_total(&p->missed, 1);
			if (gompi_swap_total(&p->busy, 1) != 0)
				return false;
		}
		bool over = run_steps(p);
		gompi_store_total(&p->busy, 0);
		if (over || gompi_load_total(&p->missed) == 0 || gompi_swap_total(&p->missed, 0) == 0)
			return over;
	}
}

void gompi_plan_abandon(struct gompi_plan *p, int class, const char *text) {
	take_plan(p);
	if (gompi_load(&p->over) == 0) {
		gompi_error(&p->why, class, "%s", text);
		end_plan(p);
	}
	gompi_store_total(&p->busy, 0);
}

void gompi_plan_missing(struct gompi_plan *p, struct gompi_told *t) {
	if (gompi_swap_total(&p->busy, 1) != 0)
		return;
	for (uint32_t i = 0; i < p->count; i++) {
		const struct gompi_request *r = p->under_way[i];
		if (gompi_is_complete(r))
			continue;
		t->lacks++;
		if (r->peer < 64 * GOMPI_TOLD_MISSING)
			t->missing[r->peer / 64] |= 1ULL << r->peer % 64;
	}
	gompi_store_total(&p->busy, 0);
	if (gompi_load_total(&p->missed) != 0)
		gompi_store_total(&p->home->stepped, 1); // the wait then polls the plan before it sleeps
}

void gompi_plan_remind(struct gompi_plan *p) {
	struct gompi_messages *m = p->home;
	if (gompi_swap_total(&p->busy, 1) != 0)
		return; // another thread runs the plan
	bool first = p->reminded < p->next;
	// Two progress threads must not notify each other endlessly, so a progress thread does this once per step.
	if (first || !gompi_progress_thread) {
		p->reminded = p->next;
		for (uint32_t i = 0; i < p->count; i++) {
			const struct gompi_request *r = p->under_way[i];
			int process = gompi_messages_process(m, r->world);
			if (process < 0 || process == m->node.me || !r->receive || gompi_is_complete(r))
				continue;
			struct gompi_cell *cell = gompi_messages_cell(m, process);
			if (!first || gompi_progress_thread)
				gompi_store_total(&cell->called, 1);
			gompi_doorbell(cell);
		}
	}
	gompi_store_total(&p->busy, 0);
	if (gompi_load_total(&p->missed) != 0)
		gompi_plan_poll(p);
}
