// Active plans. The process advances them whenever it makes progress, for blocking calls that wait and for requests.
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/wait.h"
#include "message/call.h"
#include "message/plan.h"

// Releases one of the two holds on a plan. The last release frees the plan.
static void let_plan_go(struct gompi_plan *p, uint32_t hold) {
	if (gompi_and_total(&p->held, ~hold) != hold)
		return;
	if (p->head.go != 0)
		gompi_plan_gone(p->head.go);
	gompi_plan_free(p);
}

// Detaches a request from its plan, which it no longer needs: the request keeps the plan's error text. Another request
// may then run the plan.
static void detach(struct gompi_request *r, struct gompi_plan *p) {
	if (p->why.class != MPI_SUCCESS)
		r->text = strdup(p->why.text);
	r->object = 0;
	let_plan_go(p, PLAN_USED);
}

// Completes the request of a plan that no thread runs. Both may be freed afterwards.
static void end_request(struct gompi_plan *p) {
	struct gompi_request *r = p->request;
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = p->why.class};
	if (!r->persistent)
		detach(r, p);
	gompi_request_complete(r);
}

// Removes a plan from the list. The caller holds plans_lock.
static void unlist(struct gompi_messages *m, struct gompi_plan *p) {
	struct gompi_plan **at = &m->plans;
	while (*at != p)
		at = &(*at)->later;
	*at = p->later;
	p->listed = false;
	if (m->plans == NULL) {
		gompi_and_total(&m->hooks, ~(uint32_t)HOOK_PLANS);
		gompi_store(&gompi_messages_cell(m, m->node.me)->called, 0);
	}
}

// Advances each plan once, and reminds its peers if remind is set. Several threads may do so at once: a thread that is
// descheduled delays only the plan that it runs. The last thread that leaves a complete plan completes its request.
static bool step_once(struct gompi_messages *m, bool remind) {
	struct gompi_plan *over = NULL, *later;
	if (!gompi_progress_thread)
		gompi_store_total(&m->stalled, 0);
	bool wanted = false; // a thread that sleeps in a call must wake up and check
	gompi_mutex_take(&m->plans_lock);
	for (struct gompi_plan *p = m->plans; p != NULL; p = later) {
		p->users++;
		gompi_mutex_give(&m->plans_lock);
		if (!gompi_plan_poll(p) && remind)
			gompi_plan_remind(p);
		gompi_mutex_take(&m->plans_lock);
		later = p->later;
		bool done = gompi_load_acquire(&p->over) != 0; // pairs with the release in end_plan
		bool stalled = !done && p->stalled && gompi_progress_thread;
		if (stalled)
			gompi_store_total(&m->stalled, 1);
		wanted = wanted || stalled || (done && p->request == NULL);
		if (--p->users > 0 || !done || p->request == NULL)
			continue;
		unlist(m, p);
		p->later = over;
		over = p;
	}
	gompi_mutex_give(&m->plans_lock);
	bool worked = over != NULL;
	for (; over != NULL; over = later) {
		later = over->later;
		end_request(over);
	}
	if (wanted)
		gompi_wake(&gompi_messages_cell(m, m->node.me)->wait);
	return worked;
}

bool gompi_plans_step(struct gompi_messages *m) {
	bool worked = false;
	do {
		gompi_store_total(&m->stepped, 0);
		worked = step_once(m, gompi_progress_thread) || worked;
		// a step may have started a receive whose data is in the inbox already
		worked = gompi_messages_progress(m) || worked;
	} while (gompi_load_total(&m->stepped) != 0 && (gompi_load(&m->hooks) & HOOK_PLANS) != 0);
	return worked;
}

void gompi_plans_remind(struct gompi_messages *m) {
	if ((gompi_load(&m->hooks) & HOOK_PLANS) != 0)
		step_once(m, true);
}

void gompi_plan_enter(struct gompi_plan *p) {
	struct gompi_messages *m = p->home;
	gompi_mutex_take(&m->plans_lock);
	p->later = m->plans;
	m->plans = p;
	p->listed = true;
	gompi_or_total(&m->hooks, HOOK_PLANS);
	gompi_mutex_give(&m->plans_lock);
	// No thread has noticed what completed before the plan was in the list.
	gompi_messages_progress_all(m);
	gompi_plans_step(m);
}

void gompi_plan_leave(struct gompi_plan *p) {
	struct gompi_messages *m = p->home;
	gompi_mutex_take(&m->plans_lock);
	while (p->users > 0) { // the plan is complete, so a thread that runs it leaves soon
		gompi_mutex_give(&m->plans_lock);
		sched_yield();
		gompi_mutex_take(&m->plans_lock);
	}
	if (p->listed)
		unlist(m, p);
	gompi_mutex_give(&m->plans_lock);
}

static bool plan_is_over(void *arg) {
	struct gompi_plan *p = arg;
	struct gompi_lane *l = gompi_lane_of(p->home, p->head.context[0]);
	if (gompi_lane_ready(l))
		gompi_lane_progress(l);
	return gompi_plan_poll(p);
}

