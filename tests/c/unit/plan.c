/* Proves: runs of plans (plan/run.c) do their steps in order and in rounds, whatever thread goes on with them; a member
 * whose lengths are wrong hears of it and so do those who get what it passes on, and nobody waits for ever; a step that
 * calls the application is left to its threads; a run that is given up leaves nothing under way. */
#include "processes.h"

#include "plan/plan.h"

enum { MOST_STEPS = 64, MEMBERS = 3 };

static struct gompi_plan *plan_of(int rank) {
	struct gompi_plan *p = calloc(1, sizeof *p + MOST_STEPS * sizeof p->step[0]);
	if (p == NULL)
		abort();
	p->source = rank;
	p->context[0] = WORLD | 1;
	return p;
}

static struct gompi_step *add(struct gompi_plan *p, enum gompi_step_kind kind, int peer, struct gompi_spot at,
			      int64_t bytes) {
	struct gompi_step *s = &p->step[p->steps++];
	*s = (struct gompi_step){
		.kind = (uint8_t)kind, .peer = peer, .world = peer, .from = at, .to = at, .bytes = bytes};
	p->most += kind <= STEP_RECV;
	return s;
}

static struct gompi_spot spot(int base, int64_t offset) {
	return (struct gompi_spot){.base = (uint8_t)base, .offset = offset};
}

/* Polls the runs in turn until all are over. Whether they were before long. */
static bool run_all(struct gompi_plan_run *run[], int n) {
	for (int turn = 0; turn < 100000; turn++) {
		int over = 0;
		for (int i = 0; i < n; i++) {
			gompi_messages_progress_all(process[i]);
			over += gompi_plan_poll(run[i], false);
		}
		if (over == n)
			return true;
	}
	return false;
}

static void end_runs(struct gompi_plan_run *run[], struct gompi_plan *plan[], int n) {
	for (int i = 0; i < n; i++) {
		gompi_plan_close(run[i]);
		free(plan[i]);
	}
	for (int i = 0; i < n; i++) {
		struct gompi_engine_stock s;
		gompi_engine_stock(process[i], &s);
		CHECK(s.posted == 0 && s.unexpected == 0 && s.sends == 0,
		      "%d: %lld posted, %lld unexpected, %lld sends", i, (long long)s.posted, (long long)s.unexpected,
		      (long long)s.sends);
	}
}

/* The sum of n doubles of all members: gathered at the first, which passes it on. wrong: the member that has so many
 * bytes more. */
static struct gompi_plan *sum_plan(int me, int64_t n, int wrong, int64_t more) {
	struct gompi_plan *p = plan_of(me);
	int64_t bytes = n * 8 + (me == wrong ? more : 0);
	p->own = bytes * MEMBERS;
	p->reduction.size = 8;
	p->reduction.kernel = gompi_op_kernel(MPI_SUM, MPI_DOUBLE);
	struct gompi_step *s = add(p, STEP_COPY, 0, spot(BASE_SEND, 0), bytes);
	s->to = spot(BASE_RECV, 0);
	if (me != 0) {
		add(p, STEP_SEND, 0, spot(BASE_SEND, 0), bytes);
		add(p, STEP_RECV, 0, spot(BASE_RECV, 0), bytes);
		add(p, STEP_WAIT, 0, spot(0, 0), 0);
		return p;
	}
	for (int i = 1; i < MEMBERS; i++)
		add(p, STEP_RECV, i, spot(BASE_OWN, i * bytes), bytes);
	add(p, STEP_WAIT, 0, spot(0, 0), 0);
	for (int i = 1; i < MEMBERS; i++) {
		s = add(p, STEP_COMBINE, 0, spot(BASE_OWN, i * bytes), bytes);
		s->to = spot(BASE_RECV, 0);
	}
	for (int i = 1; i < MEMBERS; i++)
		add(p, STEP_PASS, i, spot(BASE_RECV, 0), bytes);
	return p;
}

