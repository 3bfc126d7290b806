/* Proves for operations on a window member on another node (transport/stream.h): they are applied exactly once and in
 * order, whatever their size and layout, and however records are delayed. A flush ends when all operations are
 * complete, not before. Results arrive in the right buffers. A remote lock request waits in the same fair queue as lock
 * requests of the target's node, although no thread of the target waits for it. Until the lock is granted, or until the
 * target has posted, the target stores the operations, up to a limit. A flush reports operations that the target has
 * refused, and ends if the peer has failed. After an error at one member, the other members are still flushed and
 * unlocked. */
#include "loopback.h"

#include "transport/progress_thread.h"

/* --- Operations of all kinds and layouts. The results are compared with the same operations on local memory (model) */

enum { STEPS = 3000, MAX_BYTES = 40 << 10, MAX_BLOCKS = 512 };
static uintptr_t some_type;
static char *model;
static uint64_t dice = 7;
static uint64_t draw(uint64_t n) { return check_random(&dice) % n; }

/* Makes some_type: n elements of MPI_INT64_T at irregular distances. Returns their offsets. */
static const int64_t *make_blocks(int64_t n) {
	static int64_t words[GOMPI_ELEMENTS_WORDS(MAX_BLOCKS)];
	int64_t *at = gompi_type_of_elements(words, gompi_type_get(MPI_INT64_T), n, 0), next = 0;
	for (int64_t i = 0; i < n; i++) {
		at[i] = next;
		next += 8 * (int64_t)(2 + draw(3));
	}
	struct gompi_type *t = (struct gompi_type *)(void *)words;
	t->root = t->elem_root;
	t->extent = t->true_ub = at[n - 1] + 8;
	gompi_type_remove(some_type);
	some_type = gompi_type_add_program((struct gompi_type_props){0}, words, t->words);
	if (some_type == 0)
		abort();
	return at;
}

enum { WAITING = 64 };
static struct {
	char *result, *want;
	size_t bytes;
} results[WAITING];
static int results_number;

/* Returns a result buffer for a get or fetch. The caller stores the expected result in the buffer that wanted()
 * returns. After a flush compare() compares the two buffers. */
static char *expect_result(size_t bytes) {
	results[results_number].result = malloc(bytes);
	results[results_number].want = malloc(bytes);
	memset(results[results_number].result, 0x77, bytes);
	results[results_number].bytes = bytes;
	return results[results_number++].result;
}

static char *wanted(void) { return results[results_number - 1].want; }

static void compare(void) {
	for (int i = 0; i < results_number; i++) {
		CHECK(memcmp(results[i].result, results[i].want, results[i].bytes) == 0,
		      "a result of %zu bytes differs", results[i].bytes);
		free(results[i].result);
		free(results[i].want);
	}
	results_number = 0;
}

