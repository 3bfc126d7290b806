/* Proves: the lock of a member's memory (win/lock.h) is held by one writer or by any number of readers. Queued threads
 * acquire the lock in queue order. Between two queued threads, threads that are not queued acquire it at most
 * MAX_LOCK_BYPASSES times. No sleeping thread misses its wake-up. Runs with more threads than cores; threads poll
 * first, or sleep at once. */
#include "../unit.h"

#include "win/lock.h"

enum { THREADS = 8, ROUNDS = 10000, WORDS = 16 };

static struct gompi_win *w;
static struct gompi_win_member *m;

static void take(bool exclusive) {
	if (!gompi_lock_try(m, exclusive, false))
		CHECK(gompi_lock_wait(w, 0, exclusive, "lock") == MPI_SUCCESS, "the wait failed");
}

static void fresh(bool oversubscribed) {
	w = unit_window(1, unit_memory(4096), 4096, true);
	m = gompi_member(w, 0);
	gompi_node.policy.is_oversubscribed = oversubscribed;
}

static void is_free(void) {
	CHECK(gompi_load(&m->lock) == 0, "lock word %#llx at the end", (unsigned long long)gompi_load(&m->lock));
	CHECK(gompi_load(&m->lock_next) == gompi_load(&m->lock_serving), "%u tickets drawn, %u served",
	      gompi_load(&m->lock_next), gompi_load(&m->lock_serving));
}

/* --- Mutual exclusion: readers see no partial write, and no increment is lost */

static long words[WORDS]; /* not atomic: the lock protects them */

static void reads_and_writes(int i) {
	for (int k = 0; k < ROUNDS; k++) {
		bool exclusive = (i + k) % 4 == 0;
		take(exclusive);
		for (int j = 0; j < WORDS; j++) {
			if (exclusive)
				words[j]++;
			else
				CHECK(words[j] == words[0], "word %d is %ld, word 0 %ld", j, words[j], words[0]);
		}
		if (k % 16 == 0) /* gives other threads time to queue for the lock and sleep */
			sched_yield();
		gompi_unlock(w, 0, exclusive);
	}
}

static void excludes(bool oversubscribed) {
	fresh(oversubscribed);
	memset(words, 0, sizeof words);
	unit_threads(THREADS, reads_and_writes);
	CHECK(words[0] == THREADS * ROUNDS / 4, "%ld writes, not %d", words[0], THREADS * ROUNDS / 4);
	is_free();
}

/* --- Which locks can be held at the same time */

static void states(void) {
	fresh(false);
	CHECK(gompi_lock_try(m, false, false) && gompi_lock_try(m, false, false), "two readers are not together");
	CHECK(!gompi_lock_try(m, true, false), "a writer among readers");
	gompi_unlock(w, 0, false);
	CHECK(!gompi_lock_try(m, true, false), "a writer beside a reader");
	gompi_unlock(w, 0, false);
	CHECK(gompi_lock_try(m, true, false), "no writer alone");
	CHECK(!gompi_lock_try(m, true, false) && !gompi_lock_try(m, false, false), "somebody beside a writer");
	gompi_unlock(w, 0, true);
	is_free();
}

/* --- The queue: thread 0 holds the lock while the other threads queue, one after the other. If queue_exclusive is
 * true, thread 0 holds a shared lock and the other threads request exclusive locks; otherwise the reverse */

static bool queue_exclusive;
static gompi_a32 begun, held, may_release;
static int order[THREADS], served;

/* Acquires the lock without queueing, as often as possible, until `until_held` queued threads have acquired it. Returns
 * the number of acquisitions. */
static int bypass_until(bool exclusive, uint32_t until_held) {
	int passed = 0;
	for (int i = 0; gompi_load_seq_cst(&held) < until_held && passed <= MAX_LOCK_BYPASSES; i++) {
		if (gompi_lock_try(m, exclusive, false)) {
			passed++;
			gompi_unlock(w, 0, exclusive);
		} else if (!exclusive && passed == MAX_LOCK_BYPASSES) {
			break;
		}
		if (i % 64 == 63)
			sched_yield();
	}
	return passed;
}

