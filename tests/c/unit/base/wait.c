/* Proves: each wake function ends a wait (base/wait.h), whether the wait's condition becomes true before, while or
 * after the thread goes to sleep. The waiting thread serves the pending work of its process. The failure of a process
 * ends the wait, also during a sleep. When a wait ends, it restores the counts of pollers and blocked threads. On an
 * oversubscribed node, waits poll only briefly after many waits whose polling was useless. A lost wake-up would make
 * the test hang. */
#include "../unit.h"

#include "base/call_name.h"
#include "base/error_status.h"
#include "base/tuning.h"
#include "transport/progress_thread.h"

/* --- Hand-overs: the threads take turns; each thread ends its turn by waking the next one */

enum { MAX_WAITERS = 4, HAND_OVERS = UNIT_REPEATS(60000) };
enum waker { WAKE, WAKE_CHANGED, WAKE_TWO, WAKE_BITS, WAKERS };

static int n;
static bool share_one_word; /* all threads sleep on one word */
static enum waker waker;
static gompi_a32 *turn;
static struct gompi_waitword *word;
static long payload; /* not atomic: each hand-over orders the accesses */

struct my_turn {
	uint32_t number;
};

static bool is_turn(void *arg) { return gompi_load_acquire(turn) == ((struct my_turn *)arg)->number; }

static void hand_over(int i) {
	const struct gompi_wait_desc what = {
		.call = "hand-over", .peer = -1, .wake_bits = waker == WAKE_BITS ? 1u << i : 0};
	uint64_t random = (uint64_t)i;
	for (uint32_t k = (uint32_t)i; k < HAND_OVERS; k += (uint32_t)n) {
		struct my_turn t = {k};
		CHECK(gompi_await(&word[share_one_word ? 0 : i], is_turn, &t, &what) == MPI_SUCCESS, "the wait failed");
		CHECK(payload == k, "payload %ld at turn %u", payload, k);
		payload++;
		struct gompi_waitword *next = &word[share_one_word ? 0 : (i + 1) % n];
		/* Wakes the next thread in one of two states. Either all other threads are asleep, or a random delay
		 * has passed, so that the next thread may just be going to sleep. */
		if (unit_hurry && k % 8 == 0 && k + 1 < HAND_OVERS - (uint32_t)n)
			UNIT_UNTIL(gompi_load(&unit_asleep) == (uint32_t)n - 1);
		else
			for (uint64_t delay = check_random(&random) % 2048; delay > 0; delay--)
				gompi_compiler_fence();
		switch (waker) {
		case WAKE:
			gompi_store_release(turn, k + 1);
			gompi_wake(next);
			break;
		case WAKE_CHANGED:
			gompi_add_seq_cst(turn, 1);
			gompi_wake_after_rmw(next);
			break;
		case WAKE_BITS:
			gompi_add_seq_cst(turn, 1);
			gompi_wake_bits_after_rmw(next, 1u << ((i + 1) % n));
			break;
		default:
			gompi_store_release(turn, k + 1);
			gompi_wake_two(&word[MAX_WAITERS], next);
		}
	}
}

static void hand_overs(bool oversubscribed) {
	gompi_node.policy.is_oversubscribed = oversubscribed;
	for (n = 2; n <= MAX_WAITERS; n++) {
		char *memory = unit_memory(4096);
		turn = (gompi_a32 *)memory;
		word = (struct gompi_waitword *)(memory + GOMPI_CACHE_LINE);
		waker = (enum waker)((n + oversubscribed) % WAKERS);
		share_one_word = n == 3;
		payload = 0;
		unit_threads(n, hand_over);
	}
}

/* --- Services */

static int pending_work, quick_serves, full_serves;

static bool has_pending_work(void) { return pending_work > 0; }
static bool do_one_unit(void) {
	bool worked = pending_work > 0;
	pending_work -= worked;
	quick_serves++;
	return worked;
}
/* Serves as the has_work function of a service. It always returns false, so only a thread about to sleep serves the
 * service. */
static bool never_ready(void) { return false; }
static bool count_thorough(void) {
	full_serves++;
	return false;
}

