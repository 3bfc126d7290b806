/* Proves: a wait (base/wait.h) detects its condition whether it becomes true before, while or after the thread goes to
 * sleep, and with each wake function. It serves the pending work of its process. A death ends it. It restores the
 * counts of pollers and blocked threads. A lost wake-up shows as a hang. */
#include "../unit.h"

#include "base/call.h"
#include "base/verdict.h"

/* --- Hand-overs: thread i waits for its turn, which its predecessor grants */

enum { MOST = 4, HAND_OVERS = UNIT_REPEATS(60000) };
enum waker { WAKE, WAKE_CHANGED, WAKE_TWO, WAKERS };

static int n;
static bool together; /* all threads sleep on one word */
static enum waker waker;
static gompi_a32 *turn;
static struct gompi_waitword *word;
static long payload; /* not atomic: each hand-over orders it */

struct my_turn {
	uint32_t number;
};

static bool is_turn(void *arg) { return gompi_load_acquire(turn) == ((struct my_turn *)arg)->number; }

static void hand_over(int i) {
	static const struct gompi_waiting what = {.call = "hand-over", .peer = -1, .object = 0};
	uint64_t random = (uint64_t)i;
	for (uint32_t k = (uint32_t)i; k < HAND_OVERS; k += (uint32_t)n) {
		struct my_turn t = {k};
		CHECK(gompi_await(&word[together ? 0 : i], is_turn, &t, &what) == MPI_SUCCESS, "the wait failed");
		CHECK(payload == k, "payload %ld at turn %u", payload, k);
		payload++;
		struct gompi_waitword *next = &word[together ? 0 : (i + 1) % n];
		/* Now all others sleep, or the next one is just going to sleep. */
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
			gompi_add_total(turn, 1);
			gompi_wake_changed(next);
			break;
		default:
			gompi_store_release(turn, k + 1);
			gompi_wake_two(&word[MOST], next);
		}
	}
}

static void hand_overs(bool oversubscribed) {
	gompi_node.policy.oversubscribed = oversubscribed;
	for (n = 2; n <= MOST; n++) {
		char *memory = unit_memory(4096);
		turn = (gompi_a32 *)memory;
		word = (struct gompi_waitword *)(memory + GOMPI_LINE);
		waker = (enum waker)((n + oversubscribed) % WAKERS);
		together = n == 3;
		payload = 0;
		unit_threads(n, hand_over);
	}
}

/* --- Services */

static int left, quick, thorough;

static bool something_left(void) { return left > 0; }
static bool one_less(void) {
	bool worked = left > 0;
	left -= worked;
	quick++;
	return worked;
}
/* Makes polling never report the service as ready: only a thread that is about to sleep runs it. */
static bool never_ready(void) { return false; }
static bool count_thorough(void) {
	thorough++;
	return false;
}

/* A service with an expensive poll, for a wait that has ended. */
static int looks, ends;
static bool always_ready(void) { return true; }
static bool look_dear(void) {
	looks++;
	return false;
}
static void end_dear(void) { ends++; }

/* Becomes true at the end. Then a thread that sees a poller leaves work for it. */
static bool true_at_last(void *arg) {
	int *more = arg;
	if (--*more > 0)
		return false;
	left = 3;
	looks = 0;
	return true;
}

static bool nothing_left(void *arg) {
	(void)arg;
	return left == 0;
}

static void services(void) {
	static const struct gompi_service a = {.ready = something_left, .serve = one_less},
					  b = {.ready = never_ready, .serve = count_thorough},
					  c = {.ready = always_ready, .serve = look_dear, .ends = end_dear};
	static const struct gompi_waiting what = {.call = "service", .peer = -1, .object = 0};
	struct gompi_waitword *w = (struct gompi_waitword *)unit_memory(4096);
	gompi_service_add(&a);
	gompi_service_add(&b);
	gompi_service_add(&a);
	left = 1;
	CHECK(gompi_serve() && left == 0 && quick == 1, "what is there twice is served %d times", quick);
	left = 5;
	CHECK(gompi_await(w, nothing_left, NULL, &what) == MPI_SUCCESS && left == 0, "%d are left", left);
	CHECK(thorough > 0, "only what a look sees is served before a sleep");
	unit_sleep_forever = unit_hurry = false; /* no other thread wakes this one */
	gompi_service_add(&c);
	int more = gompi_node.policy.quiet_looks + 10;
	ends = 0;
	CHECK(gompi_await(w, true_at_last, &more, &what) == MPI_SUCCESS && left == 2,
	      "of 3 that are left at the end %d are left", left);
	CHECK(ends == 1 && looks == 0, "a dear service is told %d times of an end, and looked at %d times", ends,
	      looks);
}

