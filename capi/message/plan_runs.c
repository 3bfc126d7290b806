// Active plans: those of blocking calls that wait, and those of requests. The process advances active plans whenever it
// makes progress.
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/call_name.h"
#include "base/wait.h"
#include "message/call.h"
#include "message/plan.h"

// Releases one of the two references to a plan: ref_flag is PLAN_IN_USE or PLAN_CACHED. Frees the plan if no reference
// is left.
static void drop_plan_ref(struct gompi_plan *p, uint32_t ref_flag) {
	if (gompi_and_seq_cst(&p->ref_flags, ~ref_flag) != ref_flag)
		return;
	if (p->params.go_handle != 0)
		gompi_plan_go_freed(p->params.go_handle);
	gompi_plan_free(p);
}

// Detaches a request from its plan. The request keeps a copy of the plan's error text. Afterwards another request may
// run the plan.
static void detach_plan(struct gompi_request *r, struct gompi_plan *p) {
	if (p->error.class != MPI_SUCCESS)
		r->text = strdup(p->error.text);
	r->object = 0;
	drop_plan_ref(p, PLAN_IN_USE);
}

// Completes the request of a plan that no thread runs. The function may free the plan and the request.
static void complete_plan_request(struct gompi_plan *p) {
	struct gompi_request *r = p->request;
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = p->error.class};
	if (!r->persistent)
		detach_plan(r, p);
	gompi_request_complete(r);
}

// Removes a plan from the list of active plans. The caller holds plans_lock.
static void unlist_plan(struct gompi_messages *m, struct gompi_plan *p) {
	struct gompi_plan **at = &m->active_plans;
	while (*at != p)
		at = &(*at)->next_active;
	*at = p->next_active;
	p->is_listed = false;
	if (m->active_plans == NULL) {
		gompi_and_seq_cst(&m->hooks, ~(uint32_t)HOOK_PLANS);
		gompi_store(&gompi_messages_cell(m, m->node.local_index)->needs_doorbell, 0);
	}
}

// Advances each plan once, and reminds its peers if `remind` is set. Several threads may call the function at once. A
// thread that is descheduled delays only the plan that it runs. The last thread that leaves a complete plan completes
// its request.
static bool progress_plans_once(struct gompi_messages *m, bool remind) {
	struct gompi_plan *complete = NULL, *next;
	if (!gompi_is_progress_thread)
		gompi_store_seq_cst(&m->plan_needs_app, 0);
	bool wake_waiters = false; // true if a thread that sleeps in a call must check its condition
	gompi_mutex_lock(&m->plans_lock);
	for (struct gompi_plan *p = m->active_plans; p != NULL; p = next) {
		p->runner_count++;
		gompi_mutex_unlock(&m->plans_lock);
		if (!gompi_plan_poll(p) && remind)
			gompi_plan_remind(p);
		gompi_mutex_lock(&m->plans_lock);
		next = p->next_active;
		bool done = gompi_load_acquire(&p->is_complete) != 0; // pairs with the release in complete_plan
		bool stalled = !done && p->needs_app_thread && gompi_is_progress_thread;
		if (stalled)
			gompi_store_seq_cst(&m->plan_needs_app, 1);
		wake_waiters = wake_waiters || stalled || (done && p->request == NULL);
		if (--p->runner_count > 0 || !done || p->request == NULL)
			continue;
		unlist_plan(m, p);
		p->next_active = complete;
		complete = p;
	}
	gompi_mutex_unlock(&m->plans_lock);
	bool worked = complete != NULL;
	for (; complete != NULL; complete = next) {
		next = complete->next_active;
		complete_plan_request(complete);
	}
	if (wake_waiters)
		gompi_wake(&gompi_messages_cell(m, m->node.local_index)->wait);
	return worked;
}