/* Number of polls and of ended waits of a service whose poll function is expensive and which has an on_wait_end
 * function. */
static int expensive_polls, ends;
static bool always_ready(void) { return true; }
static bool poll_expensive(void) {
	expensive_polls++;
	return false;
}
static void count_wait_end(void) { ends++; }

/* Serves as the condition of a wait, which becomes true after *arg polls. The last poll also adds work, as another
 * thread would do that has seen this thread poll and relies on it to do the work. */
static bool true_at_last(void *arg) {
	int *more = arg;
	if (--*more > 0)
		return false;
	pending_work = 3;
	expensive_polls = 0;
	return true;
}

static bool has_no_work(void *arg) {
	(void)arg;
	return pending_work == 0;
}

static void services(void) {
	static const struct gompi_service a = {.has_work = has_pending_work, .serve = do_one_unit},
					  b = {.has_work = never_ready, .serve = count_thorough},
					  c = {.has_work = always_ready,
					       .serve = poll_expensive,
					       .on_wait_end = count_wait_end};
	static const struct gompi_wait_desc what = {.call = "service", .peer = -1, .object = 0};
	struct gompi_waitword *w = (struct gompi_waitword *)unit_memory(4096);
	gompi_service_add(&a);
	gompi_service_add(&b);
	gompi_service_add(&a);
	pending_work = 1;
	CHECK(gompi_serve() && pending_work == 0 && quick_serves == 1, "what is there twice is served %d times",
	      quick_serves);
	pending_work = 5;
	CHECK(gompi_await(w, has_no_work, NULL, &what) == MPI_SUCCESS && pending_work == 0, "%d are left",
	      pending_work);
	CHECK(full_serves > 0, "only what a look sees is served before a sleep");
	unit_sleep_forever = unit_hurry = false; /* no other thread wakes this thread, so it needs a time limit */
	gompi_service_add(&c);
	int more = gompi_node.policy.quiet_polls + 10;
	ends = 0;
	CHECK(gompi_await(w, true_at_last, &more, &what) == MPI_SUCCESS && pending_work == 2,
	      "of 3 that are left at the end %d are left", pending_work);
	CHECK(ends == 1 && expensive_polls == 0, "a dear service is told %d times of an end, and looked at %d times",
	      ends, expensive_polls);
}

/* --- Failure of a process */

static int failure_checks;
static bool never(void *arg) {
	(void)arg;
	return false;
}
static void fail_process_3(void) {
	failure_checks++;
	gompi_store(&gompi_cell(3)->state, GOMPI_STATE_FAILED);
	gompi_store(&gompi_cell(3)->pid, 77);
	gompi_store_seq_cst(&gompi_node_header()->failed_count, 1);
}

static void check_idle(void) {
	struct gompi_cell *c = gompi_my_cell();
	CHECK(gompi_load(&c->poller_count) == 0 && gompi_load(&c->blocked_count) == 0,
	      "%d pollers, %d blocked at the end", gompi_load(&c->poller_count), gompi_load(&c->blocked_count));
	for (int i = 0; i < GOMPI_WAIT_RECORDS; i++)
		CHECK(gompi_load(&c->wait_records[i].state) == RECORD_FREE, "record %d still tells of a wait", i);
	CHECK(gompi_load(&c->unrecorded_waits) == 0, "%u more wait", gompi_load(&c->unrecorded_waits));
}

/* Tests a wait in steps, as Go uses it: the caller polls until the wait requests wake-ups (WAIT_ARMED). Then it checks
 * the condition once more before the step that sleeps. */
