/* Proves: plans (message/plan.c) run their steps in order and in rounds, whichever thread makes progress. If a member
 * passes wrong lengths, it gets an error, and so do the members to which its data is forwarded; no member waits
 * forever. Only application threads run a step that calls the application. An abandoned plan leaves nothing pending.
 * Requests of plans complete, restart, and free or cache their plan. A member that waits for a peer notifies the peer.
 * From the second notification on, other members that send to the peer also notify it. They stop when the peer has no
 * pending plan. */
#include "processes.h"

#include "base/call_name.h"
#include "message/plan.h"

enum { MAX_STEPS = 64, MEMBERS = 3 };

/* The parameters and steps of one member, from which plan_of creates a plan. */
struct draft {
	struct gompi_plan_params head;
	struct gompi_step step[MAX_STEPS];
	uint32_t n;
	double *values; /* memory for the values that this member receives; freed after the plan */
};

static void begin_draft(struct draft *d, int rank, int tag) {
	*d = (struct draft){.head = {.context = {WORLD | 1, 0}, .source = rank, .tag = tag}};
}

static struct gompi_step *add(struct draft *d, enum gompi_step_kind kind, int peer, const void *from, void *to,
			      int64_t bytes) {
	struct gompi_step *s = &d->step[d->n++];
	*s = (struct gompi_step){.kind = (uint8_t)kind,
				 .peer = peer,
				 .world = peer,
				 .from = (uintptr_t)from,
				 .to = (uintptr_t)to,
				 .bytes = bytes};
	return s;
}

static struct gompi_plan *plan_of(const struct draft *d) {
	struct gompi_plan *p = gompi_plan_new(process[d->head.source], &d->head, d->step, d->n);
	if (p == NULL)
		abort();
	return p;
}

/* Polls the plans round-robin until all are complete. Returns true if they completed within the limit. */
static bool run_all(struct gompi_plan *plan[], int n) {
	for (int turn = 0; turn < 100000; turn++) {
		int over = 0;
		for (int i = 0; i < n; i++) {
			gompi_messages_progress_all(process[i]);
			over += gompi_plan_poll(plan[i]);
		}
		if (over == n)
			return true;
	}
	return false;
}

static void check_idle(int n) {
	for (int i = 0; i < n; i++) {
		struct gompi_engine_counts s;
		gompi_engine_counts(process[i], &s);
		CHECK(s.posted == 0 && s.unexpected == 0 && s.sends == 0,
		      "%d: %lld posted, %lld unexpected, %lld sends", i, (long long)s.posted, (long long)s.unexpected,
		      (long long)s.sends);
		CHECK((gompi_load(&process[i]->hooks) & HOOK_PLANS) == 0, "%d: plans are still under way", i);
	}
}

static void end_plans(struct gompi_plan *plan[], int n) {
	for (int i = 0; i < n; i++)
		gompi_plan_free(plan[i]);
	check_idle(n);
}

/* Adds the steps that sum n doubles of all members: the first member receives the values, adds them, and sends the sums
 * to the other members. The member `wrong_member` (-1: none) passes `extra_bytes` bytes more than the other members. */
static void draft_sum(struct draft *d, int me, int tag, double *in, double *out, int64_t n, int wrong_member,
		      int64_t extra_bytes) {
	begin_draft(d, me, tag);
	int64_t bytes = n * 8 + (me == wrong_member ? extra_bytes : 0);
	d->head.op = (uintptr_t)MPI_SUM;
	d->head.datatype = (uintptr_t)MPI_DOUBLE;
	d->head.element_bytes = 8;
	add(d, STEP_COPY, 0, in, out, bytes);
	if (me != 0) {
		add(d, STEP_SEND, 0, in, NULL, bytes);
		add(d, STEP_RECV, 0, NULL, out, bytes);
		add(d, STEP_WAIT, 0, NULL, NULL, 0);
		return;
	}
	char *values = calloc(MEMBERS, (size_t)bytes + 1);
	d->values = (double *)(void *)values;
	for (int i = 1; i < MEMBERS; i++)
		add(d, STEP_RECV, i, NULL, values + i * bytes, bytes);
	add(d, STEP_WAIT, 0, NULL, NULL, 0);
	for (int i = 1; i < MEMBERS; i++)
		add(d, STEP_REDUCE, 0, values + i * bytes, out, bytes);
	for (int i = 1; i < MEMBERS; i++)
		add(d, STEP_FORWARD, i, out, NULL, bytes);
}

