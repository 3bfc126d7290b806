/* Proves: a biased lock (base/biased.h) gives mutual exclusion. While its bias owner acquires it repeatedly, other
 * threads revoke the bias, and the owner regains it after enough acquisitions without contention. A try-acquire fails
 * only while another thread holds the lock. Biased locks may be nested. Objects of one kind (base/objects.h), which
 * such a lock guards, have distinct handles while threads create and free them. */
#include "../unit.h"

#include "base/objects.h"

enum { THREADS = 4, ROUNDS = UNIT_REPEATS(42000), ALONE = UNIT_REPEATS(21000), LIVE = 100 };

struct object {
	void *next;
	uintptr_t handle;
};

static struct gompi_biased lock;
static uint64_t count; /* guarded by lock; not atomic */
static gompi_a32 begun;
static struct gompi_objects objects = GOMPI_OBJECTS(GOMPI_KIND_INFO, struct object);

static void add_one(void) {
	gompi_biased_take(&lock);
	volatile uint64_t *at = &count;
	uint64_t was = *at;
	for (int i = 0; i < 10; i++)
		gompi_pause();
	*at = was + 1;
	gompi_biased_give(&lock);
}

static uintptr_t make(void) {
	gompi_biased_take(&objects.lock);
	struct object *o = gompi_objects_take(&objects);
	o->handle = gompi_handles_add(&objects.handles, o);
	uintptr_t handle = o->handle;
	gompi_biased_give(&objects.lock);
	return handle;
}

static bool drop(uintptr_t handle) {
	gompi_biased_take(&objects.lock);
	struct object *o = gompi_table_get(&objects.handles.table, handle);
	bool right = o != NULL && o->handle == handle;
	if (right) {
		gompi_handles_remove(&objects.handles, handle);
		gompi_objects_give(&objects, o);
	}
	gompi_biased_give(&objects.lock);
	return right;
}