static void steps(void) {
	struct gompi_cell *c = gompi_my_cell();
	struct gompi_wait t;
	int polls = 0;
	gompi_call_name = "MPI_Wait";
	gompi_wait_begin(&t, -1, 9);
	CHECK(gompi_load(&c->poller_count) == 1 && gompi_load(&c->blocked_count) == 1, "%d pollers, %d blocked",
	      gompi_load(&c->poller_count), gompi_load(&c->blocked_count));
	for (; t.stage == WAIT_POLLING; polls++)
		CHECK(gompi_wait_step(&t) == MPI_SUCCESS, "step %d", polls);
	CHECK(polls > 0 && t.stage == WAIT_ARMED && gompi_load(&c->wait.has_sleepers) == 1,
	      "it does not ask to be woken");
	CHECK(gompi_load(&c->wait_records[0].state) == RECORD_PUBLISHED && gompi_load(&c->wait_records[0].object) == 9,
	      "nobody is told");
	gompi_wake(&c->wait); /* the wake-up precedes the sleep, so the sleep ends at once */
	unit_sleep_forever = true, unit_hurry = false;
	CHECK(gompi_wait_step(&t) == MPI_SUCCESS && t.stage == WAIT_WOKEN, "stage %d", t.stage);
	CHECK(gompi_load(&c->wait.has_sleepers) == 0, "a wait that is over would be woken");
	CHECK(gompi_wait_step(&t) == MPI_SUCCESS && t.stage == WAIT_ARMED, "stage %d", t.stage);
	gompi_store_seq_cst(&gompi_node_header()->failed_count, 1);
	CHECK(gompi_wait_step(&t) == MPI_ERR_PROC_ABORTED, "a death does not end it");
	gompi_store_seq_cst(&gompi_node_header()->failed_count, 0);
	gompi_wait_end(&t);
	unit_hurry = true;
	gompi_call_name = NULL;
	check_idle();
}

/* Returns the number of polls of a wait that nothing ends before it would sleep, without the polls at its start that do
 * not read the clock. */
static int useless_polls(void) {
	struct gompi_wait t;
	int polls = 0;
	gompi_wait_begin(&t, -1, 9);
	for (; t.stage == WAIT_POLLING; polls++)
		gompi_wait_step(&t);
	gompi_wait_end(&t);
	return gompi_node.policy.is_oversubscribed ? polls : polls - GOMPI_PAUSED_POLLS;
}

static void waits_that_do_not_sleep(int count) {
	for (int i = 0; i < count; i++) {
		struct gompi_wait t;
		gompi_wait_begin(&t, -1, 9);
		gompi_wait_end(&t);
	}
}

static void leave_brief_polls(void) { waits_that_do_not_sleep(GOMPI_USELESS_POLLING_MAX + GOMPI_BRIEF_WAITS); }

static void brief_polls(void) {
	const struct gompi_wait_policy before = gompi_node.policy;
	enum { BRIEF = 3 };
	unit_hurry = true; /* a poll takes a millisecond */
	gompi_node.policy.poll_ns = 20000000;
	gompi_node.policy.long_yield_ns = 1000000000;
	for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
		gompi_node.policy.is_oversubscribed = oversubscribed;
		leave_brief_polls();
		for (int i = 0; i <= GOMPI_USELESS_POLLING_MAX / GOMPI_USELESS_POLLING; i++)
			CHECK(useless_polls() > BRIEF, "wait %d polls only briefly", i);
		for (int round = 0; round < 2; round++) {
			CHECK((useless_polls() < BRIEF) == oversubscribed, "round %d: the first wait", round);
			waits_that_do_not_sleep(GOMPI_BRIEF_WAITS - 2);
			CHECK((useless_polls() < BRIEF) == oversubscribed, "round %d: the last wait", round);
			CHECK(useless_polls() > BRIEF, "round %d: the waits do not try again", round);
		}
	}
	/* the other processes of the node end, and there is a core for each remaining process */
	gompi_node.policy.is_oversubscribed = false;
	CHECK(useless_polls() > BRIEF, "a wait polls only briefly, although the node is no longer oversubscribed");
	gompi_node.policy.is_oversubscribed = true;
	leave_brief_polls();
	gompi_node.policy = before;
	check_idle();
}

/* Checks that each waiting thread gets a wait record while records are available. Threads without a record are only
 * counted (unrecorded_waits). */
