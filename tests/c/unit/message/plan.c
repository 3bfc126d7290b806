/* Proves: plans (message/plan.c) run their steps in order and in rounds, whichever thread makes progress. A member
 * with wrong lengths gets an error, and so do the members that its data is forwarded to; no member waits forever. A
 * step that calls the application is left to the application's threads. An abandoned plan leaves nothing pending.
 * Requests of plans complete, restart, and release a plan that another owner keeps. A member that waits for a peer
 * notifies it. From the second notification on, other members notify that peer as well, until it has nothing
 * pending. */
#include "processes.h"

#include "base/call.h"
#include "message/plan.h"

enum { MOST_STEPS = 64, MEMBERS = 3 };

/* The draft of the plan of one member. */
struct draft {
	struct gompi_plan_head head;
	struct gompi_step step[MOST_STEPS];
	uint32_t n;
	double *own; /* memory of this member */
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

static void nothing_left(int n) {
	for (int i = 0; i < n; i++) {
		struct gompi_engine_stock s;
		gompi_engine_stock(process[i], &s);
		CHECK(s.posted == 0 && s.unexpected == 0 && s.sends == 0,
		      "%d: %lld posted, %lld unexpected, %lld sends", i, (long long)s.posted, (long long)s.unexpected,
		      (long long)s.sends);
		CHECK((gompi_load(&process[i]->hooks) & HOOK_PLANS) == 0, "%d: plans are still under way", i);
	}
}

static void end_plans(struct gompi_plan *plan[], int n) {
	for (int i = 0; i < n; i++)
		gompi_plan_free(plan[i]);
	nothing_left(n);
}

/* Drafts the sum of n doubles of all members: the first member gathers and then distributes it. wrong: the member that
 * has `more` additional bytes. */
static void draft_sum(struct draft *d, int me, int tag, double *in, double *out, int64_t n, int wrong, int64_t more) {
	begin_draft(d, me, tag);
	int64_t bytes = n * 8 + (me == wrong ? more : 0);
	d->head.op = (uintptr_t)MPI_SUM;
	d->head.datatype = (uintptr_t)MPI_DOUBLE;
	d->head.element = 8;
	add(d, STEP_COPY, 0, in, out, bytes);
	if (me != 0) {
		add(d, STEP_SEND, 0, in, NULL, bytes);
		add(d, STEP_RECV, 0, NULL, out, bytes);
		add(d, STEP_WAIT, 0, NULL, NULL, 0);
		return;
	}
	char *own = calloc(MEMBERS, (size_t)bytes + 1);
	d->own = (double *)(void *)own;
	for (int i = 1; i < MEMBERS; i++)
		add(d, STEP_RECV, i, NULL, own + i * bytes, bytes);
	add(d, STEP_WAIT, 0, NULL, NULL, 0);
	for (int i = 1; i < MEMBERS; i++)
		add(d, STEP_COMBINE, 0, own + i * bytes, out, bytes);
	for (int i = 1; i < MEMBERS; i++)
		add(d, STEP_PASS, i, out, NULL, bytes);
}

static void sums(int64_t n, int wrong, int64_t more) {
	struct gompi_plan *plan[MEMBERS];
	static struct draft draft[MEMBERS];
	double *in[MEMBERS], *out[MEMBERS];
	for (int again = 0; again < 2; again++) {
		for (int i = 0; i < MEMBERS; i++) {
			in[i] = malloc((size_t)(n * 8 + 64));
			out[i] = calloc(1, (size_t)(n * 8 + 64));
			for (int64_t k = 0; k < n + 8; k++)
				in[i][k] = (double)(i + k);
			draft_sum(&draft[i], i, again, in[i], out[i], n, wrong, more);
			draft[i].head.urgent = again == 1;
			plan[i] = plan_of(&draft[i]);
		}
		for (int turn = 0; turn < 2; turn++) { /* runs each plan twice */
			CHECK(run_all(plan, MEMBERS), "%lld doubles: the plans do not end", (long long)n);
			for (int i = 0; i < MEMBERS; i++) {
				bool told = plan[i]->why.class != MPI_SUCCESS;
				CHECK(told == (wrong >= 0), "member %d: class %d", i, plan[i]->why.class);
				for (int64_t k = 0; k < n && wrong < 0; k++)
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
			free(draft[i].own);
		}
	}
}

static void in_rounds(void) {
	sums(1, -1, 0);
	sums(1000, -1, 0);
	sums(100000, -1, 0); /* more than one record */
	for (int wrong = 0; wrong < MEMBERS; wrong++) {
		sums(3, wrong, 8);
		sums(3, wrong, -8);
		sums(20000, wrong, 8);
	}
}

/* A step that calls the application waits for one of its threads. A step that needs all lengths to be right is skipped
 * otherwise. */
static int asked, gone;
static int ask(uintptr_t go, int64_t what, char *text) {
	asked++;
	text[0] = 0;
	return go == 7 && what == 5 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static void tell_gone(uintptr_t go) { gone += go == 7; }

static void for_the_application(void) {
	struct draft d;
	begin_draft(&d, 0, 1);
	d.head.go = 7;
	add(&d, STEP_GO, 0, NULL, NULL, 5)->asks = true;
	add(&d, STEP_GO, 0, NULL, NULL, 6);
	add(&d, STEP_GO, 0, NULL, NULL, 5);
	gompi_plan_tell((void *)ask, (void *)tell_gone);
	struct gompi_plan *p = plan_of(&d);
	gompi_progress_thread = true;
	CHECK(!gompi_plan_poll(p) && p->stalled && asked == 0, "the agent has called the application");
	gompi_progress_thread = false;
	CHECK(gompi_plan_poll(p) && asked == 2, "%d steps, 2 before the error", asked);
	CHECK(p->why.class == MPI_ERR_OTHER, "class %d", p->why.class);
	CHECK(gompi_plan_poll(p) && asked == 2, "a plan that is over goes on");
	end_plans(&p, 1);
}

static void given_up(void) {
	char to[8] = "........";
	struct draft d;
	begin_draft(&d, 0, 9);
	add(&d, STEP_RECV, 1, NULL, to, sizeof to);
	struct gompi_plan *p = plan_of(&d);
	CHECK(!gompi_plan_poll(p), "nothing was sent");
	gompi_plan_abandon(p, MPI_ERR_PROC_ABORTED, "rank 1 is gone");
	CHECK(gompi_plan_poll(p) && p->why.class == MPI_ERR_PROC_ABORTED, "class %d", p->why.class);
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
	gompi_engine_forget(process[0], WORLD | 1, 1);
}

/* Returns true if process i was notified since the last call. */
static bool was_rung(int i) {
	struct gompi_cell *cell = gompi_messages_cell(process[0], i);
	return gompi_swap_total(&cell->thread_sleeps, 1) == 0;
}

static void bells(void) {
	struct draft d;
	int64_t word[2] = {0};
	gompi_a32 *called = &gompi_messages_cell(process[0], 1)->called;
	struct gompi_plan *p[2];
	begin_draft(&d, 0, 3);
	add(&d, STEP_RECV, 1, NULL, &word[0], 8);
	p[0] = plan_of(&d);
	gompi_plan_poll(p[0]);
	was_rung(1);
	gompi_plan_remind(p[0]);
	CHECK(was_rung(1) && gompi_load(called) == 0, "the first time: called is %u", gompi_load(called));
	for (int i = 0; i < 2; i++) { /* without a notification, and then with one */
		begin_draft(&d, 2, 4 + i);
		add(&d, STEP_SEND, 1, &word[1], NULL, 8);
		struct gompi_plan *q = plan_of(&d);
		CHECK(gompi_plan_poll(q), "an eager send waits");
		CHECK(was_rung(1) == (i == 1), "message %d: rung or not", i);
		gompi_plan_free(q);
		gompi_plan_remind(p[0]);
		CHECK(was_rung(1) && gompi_load(called) == 1, "the second time: called is %u", gompi_load(called));
	}
	gompi_progress_thread = true;
	gompi_plan_remind(p[0]);
	gompi_progress_thread = false;
	CHECK(!was_rung(1), "a progress thread rings twice at one step");
	/* The notified member receives the messages, has a plan pending, and then none. */
	begin_draft(&d, 1, 4);
	add(&d, STEP_RECV, 2, NULL, &word[1], 8);
	p[1] = plan_of(&d);
	gompi_plan_enter(p[1]);
	gompi_plan_leave(p[1]);
	CHECK(gompi_plan_poll(p[1]) && gompi_load(called) == 0, "called still, with nothing under way");
	gompi_plan_abandon(p[0], MPI_ERR_PROC_ABORTED, "enough");
	for (int i = 0; i < 2; i++)
		gompi_plan_free(p[i]);
	gompi_engine_forget(process[1], WORLD | 1, 1);
	nothing_left(MEMBERS);
	for (int i = 0; i < MEMBERS; i++)
		gompi_store(&gompi_messages_cell(process[0], i)->thread_sleeps, 0);
}

/* Several threads make progress on the same plans. */
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

static void by_threads(void) {
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

/* Requests of plans: the engine makes progress on them; persistent ones restart. */
static void as_requests(bool persistent) {
	enum { TIMES = 50 };
	static struct draft d[MEMBERS];
	struct gompi_plan *plan[MEMBERS];
	struct gompi_request *r[MEMBERS];
	double in[MEMBERS], out[MEMBERS];
	gone = 0;
	for (int i = 0; i < MEMBERS; i++) {
		in[i] = i + 1;
		draft_sum(&d[i], i, 77, &in[i], &out[i], 1, -1, 0);
		d[i].head.go = 7;
		plan[i] = plan_of(&d[i]);
		r[i] = NULL;
		if (!persistent)
			continue;
		r[i] = gompi_plan_request(plan[i], PLAN_AGAIN);
		CHECK(r[i] != NULL && gompi_load(&r[i]->state) == REQUEST_INACTIVE, "member %d: not inactive", i);
		CHECK(gompi_plan_for_later() == plan[i] && !gompi_plan_reuse(plan[i]), "member %d's plan is free", i);
	}
	struct gompi_verdict v;
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
			r[i] = gompi_plan_request(plan[i], time == 0 ? PLAN_KEEP : PLAN_ONCE);
			if (time == 0)
				CHECK(gompi_plan_for_later() == plan[i], "member %d's plan is not kept", i);
		}
		int over = 0;
		for (int turn = 0; turn < 1000 && over < MEMBERS; turn++) {
			over = 0;
			for (int i = 0; i < MEMBERS; i++) {
				gompi_messages_progress_all(process[i]);
				gompi_messages_step(process[i]);
				over += gompi_is_complete(r[i]);
			}
		}
		CHECK(over == MEMBERS, "time %d: %d are over", time, over);
		for (int i = 0; i < MEMBERS; i++) {
			CHECK(out[i] == 6 && r[i]->result.class == MPI_SUCCESS, "member %d: %g", i, out[i]);
			if (persistent)
				gompi_store(&r[i]->state, REQUEST_INACTIVE);
			else
				gompi_request_forget(r[i], &v);
		}
		CHECK(gone == 0, "time %d: %d plans are gone", time, gone);
	}
	for (int i = 0; i < MEMBERS; i++) {
		if (persistent) {
			gompi_request_forget(r[i], &v);
			CHECK(gone == i && gompi_plan_reuse(plan[i]), "member %d's plan is not kept", i);
			gompi_plan_leave_it(plan[i]);
		}
		gompi_plan_unkeep(plan[i]);
		free(d[i].own);
	}
	CHECK(gone == MEMBERS, "%d of %d plans are gone", gone, MEMBERS);
	nothing_left(MEMBERS);
}

/* Tests that a plan without an owner is freed with its request, which still reports the error afterwards. */
static void kept_no_longer(void) {
	struct draft d;
	begin_draft(&d, 0, 1);
	d.head.go = 7;
	add(&d, STEP_GO, 0, NULL, NULL, 6);
	struct gompi_plan *p = plan_of(&d);
	struct gompi_request *r = gompi_plan_request(p, PLAN_KEEP);
	struct gompi_verdict v = {0};
	gone = 0;
	CHECK(gompi_is_complete(r) && r->result.class == MPI_ERR_OTHER, "class %d", r->result.class);
	CHECK(gompi_plan_for_later() == p && gompi_plan_for_later() == NULL && gone == 0, "it is not kept");
	gompi_plan_unkeep(p);
	CHECK(gone == 1, "it is over, and still there");
	CHECK(gompi_request_forget(r, &v) == MPI_ERR_OTHER && v.class == MPI_ERR_OTHER && gone == 1,
	      "class %d, %d gone", v.class, gone);
}

int main(void) {
	open_here(MEMBERS, MEMBERS, NULL, false);
	in_rounds();
	for_the_application();
	given_up();
	bells();
	by_threads();
	as_requests(true);
	as_requests(false);
	kept_no_longer();
	return unit_end();
}