static void one_operation(bool large) {
	static int64_t data[MAX_BYTES / 8];
	size_t max_bytes = large ? MAX_BYTES : draw(3) == 0 ? 4000 : 64, bytes = 8 * (1 + draw(max_bytes / 8));
	size_t at = 8 * draw((SIZE - bytes) / 8 + 1);
	int64_t n = (int64_t)bytes / 8, *there = (int64_t *)(void *)(model + at), *back;
	for (int64_t i = 0; i < n; i++)
		data[i] = (int64_t)check_random(&dice);
	switch (draw(9)) {
	case 0:
		CHECK_SUCCESS(gompi_put_c(data, n, MPI_INT64_T, OTHER, (MPI_Aint)at, n, MPI_INT64_T, win));
		memcpy(there, data, bytes);
		break;
	case 1:
		CHECK_SUCCESS(
			gompi_get_c(expect_result(bytes), n, MPI_INT64_T, OTHER, (MPI_Aint)at, n, MPI_INT64_T, win));
		memcpy(wanted(), there, bytes);
		break;
	case 2:
		CHECK_SUCCESS(
			gompi_accumulate_c(data, n, MPI_INT64_T, OTHER, (MPI_Aint)at, n, MPI_INT64_T, MPI_SUM, win));
		for (int64_t i = 0; i < n; i++)
			there[i] = (int64_t)((uint64_t)there[i] + (uint64_t)data[i]);
		break;
	case 3:
		back = (int64_t *)(void *)expect_result(bytes);
		CHECK_SUCCESS(gompi_get_accumulate_c(data, n, MPI_INT64_T, back, n, MPI_INT64_T, OTHER, (MPI_Aint)at, n,
						     MPI_INT64_T, MPI_BXOR, win));
		memcpy(wanted(), there, bytes);
		for (int64_t i = 0; i < n; i++)
			there[i] ^= data[i];
		break;
	case 4:
		back = (int64_t *)(void *)expect_result(8);
		CHECK_SUCCESS(gompi_fetch_and_op(data, back, MPI_INT64_T, OTHER, (MPI_Aint)at, MPI_REPLACE, win));
		memcpy(wanted(), there, 8);
		there[0] = data[0];
		break;
	case 5: {
		int64_t compare_with = draw(2) ? there[0] : 5;
		back = (int64_t *)(void *)expect_result(8);
		CHECK_SUCCESS(gompi_compare_and_swap(data, &compare_with, back, MPI_INT64_T, OTHER, (MPI_Aint)at, win));
		memcpy(wanted(), there, 8);
		if (there[0] == compare_with)
			there[0] = data[0];
		break;
	}
	case 6:
	case 7:
	case 8: {
		n = 2 + (int64_t)draw(large ? MAX_BLOCKS - 1 : 20);
		const int64_t *where = make_blocks(n);
		size_t span = (size_t)where[n - 1] + 8;
		there = (int64_t *)(void *)(model + (at = 8 * draw((SIZE - span) / 8 + 1)));
		int kind = (int)draw(3);
		if (kind == 0) { /* a put to several blocks */
			CHECK_SUCCESS(gompi_put_c(data, n, MPI_INT64_T, OTHER, (MPI_Aint)at, 1, (MPI_Datatype)some_type,
						  win));
			for (int64_t i = 0; i < n; i++)
				there[where[i] / 8] = data[i];
		} else if (kind == 1) {
			back = (int64_t *)(void *)expect_result((size_t)n * 8);
			CHECK_SUCCESS(gompi_get_c(back, n, MPI_INT64_T, OTHER, (MPI_Aint)at, 1, (MPI_Datatype)some_type,
						  win));
			for (int64_t i = 0; i < n; i++)
				memcpy(wanted() + 8 * i, &there[where[i] / 8], 8);
		} else {
			CHECK_SUCCESS(gompi_accumulate_c(data, n, MPI_INT64_T, OTHER, (MPI_Aint)at, 1,
							 (MPI_Datatype)some_type, MPI_SUM, win));
			for (int64_t i = 0; i < n; i++)
				there[where[i] / 8] = (int64_t)((uint64_t)there[where[i] / 8] + (uint64_t)data[i]);
		}
	}
	}
}