static void records(void) {
	struct gompi_cell *c = gompi_my_cell();
	enum { THREADS = GOMPI_WAIT_THREADS + 3 };
	int record[THREADS];
	for (int i = 0; i < THREADS; i++)
		record[i] = gompi_publish_wait(
			&(struct gompi_wait_desc){.call = "MPI_Recv", .peer = GOMPI_PEERS_ANY, .object = (uint64_t)i});
	CHECK(gompi_load(&c->unrecorded_waits) == 3, "%u more wait", gompi_load(&c->unrecorded_waits));
	for (int i = 0; i < GOMPI_WAIT_THREADS; i++)
		CHECK(gompi_load(&c->wait_records[i].state) == RECORD_PUBLISHED &&
			      gompi_load(&c->wait_records[i].object) == (uint64_t)i &&
			      gompi_load(&c->wait_records[i].peer) == GOMPI_PEERS_ANY,
		      "record %d is of another", i);
	gompi_withdraw_wait(record[5]);
	CHECK(gompi_load(&c->wait_records[5].state) == RECORD_FREE, "a wait that is over is told of");
	record[5] = gompi_publish_wait(&(struct gompi_wait_desc){.call = "MPI_Send", .peer = 2, .object = 1});
	CHECK(record[5] == 5 && gompi_load(&c->wait_records[5].peer) == 2, "a free record is not used again");
	CHECK(gompi_publish_wait(&(struct gompi_wait_desc){.call = NULL, .peer = -1, .object = 0}) < 0,
	      "a thread in no call tells");
	for (int i = 0; i < THREADS; i++)
		gompi_withdraw_wait(record[i]);
	check_idle();
}

/* event_total: number of events, any of which ends the wait, like the requests of MPI_Waitany. Events with odd numbers
 * have already occurred. pending_members: number of members for which each event still waits. */
static int event_total, pending_members;
static int describe_event(const void *on, int first, struct gompi_wait_desc *desc, struct gompi_wait_details *t) {
	(void)on;
	first += first % 2;
	if (first >= event_total)
		return -1;
	desc->peer = first;
	desc->reason = GOMPI_FOR_COLLECTIVE;
	t->operation = "MPI_Ibarrier";
	t->pending_count = pending_members;
	t->missing_bitmap[1] = (uint64_t)pending_members;
	return first;
}

/* Checks that a wait for any of several events gets an additional wait record for each event, while records are
 * free. */
static void parts(void) {
	struct gompi_cell *c = gompi_my_cell();
	enum { ROOM = GOMPI_WAIT_RECORDS - GOMPI_WAIT_THREADS };
	const struct gompi_wait_desc several = {
		.call = "MPI_Waitany", .peer = GOMPI_PEERS_SEVERAL, .fill_details = describe_event};
	struct gompi_wait_desc one = several;
	one.peer = GOMPI_PEERS_ALL;
	event_total = 5, pending_members = 2;
	int first = gompi_publish_wait(&several), single = gompi_publish_wait(&one);
	event_total = 2 * ROOM;
	int second = gompi_publish_wait(&several);
	CHECK(gompi_load(&c->wait_records[first].event_count) == 3 &&
		      gompi_load(&c->wait_records[second].event_count) == ROOM,
	      "%d and %d parts", gompi_load(&c->wait_records[first].event_count),
	      gompi_load(&c->wait_records[second].event_count));
	CHECK(gompi_load(&c->wait_records[single].peer) == 0 && gompi_load(&c->wait_records[single].event_count) == 0 &&
		      gompi_load(&c->wait_records[single].pending_count) == 2 &&
		      gompi_load(&c->wait_records[single].missing_bitmap[1]) == 2 &&
		      gompi_load(&c->wait_records[single].operation[4]) == 'I',
	      "what a wait is for is not found out");
	for (int i = 0; i < ROOM; i++) {
		struct gompi_wait_record *r = &c->wait_records[GOMPI_WAIT_THREADS + i];
		CHECK(gompi_load(&r->state) == RECORD_PUBLISHED &&
			      gompi_load(&r->parent_record) == (i < 3 ? first : second) + 1 &&
			      gompi_load(&r->peer) == 2 * (i < 3 ? i : i - 3),
		      "part %d is of %d and for %d", i, gompi_load(&r->parent_record), gompi_load(&r->peer));
	}
	gompi_withdraw_wait(second);
	for (int i = 0; i < ROOM; i++)
		CHECK(gompi_load(&c->wait_records[GOMPI_WAIT_THREADS + i].state) ==
			      (i < 3 ? RECORD_PUBLISHED : RECORD_FREE),
		      "part %d outlives its wait", i);
	gompi_withdraw_wait(first);
	gompi_withdraw_wait(single);
	check_idle();
}