static void sums(int64_t n, int wrong, int64_t more) {
	struct gompi_plan *plan[MEMBERS];
	struct gompi_plan_run *run[MEMBERS];
	double *in[MEMBERS], *out[MEMBERS];
	for (int again = 0; again < 2; again++) {
		for (int i = 0; i < MEMBERS; i++) {
			plan[i] = sum_plan(i, n, wrong, more);
			in[i] = malloc((size_t)(n * 8 + 64));
			out[i] = calloc(1, (size_t)(n * 8 + 64));
			for (int64_t k = 0; k < n + 8; k++)
				in[i][k] = (double)(i + k);
			run[i] = gompi_plan_open(plan[i], process[i], in[i], out[i], again, again == 1);
		}
		CHECK(run_all(run, MEMBERS), "%lld doubles: the runs do not end", (long long)n);
		for (int i = 0; i < MEMBERS; i++) {
			bool told = run[i]->why.class != MPI_SUCCESS;
			CHECK(told == (wrong >= 0), "member %d: class %d", i, run[i]->why.class);
			for (int64_t k = 0; k < n && wrong < 0; k++)
				if (out[i][k] != (double)(3 * k + 3)) {
					CHECK(false, "member %d: element %lld is %g", i, (long long)k, out[i][k]);
					break;
				}
		}
		end_runs(run, plan, MEMBERS);
		for (int i = 0; i < MEMBERS; i++) {
			free(in[i]);
			free(out[i]);
		}
	}
}

static void in_rounds(void) {
	sums(1, -1, 0);
	sums(1000, -1, 0);
	sums(100000, -1, 0); /* more than a record */
	for (int wrong = 0; wrong < MEMBERS; wrong++) {
		sums(3, wrong, 8);
		sums(3, wrong, -8);
		sums(20000, wrong, 8);
	}
}

/* What calls the application waits for one of its threads. */
static int asked;
static int ask(uintptr_t go, int64_t what, struct gompi_verdict *v) {
	asked++;
	return go == 7 && what == 5 ? MPI_SUCCESS : gompi_wrong(v, MPI_ERR_OTHER, "%d", (int)what);
}

static void for_the_application(void) {
	struct gompi_plan *p = plan_of(0);
	p->asks = true;
	add(p, STEP_GO, 0, spot(0, 0), 0)->count = 5;
	add(p, STEP_GO, 0, spot(0, 0), 0)->count = 6;
	add(p, STEP_GO, 0, spot(0, 0), 0)->count = 5;
	gompi_plan_go = ask;
	struct gompi_plan_run *run = gompi_plan_open(p, process[0], NULL, NULL, 1, false);
	run->go = 7;
	CHECK(!gompi_plan_poll(run, true) && run->stalled && asked == 0, "the agent has called the application");
	CHECK(gompi_plan_poll(run, false) && asked == 2, "%d steps, 2 before the error", asked);
	CHECK(run->why.class == MPI_ERR_OTHER, "class %d", run->why.class);
	CHECK(gompi_plan_poll(run, false) && asked == 2, "a run that is over goes on");
	end_runs(&run, &p, 1);
}

static void given_up(void) {
	char to[8] = "........";
	struct gompi_plan *p = plan_of(0);
	add(p, STEP_RECV, 1, spot(BASE_RECV, 0), sizeof to);
	struct gompi_plan_run *run = gompi_plan_open(p, process[0], NULL, to, 9, false);
	CHECK(!gompi_plan_poll(run, false), "nothing was sent");
	gompi_plan_abandon(run, MPI_ERR_PROC_ABORTED, "rank 1 is gone");
	CHECK(gompi_plan_poll(run, false) && run->why.class == MPI_ERR_PROC_ABORTED, "class %d", run->why.class);
	end_runs(&run, &p, 1);
	struct gompi_plan *q = plan_of(1);
	add(q, STEP_SEND, 0, spot(BASE_SEND, 0), sizeof to);
	run = gompi_plan_open(q, process[1], "too late", NULL, 9, false);
	for (int i = 0; i < 100; i++) {
		gompi_plan_poll(run, false);
		gompi_messages_progress_all(process[0]);
	}
	CHECK(memcmp(to, "........", sizeof to) == 0, "a run that was given up receives");
	gompi_plan_close(run);
	free(q);
	gompi_engine_forget(process[0], WORLD | 1);
}