static void operations(bool registered) {
	fresh(registered, false);
	model = calloc(1, SIZE);
	bool all = false, locked = false;
	for (int i = 0; i < STEPS && check_errors == 0; i++) {
		if (!locked) {
			all = draw(2);
			CHECK_SUCCESS(
				all ? gompi_win_lock_all(0, win)
				    : gompi_win_lock(draw(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, OTHER, 0, win));
			locked = true;
		}
		bool large = draw(20) == 0;
		/* Large operations on registered memory use RDMA, which is not ordered with records. */
		if (large && registered)
			CHECK_SUCCESS(gompi_win_flush(OTHER, win));
		one_operation(large);
		if ((large && registered) || results_number == WAITING || draw(10) == 0) {
			int how = (int)draw(4);
			CHECK_SUCCESS(how == 0   ? gompi_win_flush(OTHER, win)
				      : how == 1 ? gompi_win_flush_all(win)
				      : how == 2 ? all ? gompi_win_unlock_all(win) : gompi_win_unlock(OTHER, win)
						 : gompi_win_flush_local(OTHER, win));
			locked = how != 2;
			compare();
			if (how == 3 && large && registered)
				CHECK_SUCCESS(gompi_win_flush(OTHER, win));
			CHECK(how == 3 || memcmp(memory, model, SIZE) == 0, "after %d operations memory differs", i);
		}
	}
	if (locked)
		CHECK_SUCCESS(all ? gompi_win_unlock_all(win) : gompi_win_unlock(OTHER, win));
	compare();
	CHECK(memcmp(memory, model, SIZE) == 0, "in the end memory differs");
	CHECK(gompi_load(&gompi_member(w, 0)->lock) == 0, "a lock is left");
	free(model);
}

/* --- Several origins at the same time */

enum { ORIGINS = 4, ROUNDS = 400 };
static gompi_a32 over;

static void origins(int i) {
	if (i == 0) { /* plays the progress threads of both sides */
		for (int64_t idle = 0; gompi_load_acquire(&over) < ORIGINS;)
			if (gompi_fabric_progress())
				idle = 0;
			else
				unit_idle(&idle);
		return;
	}
	MPI_Aint mine = 64 * i;
	static int64_t large[1 + ORIGINS][2048];
	for (int64_t k = 1; k <= ROUNDS && check_errors == 0; k++) {
		int64_t one = 1, was = -1, result = -1;
		CHECK_SUCCESS(gompi_put_c(&k, 1, MPI_INT64_T, OTHER, mine, 1, MPI_INT64_T, win));
		CHECK_SUCCESS(gompi_fetch_and_op(NULL, &was, MPI_INT64_T, OTHER, mine, MPI_NO_OP, win));
		CHECK_SUCCESS(gompi_accumulate_c(&one, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, MPI_SUM, win));
		CHECK_SUCCESS(gompi_get_c(&result, 1, MPI_INT64_T, OTHER, mine, 1, MPI_INT64_T, win));
		for (int64_t m = 0; m < 20; m++)
			CHECK_SUCCESS(gompi_accumulate_c(&one, 1, MPI_INT64_T, OTHER, 8, 1, MPI_INT64_T, MPI_SUM, win));
		if (k % 8 == 0) {
			large[i][0] = k;
			CHECK_SUCCESS(gompi_put_c(large[i], 2048, MPI_INT64_T, OTHER, 1024 + 16384 * (i - 1), 2048,
						  MPI_INT64_T, win));
		}
		CHECK_SUCCESS(k % 2 ? gompi_win_flush(OTHER, win) : gompi_win_flush_all(win));
		CHECK(was == k && result == k, "%lld, %lld, not %lld", (long long)was, (long long)result, (long long)k);
	}
	gompi_add_seq_cst(&over, 1);
}

static void together(bool oversubscribed) {
	fresh(true, oversubscribed);
	gompi_store(&over, 0);
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	unit_threads(1 + ORIGINS, origins);
	CHECK_SUCCESS(gompi_win_unlock_all(win));
	const int64_t *sums = (const int64_t *)(const void *)memory;
	CHECK(sums[0] == ORIGINS * ROUNDS && sums[1] == 20 * sums[0], "%lld, %lld", (long long)sums[0],
	      (long long)sums[1]);
}

/* --- Locks: thread 0 is the origin's progress thread, thread 1 is the target's progress thread. Thread 2 locks as a
 * process of the target's node, thread 3 as a process of another node */

enum { TURNS = 300 };

static void lockers(int i) {
	struct gompi_win_member *m = gompi_member(w, 0);
	if (i == 0) {
		for (int64_t idle = 0; gompi_load_acquire(&over) < 2;)
			if (gompi_fabric_progress())
				idle = 0;
			else
				unit_idle(&idle);
		gompi_progress_stop();
	} else if (i == 1) {
		gompi_progress_run();
	} else if (i == 2) {
		for (int k = 0; k < TURNS; k++) {
			if (!gompi_lock_try(m, true, false))
				CHECK_SUCCESS(gompi_lock_wait(w, 0, true, "lock"));
			int64_t *x = (int64_t *)(void *)memory;
			x[0]++; /* not atomic: the lock protects x */
			if (k % 4 == 0)
				unit_late(20);
			x[1]++;
			gompi_unlock(w, 0, true);
		}
		gompi_add_seq_cst(&over, 1);
	} else {
		static char large_data[60 << 10];
		for (int k = 0; k < TURNS; k++) {
			int64_t x[2], after[2];
			CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_EXCLUSIVE, OTHER, 0, win));
			CHECK_SUCCESS(gompi_get_c(x, 2, MPI_INT64_T, OTHER, 0, 2, MPI_INT64_T, win));
			if (k % 8 == 0) /* more data than the target may store while the lock is not granted */
				for (size_t at = 0; at < sizeof large_data; at += 4096)
					CHECK_SUCCESS(gompi_put_c(large_data + at, 4096, MPI_BYTE, OTHER,
								  1024 + (MPI_Aint)at, 4096, MPI_BYTE, win));
			CHECK_SUCCESS(gompi_win_flush(OTHER, win));
			CHECK(x[0] == x[1], "%lld and %lld", (long long)x[0], (long long)x[1]);
			after[0] = after[1] = x[0] + 1;
			CHECK_SUCCESS(gompi_put_c(after, 2, MPI_INT64_T, OTHER, 0, 2, MPI_INT64_T, win));
			CHECK_SUCCESS(gompi_win_unlock(OTHER, win));
			if (k % 16 == 1) { /* an empty epoch */
				CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_SHARED, OTHER, 0, win));
				CHECK_SUCCESS(gompi_win_unlock(OTHER, win));
			}
		}
		gompi_add_seq_cst(&over, 1);
	}
}