bool gompi_plans_progress(struct gompi_messages *m) {
	bool worked = false;
	do {
		gompi_store_seq_cst(&m->plan_may_continue, 0);
		worked = progress_plans_once(m, gompi_is_progress_thread) || worked;
		// a step may have started a receive whose data is already in the inbox
		worked = gompi_messages_progress(m) || worked;
	} while (gompi_load_seq_cst(&m->plan_may_continue) != 0 && (gompi_load(&m->hooks) & HOOK_PLANS) != 0);
	return worked;
}

void gompi_plans_remind(struct gompi_messages *m) {
	if ((gompi_load(&m->hooks) & HOOK_PLANS) != 0)
		progress_plans_once(m, true);
}

void gompi_plan_activate(struct gompi_plan *p) {
	struct gompi_messages *m = p->messages;
	gompi_mutex_lock(&m->plans_lock);
	p->next_active = m->active_plans;
	m->active_plans = p;
	p->is_listed = true;
	gompi_or_seq_cst(&m->hooks, HOOK_PLANS);
	gompi_mutex_unlock(&m->plans_lock);
	// Messages that completed before the plan was in the list have not advanced the plan, so advance it now.
	gompi_messages_progress_all(m);
	gompi_plans_progress(m);
}

void gompi_plan_deactivate(struct gompi_plan *p) {
	struct gompi_messages *m = p->messages;
	gompi_mutex_lock(&m->plans_lock);
	while (p->runner_count > 0) { // the plan is complete, so threads in progress_plans_once leave it soon
		gompi_mutex_unlock(&m->plans_lock);
		sched_yield();
		gompi_mutex_lock(&m->plans_lock);
	}
	if (p->is_listed)
		unlist_plan(m, p);
	gompi_mutex_unlock(&m->plans_lock);
}

static bool plan_wait_done(void *arg) {
	struct gompi_plan *p = arg;
	struct gompi_vci *l = gompi_vci_of(p->messages, p->params.context[0]);
	if (gompi_vci_has_work(l))
		gompi_vci_progress(l);
	return gompi_plan_poll(p);
}

static int describe_plan(const void *on, int first, struct gompi_wait_desc *what, struct gompi_wait_details *t) {
	(void)what;
	gompi_plan_report_missing((struct gompi_plan *)(uintptr_t)on, t);
	return first;
}

int gompi_plan_run(struct gompi_plan *p, const int32_t *members, int n) {
	if (gompi_plan_poll(p))
		return p->error.class;
	struct gompi_messages *m = p->messages;
	struct gompi_wait_desc what = {.call = gompi_current_call(),
				       .peer = GOMPI_PEERS_ALL,
				       .object = p->params.comm,
				       .members = members,
				       .member_count = n,
				       .fill_details = describe_plan,
				       .fill_details_arg = p};
	gompi_plan_activate(p);
	int class = gompi_await(&gompi_messages_cell(m, m->node.local_index)->wait, plan_wait_done, p, &what);
	if (class != MPI_SUCCESS) {
		struct gompi_error_status v;
		gompi_request_fill_failure(class, &v);
		gompi_plan_abandon(p, class, v.text);
	}
	gompi_plan_deactivate(p);
	return p->error.class;
}

static struct gompi_plan *plan_of(const struct gompi_request *r) { return (struct gompi_plan *)r->object; }

static void restart_plan(struct gompi_plan *p) {
	gompi_plan_reset(p);
	if (!gompi_plan_poll(p)) {
		gompi_plan_activate(p);
		return;
	}
	struct gompi_messages *m = p->messages;
	gompi_a32 *called = &gompi_messages_cell(m, m->node.local_index)->needs_doorbell;
	if (__builtin_expect(gompi_load(called) != 0, 0) && (gompi_load(&m->hooks) & HOOK_PLANS) == 0)
		gompi_store(called, 0);
	complete_plan_request(p);
}

static int start_plan(struct gompi_request *r, struct gompi_error_status *v) {
	restart_plan(plan_of(r));
	return MPI_SUCCESS;
}