static void sums(int64_t n, int wrong_member, int64_t extra_bytes) {
	struct gompi_plan *plan[MEMBERS];
	static struct draft draft[MEMBERS];
	double *in[MEMBERS], *out[MEMBERS];
	for (int again = 0; again < 2; again++) {
		for (int i = 0; i < MEMBERS; i++) {
			in[i] = malloc((size_t)(n * 8 + 64));
			out[i] = calloc(1, (size_t)(n * 8 + 64));
			for (int64_t k = 0; k < n + 8; k++)
				in[i][k] = (double)(i + k);
			draft_sum(&draft[i], i, again, in[i], out[i], n, wrong_member, extra_bytes);
			draft[i].head.urgent = again == 1;
			plan[i] = plan_of(&draft[i]);
		}
		for (int turn = 0; turn < 2; turn++) { /* runs each plan twice */
			CHECK(run_all(plan, MEMBERS), "%lld doubles: the plans do not end", (long long)n);
			for (int i = 0; i < MEMBERS; i++) {
				bool has_error = plan[i]->error.class != MPI_SUCCESS;
				CHECK(has_error == (wrong_member >= 0), "member %d: class %d", i, plan[i]->error.class);
				for (int64_t k = 0; k < n && wrong_member < 0; k++)
					if (out[i][k] != (double)(3 * k + 3)) {
						CHECK(false, "member %d: element %lld is %g", i, (long long)k,
						      out[i][k]);
						break;
					}
				if (turn == 0)
					gompi_plan_reset(plan[i]);
			}
		}
		end_plans(plan, MEMBERS);
		for (int i = 0; i < MEMBERS; i++) {
			free(in[i]);
			free(out[i]);
			free(draft[i].values);
		}
	}
}

static void in_rounds(void) {
	sums(1, -1, 0);
	sums(1000, -1, 0);
	sums(100000, -1, 0); /* the data needs more than one record */
	for (int wrong = 0; wrong < MEMBERS; wrong++) {
		sums(3, wrong, 8);
		sums(3, wrong, -8);
		sums(20000, wrong, 8);
	}
}

/* Tests two rules: a progress thread does not run steps that call the application, and steps after a failed step are
 * skipped. */