static void locks_in_turn(void) {
	fresh(true, false);
	gompi_store(&over, 0);
	unit_threads(4, lockers);
	int64_t *x = (int64_t *)(void *)memory;
	CHECK(x[0] == 2 * TURNS && x[1] == 2 * TURNS, "%lld, %lld, not %d", (long long)x[0], (long long)x[1],
	      2 * TURNS);
	struct gompi_win_member *m = gompi_member(w, 0);
	CHECK(gompi_load(&m->lock) == 0 && gompi_load(&m->lock_remote_waiters) == 0 &&
		      gompi_load(&m->lock_next) == gompi_load(&m->lock_serving),
	      "lock word %#llx, %u waiting", (unsigned long long)gompi_load(&m->lock),
	      gompi_load(&m->lock_remote_waiters));
}

/* --- A lock is released while a record requests it. Thread 0 releases the lock, and thread 1 delivers the record.
 * Thread 2 (if third_thread_polls) ends a wait; until then the other threads rely on its polling. Afterwards the
 * record's origin must hold the lock, or the progress thread must be notified: no other thread would check the
 * request */

enum { HANDOVERS = UNIT_REPEATS(60000) };
static gompi_a32 arrivals;
static bool third_thread_polls;

/* Waits until all threads have arrived. If each thread has a core, all continue at the same moment. Each thread polls
 * 50 times before it yields: more polls are expensive with the thread sanitizer, and find no more errors if there are
 * fewer cores than threads. */
static void step_barrier(uint32_t *steps) {
	const uint32_t all = ++*steps * (third_thread_polls ? 3 : 2);
	gompi_add_seq_cst(&arrivals, 1);
	int64_t idle = 0;
	for (int looks = 0; gompi_load_seq_cst(&arrivals) < all; looks++)
		if (looks > 50)
			unit_idle(&idle);
}