static void queues(int i) {
	if (i > 0) {
		UNIT_UNTIL(gompi_load_acquire(&begun) == 1 && gompi_load(&m->lock_next) == (uint32_t)i - 1);
		CHECK(gompi_lock_wait(w, 0, queue_exclusive, "queue") == MPI_SUCCESS, "the wait failed");
		if (queue_exclusive)
			order[served++] = i;
		gompi_add_seq_cst(&held, 1);
		UNIT_UNTIL(gompi_load_seq_cst(&may_release) >= (uint32_t)i);
		gompi_unlock(w, 0, queue_exclusive);
		return;
	}
	take(!queue_exclusive);
	gompi_store_release(&begun, 1);
	UNIT_UNTIL(gompi_load(&m->lock_next) == THREADS - 1);
	if (queue_exclusive) { /* a reader holds the lock, so only the limit stops further readers */
		int passed = bypass_until(false, 1);
		CHECK(passed == MAX_LOCK_BYPASSES, "%d passed the queue, not %d", passed, MAX_LOCK_BYPASSES);
	}
	gompi_unlock(w, 0, !queue_exclusive);
	if (!queue_exclusive) { /* all queued readers must acquire the lock, before the first one releases it */
		UNIT_UNTIL(gompi_load_seq_cst(&held) == THREADS - 1);
		gompi_store_seq_cst(&may_release, THREADS);
		return;
	}
	for (uint32_t turn = 1; turn < THREADS; turn++) {
		UNIT_UNTIL(gompi_load_seq_cst(&held) >= turn);
		CHECK(gompi_load_seq_cst(&held) == turn, "%u have the lock, a writer among them",
		      gompi_load_seq_cst(&held));
		CHECK(!gompi_lock_try(m, true, false), "a newcomer beside one of the queue");
		gompi_add_seq_cst(&may_release, 1);
		int passed = turn + 1 < THREADS ? bypass_until(true, turn + 1) : 0;
		CHECK(passed <= MAX_LOCK_BYPASSES, "%d passed before turn %u", passed, turn + 1);
	}
}

static void in_turn(bool oversubscribed, bool exclusive) {
	fresh(oversubscribed);
	queue_exclusive = exclusive;
	gompi_store(&begun, 0);
	gompi_store(&held, 0);
	gompi_store(&may_release, 0);
	served = 0;
	unit_threads(THREADS, queues);
	for (int i = 0; i < served; i++)
		CHECK(order[i] == i + 1, "writer %d came as number %d", order[i], i + 1);
	CHECK(served == (exclusive ? THREADS - 1 : 0), "%d writers", served);
	is_free();
}

/* --- A lock holder that has died */

static void dies(void) {
	fresh(true);
	gompi_store(&m->lock, LOCK_WRITER);
	gompi_store(&gompi_node_header()->failed_count, 1);
	gompi_store(&gompi_cell(m->peer)->state, GOMPI_STATE_FAILED);
	CHECK(gompi_lock_wait(w, 0, true, "dead") == MPI_ERR_PROC_ABORTED, "a dead process' lock was taken");
	CHECK((uint32_t)gompi_load(&m->lock) == LOCK_WRITER, "the lock has changed hands");
	gompi_store(&gompi_cell(m->peer)->state, 0);
	gompi_store(&gompi_node_header()->failed_count, 0);
}

int main(void) {
	unit_node(1);
	unit_sleep_forever = true;
	states();
	for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
		unit_hurry = oversubscribed;
		excludes(oversubscribed);
		in_turn(oversubscribed, true);
		in_turn(oversubscribed, false);
	}
	CHECK(gompi_load(&unit_sleeps) > 0, "nobody slept");
	dies();
	return unit_end();
}
