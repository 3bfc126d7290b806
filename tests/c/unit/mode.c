/* Proves: accumulates of all sizes at once on one member's memory (update/mode.h, update/update.h) lose nothing: from
 * threads that have a mark and those for which there is none, with membarrier(2) and without, for any granularity and
 * for elements at odd addresses. A lock whose holder died ends an update with MPI_ERR_PROC_ABORTED; then nothing is
 * updated, and nothing is given back that is not held. */
#include "unit.h"

#include "update/update.h"

enum { THREADS = GOMPI_MARK_SLOTS + 4, SMALL = 2000, LARGE = 60, LENGTH = 500, BYTES = 16 << 10 };

static struct gompi_win *w;
static char *memory;
static MPI_Datatype element;
static size_t size;
static int shift; /* of the elements' addresses */

/* Adds one to n elements from the first on. The results are those before. */
static int add(int first, int n, char *result) {
	char ones[LENGTH * 8];
	for (int i = 0; i < n; i++) {
		if (element == MPI_DOUBLE)
			memcpy(ones + (size_t)i * size, &(double){1}, size);
		else
			memcpy(ones + (size_t)i * size, &(uint64_t){1}, size);
	}
	struct gompi_operation o = {.kind = result ? RMA_GET_ACCUMULATE : RMA_ACCUMULATE, .op = MPI_SUM};
	struct gompi_update u = {.w = w, .operation = &o, .element = element};
	char *to = memory + shift + (size_t)first * size;
	int rc = gompi_update_begin(&u, (uint64_t)n, to);
	if (rc == MPI_SUCCESS)
		rc = gompi_update(&u, to, ones, result, (uint64_t)n);
	gompi_update_end(&u);
	CHECK(u.holds == UPDATE_NOTHING, "something is held at the end");
	return rc;
}

static uint64_t value(const char *at) {
	uint64_t v = 0;
	double d;
	memcpy(&v, at, size);
	if (element == MPI_DOUBLE) {
		memcpy(&d, at, size);
		v = (uint64_t)d;
	}
	return v;
}

/* One in four threads updates all elements at once, the others one or a few of the first ones. */
static void adds(int i) {
	char result[LENGTH * 8];
	for (int k = 0; k < (i % 4 == 0 ? LARGE : SMALL); k++) {
		int n = i % 4 == 0 ? LENGTH : i % 4;
		CHECK(add(0, n, k % 2 ? result : NULL) == MPI_SUCCESS, "an update failed");
	}
}

static void sums(MPI_Datatype type, int type_size, int64_t granularity, int odd) {
	element = type;
	size = (size_t)type_size;
	shift = odd;
	memset(memory, 0, BYTES);
	gompi_store_total(&w->granularity, (uint64_t)granularity);
	unit_threads(THREADS, adds);
	for (int i = 0; i < LENGTH; i++) {
		uint64_t want = THREADS / 4 * LARGE;
		for (int t = 0; t < THREADS; t++)
			want += t % 4 > i ? SMALL : 0;
		want &= size < 8 ? ((uint64_t)1 << 8 * size) - 1 : UINT64_MAX;
		uint64_t got = value(memory + shift + (size_t)i * size);
		CHECK(got == want, "type %#x, granularity %lld, shift %d: element %d is %llu, not %llu",
		      (int)(uintptr_t)type, (long long)granularity, odd, i, (unsigned long long)got,
		      (unsigned long long)want);
	}
	for (int i = 0; i < GOMPI_MARK_SLOTS; i++)
		CHECK(gompi_load(&gompi_my_cell()->marks[i].seq) % 2 == 0, "mark %d is left", i);
	CHECK(gompi_load(&gompi_my_cell()->marks_used) == 0, "lines %#x are left to threads that are gone",
	      gompi_load(&gompi_my_cell()->marks_used));
	CHECK((gompi_load(&gompi_member(w, 0)->accumulate) & ~(uint32_t)ACCUMULATE_BULK) == 0, "the lock is left");
}

static void all_sums(void) {
	sums(MPI_INT64_T, 8, 0, 0);
	sums(MPI_DOUBLE, 8, 100, 0);
	sums(MPI_INT32_T, 4, 1, 0);
	sums(MPI_UINT16_T, 2, 3000, 0);
	sums(MPI_UINT8_T, 1, 0, 0);
	sums(MPI_INT64_T, 8, 0, 3);
	sums(MPI_INT32_T, 4, 40, 2);
}

/* --- Back to SMALL mode, after many small updates under the lock */

static void turns_back(void) {
	gompi_a32 *word = &gompi_member(w, 0)->accumulate;
	element = MPI_INT64_T, size = 8, shift = 0;
	gompi_store_total(&w->granularity, 0);
	CHECK(add(0, LENGTH, NULL) == MPI_SUCCESS && gompi_load(word) == ACCUMULATE_BULK, "word %#x after a large one",
	      gompi_load(word));
	for (int i = 0; i < 1000; i++)
		add(0, 1, NULL);
	CHECK(gompi_load(word) == (gompi_node.membarrier ? 0 : ACCUMULATE_BULK), "word %#x after 1000 small updates",
	      gompi_load(word));
}

/* --- Who wants the lock waits for small updates under way, and for whoever has it */

static gompi_a32 locked;