static void check_handover(struct gompi_stream *s, int k) {
	struct gompi_cell *me = gompi_my_cell();
	bool rung = gompi_load(&me->progress_sleeps) == 0;
	CHECK(s->waits_for == WAITS_FOR_NOTHING || rung, "handover %d: the lock is free, and nobody looks", k);
	gompi_serve();
	CHECK(s->waits_for == WAITS_FOR_NOTHING && s->lock_held == HOLDS_EXCLUSIVE, "handover %d: it waits (%d, %d)", k,
	      (int)s->waits_for, (int)s->lock_held);
}

static void send_record_to_target(struct gompi_stream *s, enum gompi_packet_kind kind) {
	struct gompi_packet m = {.head.window = (uint32_t)w->handle,
				 .origin = OTHER,
				 .head.kind = (uint8_t)kind,
				 .op = 1,
				 .head.number = s->arrived + 1};
	rma->on_record(PEER, (const char *)&m, sizeof m);
}

static void hand_over(int i) {
	struct gompi_stream *s = gompi_stream_get(w, OTHER);
	struct gompi_cell *me = gompi_my_cell();
	uint32_t steps = 0;
	for (int k = 0; k < HANDOVERS; k++) {
		if (i == 0) {
			CHECK(gompi_lock_try(gompi_member(w, 0), true, false), "the lock is taken");
			gompi_store_seq_cst(&me->progress_sleeps, 1);
			gompi_add_seq_cst(&me->poller_count, third_thread_polls);
		}
		step_barrier(&steps);
		/* varies the delay between the record's arrival and the release of the lock */
		for (volatile int pause = i == 1 ? 0 : k % 500; pause > 0; pause--)
			;
		if (i == 0)
			gompi_unlock(w, 0, true);
		if (i == 1)
			send_record_to_target(s, PACKET_LOCK);
		if (i == 2) {
			gompi_serve();
			gompi_sub_seq_cst(&me->poller_count, 1);
			gompi_full_fence_after_rmw();
			gompi_serve_at_wait_end();
		}
		step_barrier(&steps);
		if (i == 1) {
			check_handover(s, k);
			send_record_to_target(s, PACKET_UNLOCK);
		}
		step_barrier(&steps);
	}
}

static void handovers(bool polls) {
	fresh(true, false);
	third_thread_polls = polls;
	gompi_store(&arrivals, 0);
	unit_threads(polls ? 3 : 2, hand_over);
}

/* --- One thread calls MPI_Win_unlock while another thread, which called MPI_Win_lock, acquires the deferred lock. Each
 * lock must be requested at most once and released once */

enum { ENDINGS = 3000 };

static void end_locks(int i) {
	struct gompi_stream *s = gompi_stream_get(w, OTHER);
	uint32_t steps = 0;
	for (int k = 0; k < ENDINGS; k++) {
		if (i == 1)
			CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_EXCLUSIVE, OTHER, 0, win));
		step_barrier(&steps);
		if (i == 1) {
			for (volatile int pause = k % 300; pause > 0; pause--)
				;
			CHECK_SUCCESS(gompi_acquire_deferred_lock("lock"));
		} else {
			CHECK_SUCCESS(gompi_win_unlock(OTHER, win));
		}
		step_barrier(&steps);
		CHECK(s->lock_held == HOLDS_NOTHING && gompi_load(&s->lock_sent) == 0, "round %d: it has a lock", k);
		step_barrier(&steps);
	}
}

static void ended_by_another(void) {
	fresh(true, false);
	third_thread_polls = false;
	gompi_store(&arrivals, 0);
	unit_threads(2, end_locks);
}

/* Checks that an epoch of lock, put and unlock takes a single round trip, and that an empty lock_all epoch sends no
 * record. */