/* --- A death */

static int looked_for_dead;
static bool never(void *arg) {
	(void)arg;
	return false;
}
static void one_dead(void) {
	looked_for_dead++;
	gompi_store(&gompi_cell(3)->state, GOMPI_STATE_DEAD);
	gompi_store(&gompi_cell(3)->pid, 77);
	gompi_store_total(&gompi_header()->broken, 1);
}

static void idles(void) {
	struct gompi_cell *c = gompi_my_cell();
	CHECK(gompi_load(&c->pollers) == 0 && gompi_load(&c->blocked) == 0, "%d pollers, %d blocked at the end",
	      gompi_load(&c->pollers), gompi_load(&c->blocked));
	for (int i = 0; i < GOMPI_WAIT_RECORDS; i++)
		CHECK(gompi_load(&c->waits[i].state) == RECORD_FREE, "record %d still tells of a wait", i);
	CHECK(gompi_load(&c->waits_more) == 0, "%u more wait", gompi_load(&c->waits_more));
}

/* Waits in steps, as Go does it: polls between any two steps, and checks the condition once more before it sleeps. */
static void steps(void) {
	struct gompi_cell *c = gompi_my_cell();
	struct gompi_wait t;
	int polls = 0;
	gompi_call = "MPI_Wait";
	gompi_wait_begin(&t, -1, 9);
	CHECK(gompi_load(&c->pollers) == 1 && gompi_load(&c->blocked) == 1, "%d pollers, %d blocked",
	      gompi_load(&c->pollers), gompi_load(&c->blocked));
	for (; t.stage == WAIT_POLLS; polls++)
		CHECK(gompi_wait_step(&t) == MPI_SUCCESS, "step %d", polls);
	CHECK(polls > 0 && t.stage == WAIT_ARMED && gompi_load(&c->wait.sleeping) == 1, "it does not ask to be woken");
	CHECK(gompi_load(&c->waits[0].state) == RECORD_TOLD && gompi_load(&c->waits[0].object) == 9, "nobody is told");
	gompi_wake(&c->wait); /* before it sleeps: the sleep ends at once, though no other thread ends it */
	unit_sleep_forever = true, unit_hurry = false;
	CHECK(gompi_wait_step(&t) == MPI_SUCCESS && t.stage == WAIT_WOKEN, "stage %d", t.stage);
	CHECK(gompi_load(&c->wait.sleeping) == 0, "a wait that is over would be woken");
	CHECK(gompi_wait_step(&t) == MPI_SUCCESS && t.stage == WAIT_ARMED, "stage %d", t.stage);
	gompi_store_total(&gompi_header()->broken, 1);
	CHECK(gompi_wait_step(&t) == MPI_ERR_PROC_ABORTED, "a death does not end it");
	gompi_store_total(&gompi_header()->broken, 0);
	gompi_wait_end(&t);
	unit_hurry = true;
	gompi_call = NULL;
	idles();
}

/* Checks that each waiting thread gets a wait record while records are available; further threads are only
 * counted. */
static void records(void) {
	struct gompi_cell *c = gompi_my_cell();
	enum { THREADS = GOMPI_WAIT_THREADS + 3 };
	int record[THREADS];
	for (int i = 0; i < THREADS; i++)
		record[i] = gompi_publish_wait(
			&(struct gompi_waiting){.call = "MPI_Recv", .peer = GOMPI_PEERS_ANY, .object = (uint64_t)i});
	CHECK(gompi_load(&c->waits_more) == 3, "%u more wait", gompi_load(&c->waits_more));
	for (int i = 0; i < GOMPI_WAIT_THREADS; i++)
		CHECK(gompi_load(&c->waits[i].state) == RECORD_TOLD && gompi_load(&c->waits[i].object) == (uint64_t)i &&
			      gompi_load(&c->waits[i].peer) == GOMPI_PEERS_ANY,
		      "record %d is of another", i);
	gompi_withdraw_wait(record[5]);
	CHECK(gompi_load(&c->waits[5].state) == RECORD_FREE, "a wait that is over is told of");
	record[5] = gompi_publish_wait(&(struct gompi_waiting){.call = "MPI_Send", .peer = 2, .object = 1});
	CHECK(record[5] == 5 && gompi_load(&c->waits[5].peer) == 2, "a free record is not used again");
	CHECK(gompi_publish_wait(&(struct gompi_waiting){.call = NULL, .peer = -1, .object = 0}) < 0,
	      "a thread in no call tells");
	for (int i = 0; i < THREADS; i++)
		gompi_withdraw_wait(record[i]);
	idles();
}

