/* Proves: a biased lock (base/biased_mutex.h) gives mutual exclusion. While its bias owner acquires the lock
 * repeatedly, other threads revoke the bias, and the owner regains the bias after enough acquisitions without
 * contention. A trylock fails only while another thread holds the lock. Biased locks may be nested. Objects of an
 * object pool (base/object_pool.h), which a biased lock guards, have distinct handles while threads create and free
 * them. */
#include "../unit.h"

#include "base/object_pool.h"

enum { THREADS = 4, ROUNDS = UNIT_REPEATS(24000), SINGLE_ROUNDS = UNIT_REPEATS(12000), LIVE = 100 };

struct object {
	void *next;
	uintptr_t handle;
};

static struct gompi_biased_mutex lock;
static uint64_t count; /* guarded by lock; not atomic */
static gompi_a32 begun;
static struct gompi_object_pool objects = GOMPI_OBJECT_POOL(GOMPI_KIND_INFO, struct object);

static void add_one(void) {
	gompi_biased_lock(&lock);
	volatile uint64_t *at = &count;
	uint64_t was = *at;
	for (int i = 0; i < 10; i++)
		gompi_pause();
	*at = was + 1;
	gompi_biased_unlock(&lock);
}

static uintptr_t make(void) {
	gompi_biased_lock(&objects.lock);
	struct object *o = gompi_pool_alloc(&objects);
	o->handle = gompi_handles_add(&objects.handles, o);
	uintptr_t handle = o->handle;
	gompi_biased_unlock(&objects.lock);
	return handle;
}

static bool drop(uintptr_t handle) {
	gompi_biased_lock(&objects.lock);
	struct object *o = gompi_table_get(&objects.handles.table, handle);
	bool right = o != NULL && o->handle == handle;
	if (right) {
		gompi_handles_remove(&objects.handles, handle);
		gompi_pool_free(&objects, o);
	}
	gompi_biased_unlock(&objects.lock);
	return right;
}

static void run_thread(int i) {
	uintptr_t live[LIVE] = {0};
	for (int k = 0; k < ROUNDS / THREADS; k++) {
		add_one();
		uintptr_t *h = &live[k % LIVE];
		CHECK(*h == 0 || drop(*h), "object %d of thread %d is another's", k, i);
		*h = make();
	}
	for (int k = 0; k < LIVE; k++)
		CHECK(drop(live[k]) && !drop(live[k]), "object %d of thread %d", k, i);
}

enum { REPETITIONS = UNIT_REPEATS(240), ADDS = 300 };

/* Tests a second thread that arrives while the first one acquires the lock repeatedly. */
static void interrupt_owner(int i) {
	if (i == 1)
		UNIT_UNTIL(gompi_load(&begun) != 0);
	for (int k = 0; k < (i == 0 ? ADDS : 20); k++) {
		add_one();
		if (k == ADDS / 4)
			gompi_store(&begun, 1);
	}
}

/* Twice the number of acquisitions by the other thread, plus 1 while the owner requests another acquisition. */
static gompi_a32 visit_seq;

static void request_visit(void) {
	if (!gompi_has_membarrier)
		return;
	uint32_t v = gompi_load(&visit_seq);
	gompi_store(&visit_seq, v + 1);
	UNIT_UNTIL(gompi_load(&visit_seq) == v + 2);
	CHECK(gompi_load(&lock.is_revoked) == 1, "a visit has not ended the bias");
}

/* Tests that the first thread regains the bias after 16 uncontended acquisitions, the next time after 32, and so on. An
 * acquisition by the other thread restarts the count. */
static void regain_bias(int i) {
	if (i == 1) {
		for (uint32_t v; (v = gompi_load_acquire(&visit_seq)) != UINT32_MAX;)
			if (v % 2 == 1) {
				add_one();
				gompi_store_release(&visit_seq, v + 1);
			}
		return;
	}
	add_one();
	for (int times = 1; gompi_has_membarrier && times <= 9; times++) {
		request_visit();
		for (int k = 0; k < (8 << times) - 1; k++)
			add_one();
		request_visit();
		for (int k = 0; k < 8 << times; k++) {
			CHECK(gompi_load(&lock.is_revoked) == 1, "time %d: the bias is back after %d", times, k);
			add_one();
		}
		CHECK(gompi_load(&lock.is_revoked) == 0, "time %d: the bias has not come back", times);
	}
	gompi_store(&visit_seq, UINT32_MAX);
}

static struct gompi_biased_mutex inner;

/* Tests two nested locks, which the bias owner acquires and releases in either order. Another thread alternately
 * revokes the bias of the first and of the second lock. */