static void round_trips(void) {
	fresh(true, false);
	hold_pending = true;
	uint64_t before = gompi_load(&records);
	int64_t x = 5;
	CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_SHARED, OTHER, 0, win));
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, win));
	CHECK(gompi_load(&records) == before, "the lock did not wait");
	CHECK_SUCCESS(gompi_win_unlock(OTHER, win));
	CHECK(gompi_load(&records) == before + 4, "%d records, not lock, put, unlock and one answer",
	      (int)(gompi_load(&records) - before));
	before = gompi_load(&records);
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	CHECK_SUCCESS(gompi_win_unlock_all(win));
	CHECK(gompi_load(&records) == before, "lock_all sends something");
	hold_pending = false;
}

/* --- Posts */

static void start(void) {
	gompi_or(&w->targets[OTHER].state, TARGET_STARTED);
	gompi_store(&w->access, ACCESS_START);
}

static void complete(void) {
	gompi_and(&w->targets[OTHER].state, ~(uint32_t)TARGET_STARTED);
	CHECK_SUCCESS(gompi_transport_fabric.complete(w, OTHER, "complete"));
	gompi_store(&w->access, 0);
}

static void put_at_0(int64_t x) { CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, win)); }

/* Delivers all records. Returns the number of access epochs completed at the target. */
static uint32_t epochs(void) {
	while (gompi_fabric_progress())
		;
	return gompi_load(&gompi_member(w, 0)->complete_count);
}

static void post(void) { CHECK_SUCCESS(gompi_transport_fabric.post(w, OTHER, "post")); }

static void posts_and_starts(void) {
	fresh(true, false);
	const int64_t *x = (const int64_t *)(const void *)memory;
	uint64_t before = gompi_load(&records);
	for (int64_t k = 1; k <= 2; k++) { /* the origin makes two access epochs before the target posts */
		start();
		put_at_0(k);
		complete();
	}
	CHECK(epochs() == 0 && *x == 0, "%u epochs and %lld before a post", epochs(), (long long)*x);
	CHECK(gompi_load(&records) == before + 6, "%d records, not start, put, complete twice",
	      (int)(gompi_load(&records) - before));
	before = gompi_load(&records);
	post();
	CHECK(epochs() == 1 && *x == 1, "%u epochs and %lld after one post", epochs(), (long long)*x);
	post();
	post();
	CHECK(epochs() == 2 && *x == 2, "%u epochs and %lld after all posts", epochs(), (long long)*x);
	start(); /* an empty epoch; its post has arrived */
	complete();
	CHECK(epochs() == 3 && gompi_load(&records) == before + 2, "%u epochs, %d records", epochs(),
	      (int)(gompi_load(&records) - before));
	/* Large data, which is not sent in records, waits for the post as well. */
	static int64_t large[2048] = {7};
	post();
	start();
	CHECK_SUCCESS(gompi_put_c(large, 2048, MPI_INT64_T, OTHER, 0, 2048, MPI_INT64_T, win));
	complete();
	CHECK(epochs() == 4 && *x == 7, "%u epochs and %lld with a large put", epochs(), (long long)*x);
	/* Forged records: a complete without a start, and a second start, have no effect. */
	struct gompi_stream *s = gompi_stream_get(w, OTHER);
	for (int i = 0; i < 3; i++) {
		struct gompi_packet m = {.head.window = (uint32_t)w->handle,
					 .origin = OTHER,
					 .head.kind = i == 1 ? PACKET_START : PACKET_COMPLETE,
					 .head.number = s->arrived + 1};
		post();
		if (i == 1) {
			rma->on_record(PEER, (const char *)&m, sizeof m);
			m.head.number++;
		}
		rma->on_record(PEER, (const char *)&m, sizeof m);
		CHECK(gompi_load(&gompi_member(w, 0)->complete_count) == 4 + (i == 2), "%u completes",
		      gompi_load(&gompi_member(w, 0)->complete_count));
	}
	gompi_store(&cut, 1);
	while (gompi_fabric_progress())
		;
}