/* things: the number of things that may end a wait (the odd ones have ended); lacking: members that the last one waits
 * for */
static int things, lacking;
static int describe_thing(const void *on, int first, struct gompi_waiting *what, struct gompi_told *t) {
	(void)on;
	first += first % 2;
	if (first >= things)
		return -1;
	what->peer = first;
	what->reason = GOMPI_FOR_COLLECTIVE;
	t->operation = "MPI_Ibarrier";
	t->lacks = lacking;
	t->missing[1] = (uint64_t)lacking;
	return first;
}

/* Checks that a wait for any of several things has a record for each of the first ones, and depends on all of
 * them. */
static void parts(void) {
	struct gompi_cell *c = gompi_my_cell();
	enum { ROOM = GOMPI_WAIT_RECORDS - GOMPI_WAIT_THREADS };
	const struct gompi_waiting several = {
		.call = "MPI_Waitany", .peer = GOMPI_PEERS_SEVERAL, .describe = describe_thing};
	struct gompi_waiting one = several;
	one.peer = GOMPI_PEERS_ALL;
	things = 5, lacking = 2;
	int first = gompi_publish_wait(&several), single = gompi_publish_wait(&one);
	things = 2 * ROOM;
	int second = gompi_publish_wait(&several);
	CHECK(gompi_load(&c->waits[first].parts) == 3 && gompi_load(&c->waits[second].parts) == ROOM, "%d and %d parts",
	      gompi_load(&c->waits[first].parts), gompi_load(&c->waits[second].parts));
	CHECK(gompi_load(&c->waits[single].peer) == 0 && gompi_load(&c->waits[single].parts) == 0 &&
		      gompi_load(&c->waits[single].lacks) == 2 && gompi_load(&c->waits[single].missing[1]) == 2 &&
		      gompi_load(&c->waits[single].operation[4]) == 'I',
	      "what a wait is for is not found out");
	for (int i = 0; i < ROOM; i++) {
		struct gompi_wait_record *r = &c->waits[GOMPI_WAIT_THREADS + i];
		CHECK(gompi_load(&r->state) == RECORD_TOLD && gompi_load(&r->part_of) == (i < 3 ? first : second) + 1 &&
			      gompi_load(&r->peer) == 2 * (i < 3 ? i : i - 3),
		      "part %d is of %d and for %d", i, gompi_load(&r->part_of), gompi_load(&r->peer));
	}
	gompi_withdraw_wait(second);
	for (int i = 0; i < ROOM; i++)
		CHECK(gompi_load(&c->waits[GOMPI_WAIT_THREADS + i].state) == (i < 3 ? RECORD_TOLD : RECORD_FREE),
		      "part %d outlives its wait", i);
	gompi_withdraw_wait(first);
	gompi_withdraw_wait(single);
	idles();
}

/* Names the members of an object: object 9 has number 90 at all members, and the ranks that the test sets. */
static struct gompi_ranks told_ranks;

static bool nothing_to_do(void) { return false; }

static bool tell_of_9(const struct gompi_waiting *what, struct gompi_told *t) {
	if (what->object != 9)
		return false;
	t->id = 90;
	t->lacks = 2;
	gompi_tell_ranks(t, &told_ranks);
	memset(t->name, 'n', 30);
	return true;
}

static struct gompi_wait_record *record_of(uint64_t object, bool all) {
	struct gompi_wait_record *r = &gompi_my_cell()->waits[0];
	const uint32_t number = gompi_load(&r->number);
	int record = gompi_publish_wait(&(struct gompi_waiting){
		.call = "MPI_Recv", .peer = 1, .tag = 7, .object = object, .reason = GOMPI_FOR_MESSAGE, .all = all});
	CHECK(record == 0 && gompi_load(&r->number) == number + 1, "a wait does not count");
	gompi_withdraw_wait(record);
	return r;
}