// Returns true if a plan is worth caching and does not depend on state that the application may change.
static bool is_plan_cacheable(const struct gompi_plan *p) {
	// Above these limits, compiling the plan costs little compared to running it.
	enum { MAX_CACHED_BYTES = 64 << 10, MAX_CACHED_STEPS = 1024 };
	if (p->params.go_bytes > MAX_CACHED_BYTES || p->step_count > MAX_CACHED_STEPS)
		return false;
	for (uint32_t i = 0; i < p->step_count; i++)
		if (p->step[i].calls_application)
			return false;
	return true;
}

static _Thread_local struct gompi_plan *plan_to_cache __attribute__((tls_model("initial-exec")));

struct gompi_plan *gompi_plan_to_cache(void) {
	struct gompi_plan *p = plan_to_cache;
	plan_to_cache = NULL;
	return p;
}

bool gompi_plan_reuse(struct gompi_plan *p) {
	uint32_t cached = PLAN_CACHED;
	return gompi_cas_strong(&p->ref_flags, &cached, PLAN_CACHED | PLAN_IN_USE);
}

void gompi_plan_return(struct gompi_plan *p) { drop_plan_ref(p, PLAN_IN_USE); }

void gompi_plan_uncache(struct gompi_plan *p) { drop_plan_ref(p, PLAN_CACHED); }

static void progress_plan(struct gompi_request *r) {
	struct gompi_messages *m = r->vci->messages;
	if (gompi_plans_ready(m))
		gompi_plans_progress(m);
}

static void plan_error_detail(const struct gompi_request *r, struct gompi_error_status *v) {
	if (r->object != 0)
		*v = plan_of(r)->error;
	else
		gompi_request_text_detail(r, v);
}

static void release_plan(struct gompi_request *r) {
	if (r->object != 0)
		detach_plan(r, plan_of(r));
}

static void describe_plan_wait(const struct gompi_request *r, struct gompi_wait_desc *what,
			       struct gompi_wait_details *t) {
	if (r->operation == NULL)
		return;
	what->reason = GOMPI_FOR_COLLECTIVE;
	t->operation = r->operation;
	struct gompi_messages *m = r->vci->messages;
	gompi_mutex_lock(&m->plans_lock); // while the lock is held, no listed plan is freed
	for (struct gompi_plan *p = m->active_plans; p != NULL; p = p->next_active)
		if (p->request == r)
			gompi_plan_report_missing(p, t);
	gompi_mutex_unlock(&m->plans_lock);
	t->pending_count = -1; // -1, unknown: even a peer whose message is missing may have started the operation
}

static void abandon_plan(struct gompi_request *r, int class) {
	gompi_plan_abandon(plan_of(r), class, gompi_failure_text());
	gompi_plans_progress(r->vci->messages);
}

static const struct gompi_request_kind plan_kind = {.abandon = abandon_plan,
						    .progress = progress_plan,
						    .describe_wait = describe_plan_wait,
						    .start = start_plan,
						    .release = release_plan,
						    .free_object = gompi_request_free_text,
						    .error_detail = plan_error_detail};

struct gompi_request *gompi_plan_request(struct gompi_plan *p, enum gompi_plan_use use) {
	struct gompi_request *r = gompi_request_new(p->messages, p->params.context[0], &plan_kind, (uintptr_t)p);
	if (r == NULL)
		return NULL;
	r->comm = p->params.comm;
	r->persistent = use == PLAN_PERSISTENT;
	p->request = r;
	bool is_new = gompi_or_seq_cst(&p->ref_flags, PLAN_IN_USE) == 0;
	if (is_new && use != PLAN_ONCE && is_plan_cacheable(p)) {
		gompi_or_seq_cst(&p->ref_flags, PLAN_CACHED);
		plan_to_cache = p;
	}
	if (use == PLAN_PERSISTENT)
		gompi_store(&r->state, REQUEST_INACTIVE);
	else
		restart_plan(p);
	return r;
}