static int go_call_count, freed_count;
static int call_go(uintptr_t go, int64_t what, char *text) {
	go_call_count++;
	text[0] = 0;
	return go == 7 && what == 5 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static void on_freed(uintptr_t go) { freed_count += go == 7; }

static void application_steps(void) {
	struct draft d;
	begin_draft(&d, 0, 1);
	d.head.go_handle = 7;
	add(&d, STEP_CALL_GO, 0, NULL, NULL, 5)->calls_application = true;
	add(&d, STEP_CALL_GO, 0, NULL, NULL, 6);
	add(&d, STEP_CALL_GO, 0, NULL, NULL, 5);
	gompi_plan_set_callbacks((void *)call_go, (void *)on_freed);
	struct gompi_plan *p = plan_of(&d);
	gompi_is_progress_thread = true;
	CHECK(!gompi_plan_poll(p) && p->needs_app_thread && go_call_count == 0,
	      "the progress thread has called the application");
	gompi_is_progress_thread = false;
	CHECK(gompi_plan_poll(p) && go_call_count == 2, "%d steps, 2 before the error", go_call_count);
	CHECK(p->error.class == MPI_ERR_OTHER, "class %d", p->error.class);
	CHECK(gompi_plan_poll(p) && go_call_count == 2, "a plan that is over goes on");
	end_plans(&p, 1);
}

static void abandoned_plan(void) {
	char to[8] = "........";
	struct draft d;
	begin_draft(&d, 0, 9);
	add(&d, STEP_RECV, 1, NULL, to, sizeof to);
	struct gompi_plan *p = plan_of(&d);
	CHECK(!gompi_plan_poll(p), "nothing was sent");
	gompi_plan_abandon(p, MPI_ERR_PROC_ABORTED, "rank 1 has failed");
	CHECK(gompi_plan_poll(p) && p->error.class == MPI_ERR_PROC_ABORTED, "class %d", p->error.class);
	end_plans(&p, 1);
	begin_draft(&d, 1, 9);
	add(&d, STEP_SEND, 0, "too late", NULL, sizeof to);
	p = plan_of(&d);
	for (int i = 0; i < 100; i++) {
		gompi_plan_poll(p);
		gompi_messages_progress_all(process[0]);
	}
	CHECK(memcmp(to, "........", sizeof to) == 0, "a plan that was given up receives");
	gompi_plan_free(p);
	gompi_engine_close_contexts(process[0], WORLD | 1, 1);
}

/* Returns true if process i was notified since the last call of this function. */
static bool was_notified(int i) {
	struct gompi_cell *cell = gompi_messages_cell(process[0], i);
	return gompi_swap_seq_cst(&cell->progress_sleeps, 1) == 0;
}

static void doorbells(void) {
	struct draft d;
	int64_t word[2] = {0};
	gompi_a32 *called = &gompi_messages_cell(process[0], 1)->needs_doorbell;
	struct gompi_plan *p[2];
	begin_draft(&d, 0, 3);
	add(&d, STEP_RECV, 1, NULL, &word[0], 8);
	p[0] = plan_of(&d);
	gompi_plan_poll(p[0]);
	was_notified(1);
	gompi_plan_remind(p[0]);
	CHECK(was_notified(1) && gompi_load(called) == 0, "the first time: called is %u", gompi_load(called));
	for (int i = 0; i < 2; i++) { /* member 2 sends to member 1: it must notify member 1 only the second time */
		begin_draft(&d, 2, 4 + i);
		add(&d, STEP_SEND, 1, &word[1], NULL, 8);
		struct gompi_plan *q = plan_of(&d);
		CHECK(gompi_plan_poll(q), "an eager send waits");
		CHECK(was_notified(1) == (i == 1), "message %d: notified or not", i);
		gompi_plan_free(q);
		gompi_plan_remind(p[0]);
		CHECK(was_notified(1) && gompi_load(called) == 1, "the second time: called is %u", gompi_load(called));
	}
	gompi_is_progress_thread = true;
	gompi_plan_remind(p[0]);
	gompi_is_progress_thread = false;
	CHECK(!was_notified(1), "a progress thread rings twice at one step");
	/* The notified member activates and deactivates a plan. When it has no active plan, needs_doorbell is reset. */
	begin_draft(&d, 1, 4);
	add(&d, STEP_RECV, 2, NULL, &word[1], 8);
	p[1] = plan_of(&d);
	gompi_plan_activate(p[1]);
	gompi_plan_deactivate(p[1]);
	CHECK(gompi_plan_poll(p[1]) && gompi_load(called) == 0, "called still, with nothing under way");
	gompi_plan_abandon(p[0], MPI_ERR_PROC_ABORTED, "enough");
	for (int i = 0; i < 2; i++)
		gompi_plan_free(p[i]);
	gompi_engine_close_contexts(process[1], WORLD | 1, 1);
	check_idle(MEMBERS);
	for (int i = 0; i < MEMBERS; i++)
		gompi_store(&gompi_messages_cell(process[0], i)->progress_sleeps, 0);
}

/* Plans on which two threads make progress at the same time. */
static struct gompi_plan *both[2];
static gompi_a32 finished;
static void *poll_both(void *arg) {
	while (gompi_load_acquire(&finished) == 0)
		for (int i = 0; i < 2; i++) {
			gompi_messages_progress_all(process[i]);
			gompi_plan_poll(both[i]);
			gompi_plan_remind(both[i]);
		}
	return arg;
}

static void many_threads(void) {
	enum { ROUNDS = 10, TIMES = 200 };
	pthread_t thread;
	for (int time = 0; time < TIMES; time++) {
		static struct draft d[2];
		int64_t at[2][ROUNDS] = {{0}};
		static int64_t from[ROUNDS];
		for (int k = 0; k < ROUNDS; k++)
			from[k] = time * ROUNDS + k;
		for (int i = 0; i < 2; i++) {
			begin_draft(&d[i], i, time);
			for (int k = 0; k < ROUNDS; k++) {
				add(&d[i], STEP_SEND, !i, &from[k], NULL, 8);
				add(&d[i], STEP_RECV, !i, NULL, &at[i][k], 8);
				add(&d[i], STEP_WAIT, 0, NULL, NULL, 0);
			}
			both[i] = plan_of(&d[i]);
		}
		gompi_store(&finished, 0);
		if (pthread_create(&thread, NULL, poll_both, NULL) != 0)
			abort();
		bool over = run_all(both, 2);
		gompi_store_release(&finished, 1);
		pthread_join(thread, NULL);
		CHECK(over && memcmp(at[0], from, sizeof from) == 0 && memcmp(at[1], from, sizeof from) == 0,
		      "time %d: not what was sent", time);
		end_plans(both, 2);
	}
}

/* Tests requests of plans: the engine's progress completes them, and persistent requests can be restarted. */
static void as_requests(bool persistent) {
	enum { TIMES = 50 };
	static struct draft d[MEMBERS];
	struct gompi_plan *plan[MEMBERS];
	struct gompi_request *r[MEMBERS];
	double in[MEMBERS], out[MEMBERS];
	freed_count = 0;
	for (int i = 0; i < MEMBERS; i++) {
		in[i] = i + 1;
		draft_sum(&d[i], i, 77, &in[i], &out[i], 1, -1, 0);
		d[i].head.go_handle = 7;
		plan[i] = plan_of(&d[i]);
		r[i] = NULL;
		if (!persistent)
			continue;
		r[i] = gompi_plan_request(plan[i], PLAN_PERSISTENT);
		CHECK(r[i] != NULL && gompi_load(&r[i]->state) == REQUEST_INACTIVE, "member %d: not inactive", i);
		CHECK(gompi_plan_to_cache() == plan[i] && !gompi_plan_reuse(plan[i]), "member %d's plan is free", i);
	}
	struct gompi_error_status v;
	for (int time = 0; time < TIMES; time++) {
		for (int i = 0; i < MEMBERS; i++) {
			out[i] = 0;
			if (persistent) {
				gompi_store(&r[i]->state, REQUEST_ACTIVE);
				CHECK(r[i]->kind->start(r[i], &v) == MPI_SUCCESS, "time %d: member %d does not start",
				      time, i);
				continue;
			}
			CHECK(time == 0 || gompi_plan_reuse(plan[i]), "time %d: member %d's plan is in use", time, i);
			CHECK(!gompi_plan_reuse(plan[i]), "time %d: member %d's plan is for two", time, i);
			r[i] = gompi_plan_request(plan[i], time == 0 ? PLAN_ONCE_CACHED : PLAN_ONCE);
			if (time == 0)
				CHECK(gompi_plan_to_cache() == plan[i], "member %d's plan is not cached", i);
		}
		int over = 0;
		for (int turn = 0; turn < 1000 && over < MEMBERS; turn++) {
			over = 0;
			for (int i = 0; i < MEMBERS; i++) {
				gompi_messages_progress_all(process[i]);
				gompi_messages_run_plans(process[i]);
				over += gompi_is_complete(r[i]);
			}
		}
		CHECK(over == MEMBERS, "time %d: %d are over", time, over);
		for (int i = 0; i < MEMBERS; i++) {
			CHECK(out[i] == 6 && r[i]->result.class == MPI_SUCCESS, "member %d: %g", i, out[i]);
			if (persistent)
				gompi_store(&r[i]->state, REQUEST_INACTIVE);
			else
				gompi_request_destroy(r[i], &v);
		}
		CHECK(freed_count == 0, "time %d: %d plans are freed", time, freed_count);
	}
	for (int i = 0; i < MEMBERS; i++) {
		if (persistent) {
			gompi_request_destroy(r[i], &v);
			CHECK(freed_count == i && gompi_plan_reuse(plan[i]), "member %d's plan is not cached", i);
			gompi_plan_return(plan[i]);
		}
		gompi_plan_uncache(plan[i]);
		free(d[i].values);
	}
	CHECK(freed_count == MEMBERS, "%d of %d plans are freed", freed_count, MEMBERS);
	check_idle(MEMBERS);
}

/* Tests gompi_plan_uncache of a plan whose request is complete: it frees the plan at once. The request still reports
 * the plan's error afterwards. */
static void uncached_plan(void) {
	struct draft d;
	begin_draft(&d, 0, 1);
	d.head.go_handle = 7;
	add(&d, STEP_CALL_GO, 0, NULL, NULL, 6);
	struct gompi_plan *p = plan_of(&d);
	struct gompi_request *r = gompi_plan_request(p, PLAN_ONCE_CACHED);
	struct gompi_error_status v = {0};
	freed_count = 0;
	CHECK(gompi_is_complete(r) && r->result.class == MPI_ERR_OTHER, "class %d", r->result.class);
	CHECK(gompi_plan_to_cache() == p && gompi_plan_to_cache() == NULL && freed_count == 0, "it is not cached");
	gompi_plan_uncache(p);
	CHECK(freed_count == 1, "it is over, and still there");
	CHECK(gompi_request_destroy(r, &v) == MPI_ERR_OTHER && v.class == MPI_ERR_OTHER && freed_count == 1,
	      "class %d, %d freed", v.class, freed_count);
}

int main(void) {
	open_on_one_node(MEMBERS, MEMBERS, NULL, false);
	in_rounds();
	application_steps();
	abandoned_plan();
	doorbells();
	many_threads();
	as_requests(true);
	as_requests(false);
	uncached_plan();
	return unit_end();
}
