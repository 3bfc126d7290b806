/* Proves: if a thread posts work and its trylock of a combining lock (base/combining_lock.h) fails, the lock holder
 * executes the work. Two threads post work with all combinations of delays. After each round all work has been done,
 * although the thread whose trylock failed does not retry. The same holds if a thread acquires the lock's mutex
 * directly. It also holds for a biased lock with a missed-post flag, which a VCI uses. */
#include "../unit.h"

#include "base/biased_mutex.h"
#include "base/combining_lock.h"

enum { THREADS = 2, DELAYS = 24, ROUNDS = UNIT_REPEATS(30) * DELAYS * DELAYS };

static struct gompi_combining_lock lock;
static struct gompi_biased_mutex biased;
static gompi_a32 biased_missed;

static bool try_lock(void) { return gompi_combining_try_lock(&lock); }
static bool unlock(void) { return gompi_combining_unlock(&lock); }

/* Acquires the lock's mutex directly instead of by trylock. The other thread may post work meanwhile. */
static bool wait_lock(void) {
	gompi_mutex_lock(&lock.mutex);
	return true;
}

static bool try_lock_biased(void) {
	if (gompi_biased_trylock(&biased))
		return true;
	gompi_missed_post(&biased_missed);
	return gompi_biased_trylock(&biased);
}
static bool unlock_biased(void) { return gompi_biased_unlock(&biased) && gompi_missed_consume(&biased_missed); }

static struct lock_kind {
	const char *name;
	bool (*try_lock[THREADS])(void); /* the function by which each thread acquires the lock */
	bool (*unlock)(void);
} kinds[] = {{"tried by both threads", {try_lock, try_lock}, unlock},
	     {"acquired by one thread", {wait_lock, try_lock}, unlock},
	     {"biased", {try_lock_biased, try_lock_biased}, unlock_biased}};
static struct lock_kind *kind;

static gompi_a32 posted[THREADS];   /* number of units of work that each thread has posted; relaxed stores */
static uint32_t done[THREADS];      /* number of units that have been done for each thread; guarded by the lock */
static gompi_a32 arrived, left;     /* arrived: number of times that a thread has begun a round; left: ended a round */
static gompi_a32 lost, left_behind; /* lost: rounds that ended with work undone; left_behind: failed trylocks */
static gompi_a32 held_rounds;       /* 1 + the last ordered round in which thread 0 has acquired the lock */

/* Returns true for ordered rounds: thread 1 posts its work after thread 0 has acquired the lock, and thread 0 releases
 * the lock after the trylock of thread 1 has failed. So work is posted while the lock is held, on any machine. */
static bool is_ordered(int round) { return round % 8 == 0; }

static void delay(int n) {
	for (volatile int i = 0; i < n; i++)
		gompi_pause();
}

/* Does all posted work. The caller is thread i and holds the lock. */
static void do_work(int i, int round) {
	for (int t = 0; t < THREADS; t++)
		done[t] = gompi_load(&posted[t]);
	delay(DELAYS / 2);
	if (is_ordered(round) && i == 0 && gompi_load(&held_rounds) != (uint32_t)round + 1) {
		uint32_t failed = gompi_load(&left_behind);
		gompi_store(&held_rounds, (uint32_t)round + 1);
		/* Waits until the trylock of thread 1 has failed. Exception: while the bias owner holds a biased lock
		 * without its mutex, the trylock does not fail but waits for the owner, so both threads would wait. */
		if (kind->unlock != unlock_biased || biased.holds_mutex)
			UNIT_UNTIL(gompi_load(&left_behind) != failed);
	}
}

/* Waits until all threads have called synchronize(count) n times. Polls first, so that the threads continue at the same
 * time. */
static void synchronize(gompi_a32 *count, uint32_t n) {
	gompi_add_seq_cst(count, 1);
	for (int i = 0; i < 500 && gompi_load(count) < n * THREADS; i++)
		gompi_pause();
	UNIT_UNTIL(gompi_load_acquire(count) >= n * THREADS);
}

static void run_thread(int i) {
	for (int k = 0; k < ROUNDS; k++) {
		synchronize(&arrived, (uint32_t)k + 1);
		delay(i == 0 ? k % DELAYS : k / DELAYS % DELAYS);
		if (is_ordered(k) && i == 1)
			UNIT_UNTIL(gompi_load(&held_rounds) == (uint32_t)k + 1);
		gompi_add(&posted[i], 1);
		bool has_lock, has_missed = true;
		while (has_missed && (has_lock = kind->try_lock[i]())) {
			do_work(i, k);
			has_missed = kind->unlock();
		}
		if (!has_lock)
			gompi_add(&left_behind, 1);
		synchronize(&left, (uint32_t)k + 1);
		for (int t = 0; t < THREADS && i == 0; t++)
			if (done[t] != (uint32_t)k + 1)
				gompi_add(&lost, 1);
	}
}

int main(void) {
	unit_node(1);
	for (kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++) {
		gompi_biased_reset_owner();
		gompi_store(&arrived, 0), gompi_store(&left, 0), gompi_store(&lost, 0), gompi_store(&left_behind, 0);
		gompi_store(&held_rounds, 0);
		for (int i = 0; i < THREADS; i++)
			gompi_store(&posted[i], 0), done[i] = 0;
		unit_threads(THREADS, run_thread);
		CHECK(gompi_load(&lost) == 0, "%s: work is lost in %u of %d rounds", kind->name, gompi_load(&lost),
		      ROUNDS);
		CHECK(gompi_load(&left_behind) > 0, "%s: no trylock has failed", kind->name);
	}
	return unit_end();
}