static void nested(int i) {
	if (i == 1) {
		for (uint32_t v; (v = gompi_load_acquire(&visit_seq)) != UINT32_MAX;)
			if (v % 2 == 1) {
				struct gompi_biased_mutex *one = v % 4 == 1 ? &lock : &inner;
				gompi_biased_lock(one);
				gompi_biased_unlock(one);
				gompi_store_release(&visit_seq, v + 1);
			}
		return;
	}
	gompi_biased_lock(&lock); /* makes this thread the bias owner */
	gompi_biased_unlock(&lock);
	bool by_mutex[2] = {false, false};
	for (int k = 0; k < ADDS; k++) {
		if (k % 20 == 19) {
			uint32_t v = gompi_load(&visit_seq);
			gompi_store(&visit_seq, v + 1);
			UNIT_UNTIL(gompi_load(&visit_seq) == v + 2);
		}
		gompi_biased_lock(&lock);
		gompi_biased_lock(&inner);
		count++;
		by_mutex[0] |= lock.holds_mutex, by_mutex[1] |= inner.holds_mutex;
		gompi_biased_unlock(k % 3 == 0 ? &lock : &inner);
		gompi_biased_unlock(k % 3 == 0 ? &inner : &lock);
	}
	CHECK(by_mutex[0] && by_mutex[1], "nobody has ended a bias");
	gompi_store(&visit_seq, UINT32_MAX);
}

static gompi_a32 tries; /* number of successful trylocks */

/* Acquires the lock repeatedly by trylock, which it retries until it succeeds. Each thread runs this function. */
static void trylock_loop(int i) {
	for (int k = 0; k < (i == 0 ? ADDS : 20); k++) {
		UNIT_UNTIL(gompi_biased_trylock(&lock));
		count++;
		gompi_biased_unlock(&lock);
		gompi_add(&tries, 1);
	}
}

int main(void) {
	unit_node(1);
	for (int k = 0; k < SINGLE_ROUNDS; k++)
		add_one();
	CHECK(gompi_has_membarrier == gompi_is_bias_owner && gompi_load(&lock.is_revoked) == !gompi_has_membarrier,
	      "the lock is not biased to who takes it first");
	unit_threads(THREADS, run_thread);
	CHECK(count == SINGLE_ROUNDS + ROUNDS, "%llu and not %d: two threads had the lock", (unsigned long long)count,
	      SINGLE_ROUNDS + ROUNDS);
	CHECK(gompi_load(&lock.is_revoked) == 1, "the bias has not ended");

	for (int i = 0; i < REPETITIONS; i++) {
		count = 0;
		gompi_store(&begun, 0);
		lock = (struct gompi_biased_mutex){0};
		gompi_biased_reset_owner();
		unit_threads(2, interrupt_owner);
		CHECK(count == ADDS + 20, "%llu, not %d: two threads had the lock", (unsigned long long)count,
		      ADDS + 20);
	}

	for (int i = 0; i < REPETITIONS; i++) {
		count = 0;
		gompi_store(&visit_seq, 0);
		lock = inner = (struct gompi_biased_mutex){0};
		gompi_biased_reset_owner();
		unit_threads(2, nested);
		CHECK(count == ADDS, "%llu turns, not %d", (unsigned long long)count, ADDS);
		CHECK(gompi_load(&lock.held_by_owner) == 0 && gompi_load(&inner.held_by_owner) == 0 &&
			      !lock.holds_mutex && !inner.holds_mutex,
		      "a lock is still taken");
	}

	gompi_store(&visit_seq, 0);
	lock = (struct gompi_biased_mutex){0};
	gompi_biased_reset_owner();
	unit_threads(2, regain_bias);
	for (int i = 0; i < REPETITIONS; i++) {
		count = 0;
		gompi_store(&tries, 0);
		lock = (struct gompi_biased_mutex){0};
		gompi_biased_reset_owner();
		unit_threads(2, trylock_loop);
		CHECK(count == ADDS + 20 && gompi_load(&tries) == count, "%llu, not %d: two threads had the lock",
		      (unsigned long long)count, ADDS + 20);
	}

	/* The pool caches the memory of a few freed objects. While many objects are in use, it caches none. */
	static uintptr_t many[10000];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10000; i++)
			many[i] = make();
		CHECK(gompi_pool_used_count(&objects) == 10000 && !gompi_pool_can_cache(&objects), "%d of 10000 in use",
		      gompi_pool_used_count(&objects));
		for (int i = 0; i < 10000; i++)
			CHECK(drop(many[(i * 7919) % 10000]), "object %d", i);
		CHECK(gompi_pool_used_count(&objects) == 0, "%d are in use", gompi_pool_used_count(&objects));
	}
	for (int i = 0; i < 3 * GOMPI_POOL_FREE_MAX; i++)
		many[i] = make();
	for (int i = 0; i < 3 * GOMPI_POOL_FREE_MAX; i++)
		CHECK(drop(many[i]), "object %d", i);
	CHECK(gompi_pool_used_count(&objects) == 0 && objects.live_count.live <= GOMPI_POOL_FREE_MAX, "%lld are cached",
	      (long long)objects.live_count.live);
	return unit_end();
}
