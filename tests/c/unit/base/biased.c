/* Proves: a biased lock (base/biased.h) is one thread's at a time: while the thread that it is biased to takes it again
 * and again, others come for it and end the bias; and the objects of a kind (base/objects.h), which such a lock guards,
 * have handles of their own while threads make and free them. */
#include "../unit.h"

#include "base/objects.h"

enum { THREADS = 4, ROUNDS = 40000, ALONE = 20000, LIVE = 100 };

struct object {
	void *next;
	uintptr_t handle;
};

static struct gompi_biased lock;
static uint64_t count; /* guarded by lock, not atomic */
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

/* The first is at it when the other comes. */
static void come_between(int i) {
	if (i == 1)
		UNIT_UNTIL(gompi_load(&begun) != 0);
	for (int k = 0; k < (i == 0 ? ADDS : 20); k++) {
		add_one();
		if (k == ADDS / 4)
			gompi_store(&begun, 1);
	}
}

int main(void) {
	unit_node(1);
	for (int k = 0; k < ALONE; k++)
		add_one();
	CHECK(gompi_has_membarrier == (gompi_load(&gompi_bias) == GOMPI_BIAS_ON),
	      "the lock is not biased to who takes it first");
	unit_threads(THREADS, turn);
	CHECK(count == ALONE + ROUNDS, "%llu and not %d: two threads had the lock", (unsigned long long)count,
	      ALONE + ROUNDS);
	CHECK(gompi_load(&gompi_bias) == GOMPI_BIAS_OVER, "the bias has not ended");

	for (int i = 0; i < TURNS; i++) {
		count = 0;
		gompi_store(&begun, 0);
		gompi_store(&gompi_bias, GOMPI_BIAS_UNDECIDED);
		gompi_signals.biased = false;
		unit_threads(2, come_between);
		CHECK(count == ADDS + 20, "%llu, not %d: two threads had the lock", (unsigned long long)count,
		      ADDS + 20);
	}

	static uintptr_t many[10000];
	for (int i = 0; i < 10000; i++)
		many[i] = make();
	for (int i = 0; i < 10000; i++)
		CHECK(drop(many[(i * 7919) % 10000]), "object %d", i);
	return unit_end();
}