/* Several threads go on with the same runs. */
static struct gompi_plan_run *both[2];
static gompi_a32 finished;
static void *poll_both(void *arg) {
	while (gompi_load_acquire(&finished) == 0)
		for (int i = 0; i < 2; i++) {
			gompi_messages_progress_all(process[i]);
			gompi_plan_poll(both[i], false);
		}
	return arg;
}

static void by_threads(void) {
	enum { ROUNDS = 10, TIMES = 200 };
	pthread_t thread;
	for (int time = 0; time < TIMES; time++) {
		struct gompi_plan *plan[2];
		int64_t at[2][ROUNDS] = {{0}};
		for (int i = 0; i < 2; i++) {
			plan[i] = plan_of(i);
			for (int k = 0; k < ROUNDS; k++) {
				add(plan[i], STEP_SEND, !i, spot(BASE_SEND, 8 * k), 8);
				add(plan[i], STEP_RECV, !i, spot(BASE_RECV, 8 * k), 8);
				add(plan[i], STEP_WAIT, 0, spot(0, 0), 0);
			}
		}
		static int64_t from[ROUNDS];
		for (int k = 0; k < ROUNDS; k++)
			from[k] = time * ROUNDS + k;
		for (int i = 0; i < 2; i++)
			both[i] = gompi_plan_open(plan[i], process[i], from, at[i], time, false);
		gompi_store(&finished, 0);
		if (pthread_create(&thread, NULL, poll_both, NULL) != 0)
			abort();
		bool over = run_all(both, 2);
		gompi_store_release(&finished, 1);
		pthread_join(thread, NULL);
		CHECK(over && memcmp(at[0], from, sizeof from) == 0 && memcmp(at[1], from, sizeof from) == 0,
		      "time %d: not what was sent", time);
		end_runs(both, plan, 2);
	}
}

/* Requests of runs: the engine goes on with them; persistent ones begin again. */
static void as_requests(void) {
	enum { TIMES = 50 };
	struct gompi_plan *plan[MEMBERS];
	struct gompi_request *r[MEMBERS];
	double in[MEMBERS], out[MEMBERS];
	uintptr_t handle;
	for (int i = 0; i < MEMBERS; i++) {
		plan[i] = sum_plan(i, 1, -1, 0);
		in[i] = i + 1;
		gompi_store_release(&gompi_messages_here, process[i]);
		r[i] = gompi_plan_request(gompi_plan_open(plan[i], process[i], &in[i], &out[i], 77, true), true,
					  &handle);
		CHECK(r[i] != NULL && gompi_load(&r[i]->state) == REQUEST_INACTIVE, "member %d: not inactive", i);
	}
	for (int time = 0; time < TIMES; time++) {
		struct gompi_verdict v;
		for (int i = 0; i < MEMBERS; i++) {
			out[i] = 0;
			gompi_store(&r[i]->state, REQUEST_ACTIVE);
			CHECK(r[i]->kind->start(r[i], &v) == MPI_SUCCESS, "time %d: member %d does not start", time, i);
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
			CHECK((gompi_load(&process[i]->hooks) & HOOK_RUNS) == 0, "runs are still under way");
			gompi_store(&r[i]->state, REQUEST_INACTIVE);
		}
	}
	for (int i = 0; i < MEMBERS; i++) {
		struct gompi_verdict v;
		gompi_request_forget(r[i], &v);
		free(plan[i]);
	}
	gompi_store_release(&gompi_messages_here, NULL);
}

int main(void) {
	open_here(MEMBERS, MEMBERS, NULL, false);
	in_rounds();
	for_the_application();
	given_up();
	by_threads();
	as_requests();
	return unit_end();
}
