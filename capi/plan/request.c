// Runs of plans under way: as requests, which go on whenever the process makes progress, and to their end in a blocking
// call.
#include "base/wait.h"
#include "message/call.h"
#include "plan/plan.h"

static _Thread_local bool on_agent __attribute__((tls_model("initial-exec")));

void gompi_plan_agent(void) { on_agent = true; }

static bool run_is_over(void *arg) {
	struct gompi_plan_run *run = arg;
	struct gompi_lane *l = gompi_lane_of(run->home, run->plan->context[0]);
	if (gompi_lane_ready(l))
		gompi_lane_progress(l);
	return gompi_plan_poll(run, on_agent);
}

int gompi_plan_do(struct gompi_plan_run *run, const char *call) {
	if (!gompi_plan_poll(run, on_agent)) {
		struct gompi_messages *m = run->home;
		struct gompi_waiting what = {call, -1, run->plan->comm};
		int class = gompi_await(&gompi_messages_cell(m, m->node.me)->wait, run_is_over, run, &what);
		if (class != MPI_SUCCESS) {
			struct gompi_verdict v;
			gompi_request_lost(class, &v);
			gompi_plan_abandon(run, class, v.text);
		}
	}
	return run->why.class;
}

// Tells what a run has ended with. It may be no more afterwards.
static void tell(struct gompi_plan_run *run) {
	struct gompi_request *r = run->request;
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = run->why.class};
	gompi_request_complete(r);
}

// Goes on with all runs, again if something completes meanwhile that they may go on with. Threads do so side by side: one
// that the system has stopped keeps the others from nothing but the run that it is at. The last one at a run that is
// over tells so.
static bool step_runs(struct gompi_messages *m) {
	bool worked = false;
	do {
		struct gompi_plan_run *over = NULL, *later;
		bool stalled = false;
		gompi_store_total(&m->stepped, 0);
		gompi_mutex_take(&m->runs_lock);
		for (struct gompi_plan_run *run = m->runs; run != NULL; run = later) {
			run->users++;
			gompi_mutex_give(&m->runs_lock);
			gompi_plan_poll(run, on_agent);
			gompi_mutex_take(&m->runs_lock);
			later = run->later;
			bool done = gompi_load_acquire(&run->over) != 0;
			stalled = stalled || (!done && run->stalled);
			if (--run->users > 0 || !done)
				continue;
			struct gompi_plan_run **at = &m->runs;
			while (*at != run)
				at = &(*at)->later;
			*at = later;
			run->later = over;
			over = run;
		}
		if (m->runs == NULL)
			gompi_and_total(&m->hooks, ~(uint32_t)HOOK_RUNS);
		gompi_mutex_give(&m->runs_lock);
		worked = worked || over != NULL;
		for (; over != NULL; over = later) {
			later = over->later;
			tell(over);
		}
		if (stalled && on_agent) // a thread that sleeps in a call is woken for the next step
			gompi_wake(&gompi_messages_cell(m, m->node.me)->wait);
		worked = gompi_messages_progress(m) || worked; // a receive may have been started whose data is there
	} while (gompi_load_total(&m->stepped) != 0 && (gompi_load(&m->hooks) & HOOK_RUNS) != 0);
	return worked;
}

static void begin(struct gompi_plan_run *run) {
	struct gompi_messages *m = run->home;
	if (gompi_plan_poll(run, on_agent)) {
		tell(run);
		return;
	}
	gompi_mutex_take(&m->runs_lock);
	m->step_runs = step_runs;
	run->later = m->runs;
	m->runs = run;
	gompi_or_total(&m->hooks, HOOK_RUNS);
	gompi_mutex_give(&m->runs_lock);
	// What completed before the run was in the list has been seen by nobody.
	gompi_messages_progress_all(m);
	step_runs(m);
}

static struct gompi_plan_run *run_of(const struct gompi_request *r) { return (struct gompi_plan_run *)r->object; }

static int start_run(struct gompi_request *r, struct gompi_verdict *v) {
	gompi_plan_reset(run_of(r));
	begin(run_of(r));
	return MPI_SUCCESS;
}

static void drop_run(struct gompi_request *r) {
	struct gompi_plan_run *run = run_of(r);
	if (run->go != 0)
		gompi_plan_gone(run->go);
	gompi_plan_close(run);
}

static void say_run(const struct gompi_request *r, struct gompi_verdict *v) { *v = run_of(r)->why; }

static const struct gompi_request_kind plan_kind = {.start = start_run, .drop = drop_run, .why = say_run};

struct gompi_messages *gompi_plan_home(void) {
	return gompi_load_acquire(&gompi_messages_here);
}

struct gompi_request *gompi_plan_request(struct gompi_plan_run *run, bool persistent, uintptr_t *handle) {
	struct gompi_request *r = gompi_request_new(run->plan->context[0], &plan_kind, (uintptr_t)run);
	if (r == NULL)
		return NULL;
	*handle = gompi_request_handle(r); // it may be complete and freed before this returns
	r->comm = run->plan->comm;
	r->persistent = persistent;
	run->request = r;
	if (persistent)
		gompi_store(&r->state, REQUEST_INACTIVE);
	else
		begin(run);
	return r;
}