static int describe_plan(const void *on, int first, struct gompi_waiting *what, struct gompi_told *t) {
	(void)what;
	gompi_plan_missing((struct gompi_plan *)(uintptr_t)on, t);
	return first;
}

int gompi_plan_do(struct gompi_plan *p) {
	if (gompi_plan_poll(p))
		return p->why.class;
	struct gompi_messages *m = p->home;
	struct gompi_waiting what = {.call = gompi_current_call(),
				     .peer = GOMPI_PEERS_ALL,
				     .object = p->head.comm,
				     .describe = describe_plan,
				     .on = p};
	gompi_plan_enter(p);
	int class = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, plan_is_over, p, &what);
	if (class != MPI_SUCCESS) {
		struct gompi_verdict v;
		gompi_request_lost(class, &v);
		gompi_plan_abandon(p, class, v.text);
	}
	gompi_plan_leave(p);
	return p->why.class;
}

static struct gompi_plan *plan_of(const struct gompi_request *r) { return (struct gompi_plan *)r->object; }

static void begin_plan(struct gompi_plan *p) {
	gompi_plan_reset(p);
	if (!gompi_plan_poll(p)) {
		gompi_plan_enter(p);
		return;
	}
	struct gompi_messages *m = p->home;
	gompi_a32 *called = &gompi_messages_cell(m, m->node.me)->called;
	if (__builtin_expect(gompi_load(called) != 0, 0) && (gompi_load(&m->hooks) & HOOK_PLANS) == 0)
		gompi_store(called, 0);
	end_request(p);
}

static int start_plan(struct gompi_request *r, struct gompi_verdict *v) {
	begin_plan(plan_of(r));
	return MPI_SUCCESS;
}

// Returns true if a plan is worth caching and does not depend on state that the application may change.
static bool is_for_later(const struct gompi_plan *p) {
	// Above these limits, compiling the plan costs little compared to running it.
	enum { MOST_BYTES = 64 << 10, MOST_STEPS = 1024 };
	if (p->head.own > MOST_BYTES || p->steps > MOST_STEPS)
		return false;
	for (uint32_t i = 0; i < p->steps; i++)
		if (p->step[i].asks)
			return false;
	return true;
}

static _Thread_local struct gompi_plan *for_later __attribute__((tls_model("initial-exec")));

struct gompi_plan *gompi_plan_for_later(void) {
	struct gompi_plan *p = for_later;
	for_later = NULL;
	return p;
}

bool gompi_plan_reuse(struct gompi_plan *p) {
	uint32_t kept = PLAN_KEPT;
	return gompi_change_once(&p->held, &kept, PLAN_KEPT | PLAN_USED);
}

void gompi_plan_leave_it(struct gompi_plan *p) { let_plan_go(p, PLAN_USED); }

void gompi_plan_unkeep(struct gompi_plan *p) { let_plan_go(p, PLAN_KEPT); }

static void progress_plan(struct gompi_request *r) {
	struct gompi_messages *m = r->lane->home;
	if (gompi_plans_ready(m))
		gompi_plans_step(m);
}

static void say_plan(const struct gompi_request *r, struct gompi_verdict *v) {
	if (r->object != 0)
		*v = plan_of(r)->why;
	else
		gompi_request_say_text(r, v);
}

static void release_plan(struct gompi_request *r) {
	if (r->object != 0)
		detach(r, plan_of(r));
}

static void await_plan(const struct gompi_request *r, struct gompi_waiting *what, struct gompi_told *t) {
	if (r->operation == NULL)
		return;
	what->reason = GOMPI_FOR_COLLECTIVE;
	t->operation = r->operation;
	struct gompi_messages *m = r->lane->home;
	gompi_mutex_take(&m->plans_lock); // a plan in the list is not freed
	for (struct gompi_plan *p = m->plans; p != NULL; p = p->later)
		if (p->request == r)
			gompi_plan_missing(p, t);
	gompi_mutex_give(&m->plans_lock);
	t->lacks = -1; // the peers may have started the operation and wait for other processes
}

static const struct gompi_request_kind plan_kind = {.progress = progress_plan,
						    .awaits = await_plan,
						    .start = start_plan,
						    .release = release_plan,
						    .drop = gompi_request_drop_text,
						    .why = say_plan};

struct gompi_request *gompi_plan_request(struct gompi_plan *p, enum gompi_plan_use use) {
	struct gompi_request *r = gompi_request_new(p->home, p->head.context[0], &plan_kind, (uintptr_t)p);
	if (r == NULL)
		return NULL;
	r->comm = p->head.comm;
	r->persistent = use == PLAN_AGAIN;
	p->request = r;
	bool is_new = gompi_or_total(&p->held, PLAN_USED) == 0;
	if (is_new && use != PLAN_ONCE && is_for_later(p)) {
		gompi_or_total(&p->held, PLAN_KEPT);
		for_later = p;
	}
	if (use == PLAN_AGAIN)
		gompi_store(&r->state, REQUEST_INACTIVE);
	else
		begin_plan(p);
	return r;
}