static void turn(int i) {
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

enum { TURNS = 300, ADDS = 300 };

/* Tests a second thread that arrives while the first one acquires the lock repeatedly. */
static void come_between(int i) {
	if (i == 1)
		UNIT_UNTIL(gompi_load(&begun) != 0);
	for (int k = 0; k < (i == 0 ? ADDS : 20); k++) {
		add_one();
		if (k == ADDS / 4)
			gompi_store(&begun, 1);
	}
}

static gompi_a32 visits; /* by the other thread; odd: a visit is wanted */

static void visit(void) {
	if (!gompi_has_membarrier)
		return;
	uint32_t v = gompi_load(&visits);
	gompi_store(&visits, v + 1);
	UNIT_UNTIL(gompi_load(&visits) == v + 2);
	CHECK(gompi_load(&lock.shared) == 1, "a visit has not ended the bias");
}

/* Tests that the first thread regains the bias after 16 uncontended acquisitions, then 32, and so on. An
 * acquisition by the other thread restarts the count. */
static void come_back(int i) {
	if (i == 1) {
		for (uint32_t v; (v = gompi_load_acquire(&visits)) != UINT32_MAX;)
			if (v % 2 == 1) {
				add_one();
				gompi_store_release(&visits, v + 1);
			}
		return;
	}
	add_one();
	for (int times = 1; gompi_has_membarrier && times <= 9; times++) {
		visit();
		for (int k = 0; k < (8 << times) - 1; k++)
			add_one();
		visit();
		for (int k = 0; k < 8 << times; k++) {
			CHECK(gompi_load(&lock.shared) == 1, "time %d: the bias is back after %d", times, k);
			add_one();
		}
		CHECK(gompi_load(&lock.shared) == 0, "time %d: the bias has not come back", times);
	}
	gompi_store(&visits, UINT32_MAX);
}

static struct gompi_biased inner;

/* Nests two locks, released in either order, in the thread that they are biased to. Another thread revokes the bias of
 * one and of the other alternately. */
static void nested(int i) {
	if (i == 1) {
		for (uint32_t v; (v = gompi_load_acquire(&visits)) != UINT32_MAX;)
			if (v % 2 == 1) {
				struct gompi_biased *one = v % 4 == 1 ? &lock : &inner;
				gompi_biased_take(one);
				gompi_biased_give(one);
				gompi_store_release(&visits, v + 1);
			}
		return;
	}
	gompi_biased_take(&lock); /* makes this thread the bias owner */
	gompi_biased_give(&lock);
	bool by_mutex[2] = {false, false};
	for (int k = 0; k < ADDS; k++) {
		if (k % 20 == 19) {
			uint32_t v = gompi_load(&visits);
			gompi_store(&visits, v + 1);
			UNIT_UNTIL(gompi_load(&visits) == v + 2);
		}
		gompi_biased_take(&lock);
		gompi_biased_take(&inner);
		count++;
		by_mutex[0] |= lock.by_mutex, by_mutex[1] |= inner.by_mutex;
		gompi_biased_give(k % 3 == 0 ? &lock : &inner);
		gompi_biased_give(k % 3 == 0 ? &inner : &lock);
	}
	CHECK(by_mutex[0] && by_mutex[1], "nobody has ended a bias");
	gompi_store(&visits, UINT32_MAX);
}

static gompi_a32 tries; /* number of successful try-acquires */

/* Retries until a try-acquire succeeds; runs in each thread. */
static void only_try(int i) {
	for (int k = 0; k < (i == 0 ? ADDS : 20); k++) {
		UNIT_UNTIL(gompi_biased_try(&lock));
		count++;
		gompi_biased_give(&lock);
		gompi_add(&tries, 1);
	}
}

int main(void) {
	unit_node(1);
	for (int k = 0; k < ALONE; k++)
		add_one();
	CHECK(gompi_has_membarrier == gompi_biased_to_me && gompi_load(&lock.shared) == !gompi_has_membarrier,
	      "the lock is not biased to who takes it first");
	unit_threads(THREADS, turn);
	CHECK(count == ALONE + ROUNDS, "%llu and not %d: two threads had the lock", (unsigned long long)count,
	      ALONE + ROUNDS);
	CHECK(gompi_load(&lock.shared) == 1, "the bias has not ended");

	for (int i = 0; i < TURNS; i++) {
		count = 0;
		gompi_store(&begun, 0);
		lock = (struct gompi_biased){0};
		gompi_biased_forget();
		unit_threads(2, come_between);
		CHECK(count == ADDS + 20, "%llu, not %d: two threads had the lock", (unsigned long long)count,
		      ADDS + 20);
	}

	for (int i = 0; i < TURNS; i++) {
		count = 0;
		gompi_store(&visits, 0);
		lock = inner = (struct gompi_biased){0};
		gompi_biased_forget();
		unit_threads(2, nested);
		CHECK(count == ADDS, "%llu turns, not %d", (unsigned long long)count, ADDS);
		CHECK(gompi_load(&lock.inside) == 0 && gompi_load(&inner.inside) == 0 && !lock.by_mutex &&
			      !inner.by_mutex,
		      "a lock is still taken");
	}

	gompi_store(&visits, 0);
	lock = (struct gompi_biased){0};
	gompi_biased_forget();
	unit_threads(2, come_back);
	for (int i = 0; i < TURNS; i++) {
		count = 0;
		gompi_store(&tries, 0);
		lock = (struct gompi_biased){0};
		gompi_biased_forget();
		unit_threads(2, only_try);
		CHECK(count == ADDS + 20 && gompi_load(&tries) == count, "%llu, not %d: two threads had the lock",
		      (unsigned long long)count, ADDS + 20);
	}

	/* The cache keeps the memory of a few freed objects, and none while many are in use. */
	static uintptr_t many[10000];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10000; i++)
			many[i] = make();
		CHECK(gompi_objects_used(&objects) == 10000 && !gompi_objects_keeps(&objects), "%d of 10000 in use",
		      gompi_objects_used(&objects));
		for (int i = 0; i < 10000; i++)
			CHECK(drop(many[(i * 7919) % 10000]), "object %d", i);
		CHECK(gompi_objects_used(&objects) == 0, "%d are in use", gompi_objects_used(&objects));
	}
	for (int i = 0; i < 3 * GOMPI_OBJECTS_SPARE; i++)
		many[i] = make();
	for (int i = 0; i < 3 * GOMPI_OBJECTS_SPARE; i++)
		CHECK(drop(many[i]), "object %d", i);
	CHECK(gompi_objects_used(&objects) == 0 && objects.crowd.live <= GOMPI_OBJECTS_SPARE, "%lld are kept",
	      (long long)objects.crowd.live);
	return unit_end();
}