/* In thread 0: serves as the progress thread, and posts. In thread 1: makes access epochs as far ahead of the posts as
 * its credits allow. */
enum { AHEAD = 15000 };
static bool empty_epochs;

static void posters(int i) {
	if (i == 0) {
		for (int k = 0; k < AHEAD; k++) {
			for (int y = 0; y < 10; y++)
				gompi_fabric_progress();
			post();
		}
		while (gompi_load_acquire(&over) == 0)
			gompi_fabric_progress();
		return;
	}
	for (int64_t k = 0, one = 1; k < AHEAD; k++) {
		start();
		if (!empty_epochs)
			CHECK_SUCCESS(gompi_accumulate_c(&one, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, MPI_SUM, win));
		complete();
	}
	gompi_store_release(&over, 1);
}

static void posts_in_turn(bool empty) {
	fresh(true, false);
	gompi_store(&over, 0);
	empty_epochs = empty;
	unit_threads(2, posters);
	CHECK(epochs() == AHEAD && *(int64_t *)(void *)memory == (empty ? 0 : AHEAD), "%u epochs, %lld sums", epochs(),
	      (long long)*(int64_t *)(void *)memory);
	CHECK(gompi_load(&gompi_stream_get(w, OTHER)->broken_class) == 0, "too much was sent before the posts");
}

/* --- Errors */

static void refused(void) {
	fresh(false, false);
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	int64_t x = 5, y = 7;
	gompi_store(&unit_errors, 0);
	w->size = 16; /* makes the target's window smaller than the origin knows */
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 16, 1, MPI_INT64_T, win));
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 8, 1, MPI_INT64_T, win));
	CHECK(gompi_win_flush(OTHER, win) == MPI_ERR_RMA_RANGE, "a put beyond the window");
	CHECK(*(int64_t *)(void *)(memory + 8) == 5 && *(int64_t *)(void *)(memory + 16) == 0, "what is put is wrong");
	CHECK_SUCCESS(gompi_win_flush(OTHER, win));
	CHECK_SUCCESS(gompi_get_c(&y, 1, MPI_INT64_T, OTHER, 16, 1, MPI_INT64_T, win));
	CHECK(gompi_win_flush_local(OTHER, win) == MPI_ERR_RMA_RANGE && y == 7, "a get beyond the window");
	MPI_Request request;
	CHECK(gompi_rget_c(&y, 1, MPI_INT64_T, OTHER, 16, 1, MPI_INT64_T, win, &request) == MPI_ERR_RMA_RANGE, "rget");
	CHECK_SUCCESS(gompi_rget_c(&y, 1, MPI_INT64_T, OTHER, 8, 1, MPI_INT64_T, win, &request));
	CHECK(y == 5, "rget got %lld", (long long)y);
	gompi_store(&cut, 1);
	CHECK(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 8, 1, MPI_INT64_T, win) == MPI_ERR_PROC_ABORTED, "to nobody");
	gompi_store(&cut, 0);
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 8, 1, MPI_INT64_T, win));
	gompi_store(&cut, 1);
	CHECK(gompi_win_flush(OTHER, win) == MPI_ERR_PROC_ABORTED, "a flush of nobody");
	while (gompi_fabric_progress())
		;
}