static void told(void) {
	static const struct gompi_service service = {.ready = nothing_to_do, .serve = nothing_to_do, .tell = tell_of_9};
	gompi_service_add(&service);
	struct gompi_wait_record *r = record_of(8, false);
	CHECK(gompi_load(&r->id) == 0 && gompi_load(&r->members) == 0 && gompi_load(&r->name[0]) == 0,
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
			told_ranks = (struct gompi_ranks){.n = lists[i].n,
							  .first = lists[i].rank[0],
							  .stride = lists[i].stride,
							  .list = regular ? NULL : list->rank};
			r = record_of(9, regular);
			CHECK(gompi_load(&r->members) == lists[i].n && gompi_load(&r->stride) == lists[i].stride,
			      "list %zu: %d members at a distance of %d", i, gompi_load(&r->members),
			      gompi_load(&r->stride));
			for (int k = 0; k < lists[i].n && k < GOMPI_TOLD_MEMBERS; k++)
				CHECK(gompi_load(&r->member[k]) == lists[i].rank[k], "list %zu: member %d", i, k);
			CHECK(gompi_load(&r->reason) == (GOMPI_FOR_MESSAGE | (regular ? TOLD_ALL : 0u)), "reason %u",
			      gompi_load(&r->reason));
		}
		free(list);
	}
	CHECK(gompi_load(&r->id) == 90 && gompi_load(&r->lacks) == 2 &&
		      gompi_load(&r->name[GOMPI_TOLD_NAME - 1]) == 'n',
	      "what the room has told is not there");
	idles();
}

/* Checks that the progress threads are registered, each once, as far as the table has space. */
static void own_threads(void) {
	struct gompi_cell *c = gompi_my_cell();
	gompi_own_thread();
	gompi_own_thread();
	CHECK(gompi_load(&c->own_threads[0]) == (int)getpid() && gompi_load(&c->own_threads[1]) == 0,
	      "this thread is not known once");
	for (int i = 0; i < GOMPI_OWN_THREADS; i++)
		gompi_store(&c->own_threads[i], 1);
	gompi_own_thread();
	gompi_progress_thread = false;
}

/* Checks the text of the hang report about a sleeping thread. */
static void says_what_for(void) {
	struct gompi_cell *c = gompi_my_cell();
	struct gompi_wait_record *r = &c->waits[0];
	char call[sizeof r->call];
	for (size_t i = 0; i < sizeof call; i++)
		call[i] = gompi_load(&r->call[i]);
	CHECK(gompi_load(&r->state) == RECORD_TOLD, "state %u", gompi_load(&r->state));
	CHECK(strcmp(call, "MPI_A_function_with_a_long_name") == 0, "waits in '%s'", call);
	CHECK(gompi_load(&r->peer) == 3 && gompi_load(&r->object) == 17, "for process %d, object %llu",
	      gompi_load(&r->peer), (unsigned long long)gompi_load(&r->object));
}

static void tells_then_dies(void) {
	says_what_for();
	one_dead();
}

static void death(void) {
	static const struct gompi_waiting what = {
		.call = "MPI_A_function_with_a_long_name_and_more", .peer = 3, .object = 17};
	struct gompi_waitword *w = (struct gompi_waitword *)unit_memory(4096);
	unit_sleep_forever = unit_hurry = false; /* no other thread wakes this one: it checks for failed processes
	                                          * from time to time */
	gompi_up.find_dead = tells_then_dies;
	CHECK(gompi_await(w, never, NULL, &what) == MPI_ERR_PROC_ABORTED, "a death did not end the wait");
	CHECK(looked_for_dead == 1, "looked for the dead %d times", looked_for_dead);
	const char *text = gompi_lost_text();
	CHECK(strstr(text, "rank 3 of MPI_COMM_WORLD (pid 77)") != NULL, "'%s'", text);
}

int main(void) {
	unit_node(4);
	unit_sleep_forever = true;
	for (int hurry = 0; hurry < 2; hurry++) {
		unit_hurry = hurry; /* with hurry many threads wake a sleeper */
		hand_overs(hurry);
		idles();
	}
	steps();
	records();
	parts();
	told();
	own_threads();
	CHECK(gompi_load(&unit_sleeps) > HAND_OVERS / 8, "only %llu sleeps",
	      (unsigned long long)gompi_load(&unit_sleeps));
	services();
	idles();
	death();
	idles();
	return unit_end();
}