/* The processes that are members of the object with handle 9 and id 90; the test fills in the list. */
static struct gompi_ranks detail_ranks;

static bool nothing_to_do(void) { return false; }

static bool fill_object_9(const struct gompi_wait_desc *desc, struct gompi_wait_details *t) {
	if (desc->object != 9)
		return false;
	t->id = 90;
	t->pending_count = 2;
	gompi_fill_wait_ranks(t, &detail_ranks);
	memset(t->name, 'n', 30);
	return true;
}

static struct gompi_wait_record *record_of(uint64_t object, bool all) {
	struct gompi_wait_record *r = &gompi_my_cell()->wait_records[0];
	const uint32_t number = gompi_load(&r->wait_count);
	int record = gompi_publish_wait(&(struct gompi_wait_desc){.call = "MPI_Recv",
								  .peer = 1,
								  .tag = 7,
								  .object = object,
								  .reason = GOMPI_FOR_MESSAGE,
								  .depends_on_all = all});
	CHECK(record == 0 && gompi_load(&r->wait_count) == number + 1, "a wait does not count");
	gompi_withdraw_wait(record);
	return r;
}

static void wait_details(void) {
	static const struct gompi_service service = {
		.has_work = nothing_to_do, .serve = nothing_to_do, .fill_details = fill_object_9};
	gompi_service_add(&service);
	struct gompi_wait_record *r = record_of(8, false);
	CHECK(gompi_load(&r->id) == 0 && gompi_load(&r->member_count) == 0 && gompi_load(&r->name[0]) == 0,
	      "an object that nobody knows has something");
	CHECK(gompi_load(&r->tag) == 7 && gompi_load(&r->reason) == GOMPI_FOR_MESSAGE, "tag %d, reason %u",
	      gompi_load(&r->tag), gompi_load(&r->reason));
	CHECK(gompi_load(&r->thread) == (int)getpid(), "thread %d", gompi_load(&r->thread));
	static const struct {
		int n, rank[6], stride;
	} lists[] = {
		{1, {5}, 1},
		{2, {5, 2}, -3},
		{3, {1, 4, 7}, 3},
		{3, {1, 4, 6}, 0},
		{6, {0, 2, 4, 6, 8, 10}, 2},
		{6, {0, 2, 4, 6, 8, 11}, 0},
	};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct gompi_ranks_list *list = malloc(sizeof *list + sizeof lists[i].rank);
		memcpy(list->rank, lists[i].rank, sizeof lists[i].rank);
		for (int regular = 0; regular <= (lists[i].stride != 0); regular++) {
			detail_ranks = (struct gompi_ranks){.n = lists[i].n,
							    .first = lists[i].rank[0],
							    .stride = lists[i].stride,
							    .list = regular ? NULL : list->rank};
			r = record_of(9, regular);
			CHECK(gompi_load(&r->member_count) == lists[i].n && gompi_load(&r->stride) == lists[i].stride,
			      "list %zu: %d members at a distance of %d", i, gompi_load(&r->member_count),
			      gompi_load(&r->stride));
			for (int k = 0; k < lists[i].n && k < GOMPI_WAIT_RECORD_MEMBERS; k++)
				CHECK(gompi_load(&r->member[k]) == lists[i].rank[k], "list %zu: member %d", i, k);
			CHECK(gompi_load(&r->reason) == (GOMPI_FOR_MESSAGE | (regular ? WAIT_RECORD_ALL : 0u)),
			      "reason %u", gompi_load(&r->reason));
		}
		free(list);
	}
	CHECK(gompi_load(&r->id) == 90 && gompi_load(&r->pending_count) == 2 &&
		      gompi_load(&r->name[GOMPI_WAIT_RECORD_NAME_BYTES - 1]) == 'n',
	      "the wait description of the package is missing");
	check_idle();
}

/* Checks the table of progress threads: a thread that registers twice has one entry, and registering in a full table
 * changes nothing. */