/* Checks that after an error at one member the other members are still flushed, and their locks are released. */
static void error_at_one(void) {
	members = 3;
	extra_peers = true;
	fresh(false, false);
	struct gompi_stream *s = gompi_stream_get(w, OTHER), *third = gompi_stream_get(w, 2);
	int64_t x = 5, y = 7;
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, win));
	CHECK_SUCCESS(gompi_get_c(&y, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, win));
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, 2, 0, 1, MPI_INT64_T, win));
	gompi_store(&third->broken_class, MPI_ERR_INTERN);
	CHECK(gompi_win_flush_all(win) == MPI_ERR_INTERN, "a flush of a broken stream");
	CHECK(y == 5, "the flush of the others got %lld", (long long)y);
	CHECK(gompi_win_unlock_all(win) == MPI_ERR_INTERN, "an unlock of a broken stream");
	CHECK(gompi_load(&s->lock_sent) == 0 && gompi_load(&third->lock_sent) == 0, "a lock is left");
	CHECK(s->lock_held == HOLDS_NOTHING, "the target still holds the lock");
	x = 6;
	CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_EXCLUSIVE, OTHER, 0, win));
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, win));
	CHECK_SUCCESS(gompi_win_unlock(OTHER, win));
	CHECK(*(int64_t *)(void *)memory == 6, "the next lock's put");
	CHECK_SUCCESS(gompi_win_lock(MPI_LOCK_SHARED, 2, 0, win));
	CHECK_SUCCESS(gompi_put_c(&x, 1, MPI_INT64_T, 2, 0, 1, MPI_INT64_T, win));
	gompi_store(&cut, 1); /* member 2 fails: the unlock cannot be sent */
	CHECK(gompi_win_unlock(2, win) != MPI_SUCCESS && gompi_load(&third->lock_sent) == 0, "a lock is left");
	gompi_store(&cut, 0);
	members = 2;
	extra_peers = false;
}

/* Delivers an invalid answer while a get of 8 bytes to `to` is pending. Checks the reported error class. Returns the
 * class that marks the stream as broken, or 0 if it is not broken. */
static uint32_t broken_by(struct gompi_answer answer, void *to, uint32_t class) {
	fresh(false, false);
	hold_pending = true; /* the get stays in the queue */
	CHECK_SUCCESS(gompi_win_lock_all(0, win));
	CHECK_SUCCESS(gompi_get_c(to, 1, MPI_INT64_T, OTHER, 0, 1, MPI_INT64_T, win));
	struct gompi_stream *s = gompi_stream_get(w, OTHER);
	answer.head.window = (uint32_t)w->handle;
	answer.from = OTHER;
	if (answer.head.kind == PACKET_RESULT)
		answer.head.number = gompi_load(&s->sent);
	gompi_stream_on_answer(PEER, &answer);
	uint32_t broken = gompi_load(&s->broken_class), reported = gompi_load(&s->error_class);
	CHECK(reported == class, "class %u is told, not %u", reported, class);
	gompi_store(&cut, 1);
	hold_pending = false;
	while (gompi_fabric_progress())
		;
	return broken;
}

static void forged(void) {
	int64_t y = 7;
	uint32_t broken = broken_by((struct gompi_answer){.head.kind = PACKET_DONE, .class = 60000}, &y, MPI_ERR_OTHER);
	CHECK(broken == 0, "%u after a class that there is not", broken);
	y = 7;
	broken = broken_by((struct gompi_answer){.head.kind = PACKET_RESULT}, &y, MPI_SUCCESS);
	CHECK(broken == MPI_ERR_INTERN && y == 7, "%u after a result without data, %lld", broken, (long long)y);
	y = 7;
	broken = broken_by((struct gompi_answer){.head.kind = PACKET_DONE, .head.flags = PACKET_STREAM_END}, &y,
			   MPI_SUCCESS);
	CHECK(broken == MPI_ERR_INTERN, "%u after an end without a reason", broken);
}

int main(void) {
	unit_types();
	for (int registered = 0; registered < 2; registered++) {
		operations(registered);
		hold_pending = true;
		operations(registered);
		hold_pending = false;
	}
	round_trips();
	handovers(false);
	handovers(true);
	ended_by_another();
	posts_and_starts();
	refused();
	error_at_one();
	forged();
	together(false);
	together(true);
	unit_hurry = unit_sleep_forever = true;
	together(false);
	locks_in_turn();
	posts_in_turn(false);
	posts_in_turn(true);
	return unit_end();
}