static void locks(int i) {
	gompi_a32 *word = &gompi_member(w, 0)->accumulate;
	if (i == 1) {
		UNIT_UNTIL(gompi_load_acquire(&locked) == 1);
		CHECK(gompi_accumulate_lock(w, 0) == MPI_SUCCESS, "no lock");
		gompi_store_release(&locked, 2);
		UNIT_UNTIL(gompi_load(&unit_asleep) == 1);
		gompi_accumulate_unlock(w, 0, false);
		return;
	}
	bool small = gompi_small_enter(gompi_member(w, 0));
	CHECK(small == gompi_node.membarrier, "small updates are %spossible", small ? "" : "not ");
	uint32_t barriers = gompi_load(&unit_membarriers);
	gompi_store_release(&locked, 1);
	if (small) {
		UNIT_UNTIL(gompi_load(word) & ACCUMULATE_LOCKED);
		for (int k = 0; k < 2000; k++) {
			CHECK(gompi_load(&locked) == 1, "the lock was taken during a small update");
			sched_yield();
		}
		gompi_small_leave();
		CHECK(!gompi_small_enter(gompi_member(w, 0)), "a small update beside the lock");
	}
	UNIT_UNTIL(gompi_load_acquire(&locked) == 2);
	CHECK(gompi_load(&unit_membarriers) == barriers + small, "%u barriers of the other processes, not %d",
	      gompi_load(&unit_membarriers) - barriers, small);
	CHECK(gompi_accumulate_lock(w, 0) == MPI_SUCCESS, "no lock after the other one");
	CHECK(gompi_load(&unit_membarriers) == barriers + small, "a barrier where the mode stays");
	gompi_accumulate_unlock(w, 0, false);
}

static void waits(void) {
	gompi_store(&locked, 0);
	gompi_store(&gompi_member(w, 0)->accumulate, 0);
	unit_threads(2, locks);
}

/* --- A lock whose holder is dead */

static uint64_t marked(void) { return gompi_my_mark != NULL ? gompi_load(&gompi_my_mark->seq) : 0; }

/* Whatever failed has changed nothing. */
static void nothing_done(const char *what, int rc, const char *before, uint64_t mark) {
	CHECK(rc == MPI_ERR_PROC_ABORTED, "%s: class %d", what, rc);
	CHECK(memcmp(memory, before, BYTES) == 0, "%s: memory has changed", what);
	CHECK(gompi_load(&gompi_member(w, 0)->accumulate) & ACCUMULATE_LOCKED, "%s: the dead one's lock was given back",
	      what);
	CHECK(marked() % 2 == 0 && marked() >= mark, "%s: a mark is left", what);
}

static void holder_dies(void) {
	static char before[BYTES];
	gompi_a32 *word = &gompi_member(w, 0)->accumulate;
	const uint64_t ones[2 * LENGTH] = {1, 1, 1};
	struct gompi_operation o = {.kind = RMA_ACCUMULATE, .op = MPI_SUM};
	element = MPI_INT64_T, size = 8, shift = 0;
	gompi_store_total(&w->granularity, 0);
	memcpy(before, memory, BYTES);
	uint64_t mark = marked();

	/* It has the lock when the update begins. */
	gompi_store(&gompi_header()->broken, 1);
	gompi_store(word, ACCUMULATE_BULK | ACCUMULATE_LOCKED);
	nothing_done("begin, large", add(0, LENGTH, NULL), before, mark);
	nothing_done("begin, small", add(0, 1, NULL), before, mark);

	/* A small update comes to a piece at an odd distance, which needs the lock. */
	gompi_store(word, 0);
	struct gompi_update u = {.w = w, .operation = &o, .element = element};
	CHECK(gompi_update_begin(&u, 2, memory) == MPI_SUCCESS, "begin");
	if (u.holds == UPDATE_MARK) {
		gompi_store(word, ACCUMULATE_BULK | ACCUMULATE_LOCKED);
		nothing_done("odd piece", gompi_update(&u, memory + 17, ones, NULL, 1), before, mark);
		CHECK(u.holds == UPDATE_NOTHING, "odd piece: something is held");
	}
	gompi_update_end(&u);
	if (gompi_node.membarrier)
		nothing_done("end after an odd piece", MPI_ERR_PROC_ABORTED, before, mark);

	/* A large one gives others a turn after each part, and one of them dies. */
	gompi_store(word, 0);
	gompi_store_total(&w->granularity, 8 * LENGTH);
	u = (struct gompi_update){.w = w, .operation = &o, .element = element};
	CHECK(gompi_update_begin(&u, 2 * LENGTH, memory) == MPI_SUCCESS && u.left == LENGTH, "begin, by parts");
	CHECK(gompi_update(&u, memory, ones, NULL, LENGTH) == MPI_SUCCESS && u.left == 0, "first part");
	memcpy(before, memory, BYTES);
	gompi_update_end(&u);
	gompi_store(word, ACCUMULATE_BULK | ACCUMULATE_LOCKED);
	nothing_done("second part", gompi_update(&u, memory, ones, NULL, LENGTH), before, mark);
	gompi_update_end(&u);
	nothing_done("end after the second part", MPI_ERR_PROC_ABORTED, before, mark);
	gompi_store(word, 0);
	gompi_store(&gompi_header()->broken, 0);
}

int main(void) {
	unit_node(1);
	unit_types();
	unit_sleep_forever = true;
	memory = unit_memory(BYTES);
	w = unit_window(1, memory, BYTES, true);
	const bool membarrier = gompi_node.membarrier;
	for (int i = 0; i < 4; i++) {
		gompi_node.policy.crowded = i % 2;
		gompi_node.membarrier = membarrier && i < 2;
		gompi_store(&gompi_member(w, 0)->accumulate, 0);
		all_sums();
		waits();
	}
	gompi_node.membarrier = membarrier;
	turns_back();
	holder_dies();
	return unit_end();
}