static void own_threads(void) {
	struct gompi_cell *c = gompi_my_cell();
	gompi_add_progress_thread();
	gompi_add_progress_thread();
	CHECK(gompi_load(&c->progress_threads[0]) == (int)getpid() && gompi_load(&c->progress_threads[1]) == 0,
	      "this thread is not known once");
	for (int i = 0; i < GOMPI_PROGRESS_THREADS; i++)
		gompi_store(&c->progress_threads[i], 1);
	gompi_add_progress_thread();
	gompi_is_progress_thread = false;
}

/* Checks the line about a sleeping thread in the hang report. */
static void check_record_text(void) {
	struct gompi_cell *c = gompi_my_cell();
	struct gompi_wait_record *r = &c->wait_records[0];
	char call[sizeof r->call];
	for (size_t i = 0; i < sizeof call; i++)
		call[i] = gompi_load(&r->call[i]);
	CHECK(gompi_load(&r->state) == RECORD_PUBLISHED, "state %u", gompi_load(&r->state));
	CHECK(strcmp(call, "MPI_A_function_with_a_long_name") == 0, "waits in '%s'", call);
	CHECK(gompi_load(&r->peer) == 3 && gompi_load(&r->object) == 17, "for process %d, object %llu",
	      gompi_load(&r->peer), (unsigned long long)gompi_load(&r->object));
}

static void check_then_fail(void) {
	check_record_text();
	fail_process_3();
}

static void death(void) {
	static const struct gompi_wait_desc what = {
		.call = "MPI_A_function_with_a_long_name_and_more", .peer = 3, .object = 17};
	struct gompi_waitword *w = (struct gompi_waitword *)unit_memory(4096);
	/* No other thread wakes this thread. It wakes periodically and checks for failed processes. */
	unit_sleep_forever = unit_hurry = false;
	gompi_go_callbacks.find_failed = check_then_fail;
	CHECK(gompi_await(w, never, NULL, &what) == MPI_ERR_PROC_ABORTED, "a death did not end the wait");
	CHECK(failure_checks == 1, "looked for the dead %d times", failure_checks);
	const char *text = gompi_failure_text();
	CHECK(strstr(text, "rank 3 of MPI_COMM_WORLD (pid 77)") != NULL, "'%s'", text);
}

/* Thread 0 waits for process 3, on a word that no other thread wakes. Thread 1 runs the progress thread. When both are
 * asleep, thread 2 marks process 3 as failed, as another process of the node would do. */
static struct gompi_waitword *unwoken;

static void run_death_while_asleep(int i) {
	static const struct gompi_wait_desc what = {.call = "MPI_Function", .peer = 3};
	switch (i) {
	case 0:
		CHECK(gompi_await(unwoken, never, NULL, &what) == MPI_ERR_PROC_ABORTED, "the wait returned no error");
		gompi_progress_stop();
		break;
	case 1:
		gompi_progress_run();
		break;
	case 2:
		UNIT_UNTIL(gompi_load(&unit_asleep) == 2);
		fail_process_3();
		gompi_cell_recheck_waits(gompi_my_cell());
	}
}

static void death_while_asleep(void) {
	unwoken = (struct gompi_waitword *)unit_memory(4096);
	gompi_progress_open();
	unit_threads(3, run_death_while_asleep);
	gompi_store(&gompi_cell(3)->state, GOMPI_STATE_RUNNING);
	gompi_store_seq_cst(&gompi_node_header()->failed_count, 0);
	failure_checks = 0;
}

int main(void) {
	unit_node(4);
	unit_sleep_forever = true;
	for (int hurry = 0; hurry < 2; hurry++) {
		unit_hurry = hurry; /* true: waiting threads sleep at once */
		hand_overs(hurry);
		check_idle();
	}
	steps();
	brief_polls();
	records();
	parts();
	wait_details();
	own_threads();
	death_while_asleep();
	CHECK(gompi_load(&unit_sleeps) > HAND_OVERS / 8, "only %llu sleeps",
	      (unsigned long long)gompi_load(&unit_sleeps));
	services();
	check_idle();
	death();
	check_idle();
	return unit_end();
}
