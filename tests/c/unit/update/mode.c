/* Proves: concurrent accumulates of all sizes on one member's memory (update/mode.h, update/update.h) lose no update.
 * Covers threads with and without an activity flag, systems with and without membarrier(2), several granularities,
 * unaligned elements, all modes of the memory (small, bulk, owned), and updates with and without gompi_update_begin. A
 * large update releases the lock after each segment of the granularity. A thread that revokes the ownership of the
 * memory waits until the owner has finished its update. If the lock holder is dead, an update returns
 * MPI_ERR_PROC_ABORTED, changes no data, and does not release the dead process's lock. */
#include "../unit.h"

#include "update/update.h"

enum {
	THREADS = GOMPI_ACTIVITY_SLOTS + 4,
	SMALL = UNIT_REPEATS(2000),
	LARGE = UNIT_REPEATS(60),
	LENGTH = 500,
	BYTES = 16 << 10
};

static struct gompi_win *w;
static char *memory;
static MPI_Datatype element;
static size_t size;
static int shift; /* offset of the first element in memory; elements are unaligned if it is odd */

/* Adds 1 to n elements, starting at element `first`. Stores the old values to `result` if `result` is not NULL. */
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
	static gompi_a32 call_count;
	if (gompi_add(&call_count, 1) % 3 != 0 &&
	    gompi_update_contiguous(w, 0, to, ones, result, n, element, MPI_SUM)) {
		uint64_t granularity = gompi_load(&w->granularity), part = (granularity + size - 1) / size;
		CHECK(granularity == 0 || (uint64_t)n <= part || part > GOMPI_ATOMIC_MAX_COUNT,
		      "%d elements at once in spite of the granularity of %llu bytes", n,
		      (unsigned long long)granularity);
		return MPI_SUCCESS;
	}
	int rc = gompi_update_begin(&u, (uint64_t)n, to);
	if (rc == MPI_SUCCESS)
		rc = gompi_update(&u, to, ones, result, (uint64_t)n);
	gompi_update_end(&u);
	CHECK(u.hold == HOLD_NOTHING, "something is held at the end");
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

/* Updates all elements at once in every fourth thread. The other threads update the first one to three elements. */
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
	gompi_store_seq_cst(&w->granularity, (uint64_t)granularity);
	unit_threads(THREADS, adds);
	for (int i = 0; i < LENGTH; i++) {
		uint64_t want = THREADS / 4 * LARGE;
		for (int t = 0; t < THREADS; t++)
			want += t % 4 > i ? SMALL : 0;
		want &= size < 8 ? ((uint64_t)1 << 8 * size) - 1 : UINT64_MAX;
		uint64_t found = value(memory + shift + (size_t)i * size);
		CHECK(found == want, "type %#x, granularity %lld, shift %d: element %d is %llu, not %llu",
		      (int)(uintptr_t)type, (long long)granularity, odd, i, (unsigned long long)found,
		      (unsigned long long)want);
	}
	for (int i = 0; i < GOMPI_ACTIVITY_SLOTS; i++)
		CHECK(gompi_load(&gompi_my_cell()->activity[i].seq) % 2 == 0, "activity flag %d is set", i);
	CHECK(gompi_load(&gompi_my_cell()->activity_used) == 0, "lines %#x are left to threads that have ended",
	      gompi_load(&gompi_my_cell()->activity_used));
	uint32_t word = gompi_load(&gompi_member(w, 0)->accumulate_state);
	CHECK((word & ACCUMULATE_OWNED) || (word & ~(uint32_t)ACCUMULATE_BULK) == 0, "the lock is left");
}

static void all_sums(void) {
	sums(MPI_INT64_T, 8, 0, 0);
	sums(MPI_DOUBLE, 8, 100, 0);
	sums(MPI_INT32_T, 4, 1, 0);
	sums(MPI_UINT16_T, 2, 3000, 0);
	sums(MPI_INT64_T, 8, 800, 0);
	sums(MPI_UINT8_T, 1, 0, 0);
	sums(MPI_INT64_T, 8, 0, 3);
	sums(MPI_INT32_T, 4, 40, 2);
}

/* Resets the state of the member's memory to that of a new window, but with a count of `transfers` ownership
 * transfers. */
static void fresh(uint32_t transfers) {
	struct gompi_win_member *m = gompi_member(w, 0);
	gompi_store(&m->accumulate_state, 0);
	gompi_store(&m->accumulate_small_streak, 0);
	gompi_store(&m->accumulate_last_owner, 0);
	gompi_store(&m->accumulate_lock_streak, 0);
	gompi_store(&m->accumulate_transfers, transfers);
}

/* --- Segments: an update acquires the lock for each segment; the test counts the acquisitions */

static void test_segments(void) {
	static const struct {
		uint64_t granularity;
		uint32_t lock_count; /* expected number of acquisitions for LENGTH elements */
	} of[] = {{0, 1},    {800, 5},  {799, 5},  {801, 5},  {520, 8},
		  {2000, 2}, {3992, 2}, {3993, 1}, {4000, 1}, {1 << 20, 1}};
	static int64_t ones[LENGTH], before[LENGTH];
	struct gompi_win_member *m = gompi_member(w, 0);
	element = MPI_INT64_T, size = 8, shift = 0;
	for (int i = 0; i < LENGTH; i++)
		ones[i] = 1;
	for (unsigned k = 0; k < sizeof of / sizeof *of; k++) {
		gompi_store_seq_cst(&w->granularity, of[k].granularity);
		for (int i = 0; i < LENGTH; i++)
			((int64_t *)memory)[i] = i;
		fresh(CONTENDED_MIN_TRANSFERS);
		CHECK(gompi_update_contiguous(w, 0, memory, ones, before, LENGTH, element, MPI_SUM),
		      "granularity %llu: no update at once", (unsigned long long)of[k].granularity);
		CHECK(gompi_load(&m->accumulate_lock_streak) == of[k].lock_count - 1,
		      "granularity %llu: the lock was taken %u times, not %u", (unsigned long long)of[k].granularity,
		      gompi_load(&m->accumulate_lock_streak) + 1, of[k].lock_count);
		for (int i = 0; i < LENGTH; i++)
			CHECK(before[i] == i && ((int64_t *)memory)[i] == i + 1,
			      "granularity %llu: element %d was %lld, is %lld", (unsigned long long)of[k].granularity,
			      i, (long long)before[i], (long long)((int64_t *)memory)[i]);
	}
	/* gompi_update_contiguous returns false if a segment has at most GOMPI_ATOMIC_MAX_COUNT elements. */
	gompi_store_seq_cst(&w->granularity, 8 * GOMPI_ATOMIC_MAX_COUNT);
	CHECK(!gompi_update_contiguous(w, 0, memory, ones, before, LENGTH, element, MPI_SUM),
	      "small segments are updated at once");
	gompi_store_seq_cst(&w->granularity, 0);
}

/* --- The memory returns to small mode after many small updates, under the lock or by the owner */

static void adds_small(int i) {
	gompi_a32 *word = &gompi_member(w, 0)->accumulate_state;
	for (int k = 0; k < (i == 0 ? 10000 : 1000); k++)
		add(0, 1, NULL);
	CHECK(gompi_load(word) == (gompi_node.has_membarrier ? 0 : ACCUMULATE_BULK),
	      "word %#x after many small updates of %s thread", gompi_load(word), i == 0 ? "this" : "another");
}

static void adds_small_other_thread(int i) {
	if (i == 1)
		adds_small(1);
}

static void returns_to_small(void) {
	gompi_a32 *word = &gompi_member(w, 0)->accumulate_state;
	element = MPI_INT64_T, size = 8, shift = 0;
	gompi_store_seq_cst(&w->granularity, 0);
	for (int i = 0; i < 2; i++) {
		fresh(0);
		CHECK(add(0, LENGTH, NULL) == MPI_SUCCESS &&
			      gompi_load(word) == (gompi_node.has_membarrier ? gompi_my_owner_id : ACCUMULATE_BULK),
		      "word %#x after a large one", gompi_load(word));
		if (i == 0)
			adds_small(0);
		else
			unit_threads(2, adds_small_other_thread);
	}
	/* An owner that makes some large updates between its small ones keeps the ownership. */
	fresh(0);
	for (int i = 0; i < 10000; i++)
		CHECK(add(0, i % 1000 == 0 ? LENGTH : 1, NULL) == MPI_SUCCESS, "an update failed");
	CHECK(gompi_load(word) == (gompi_node.has_membarrier ? gompi_my_owner_id : 1),
	      "word %#x after large and small ones", gompi_load(word));
	/* After many ownership transfers, the first large update makes no thread the owner. The memory returns to small
	 * mode even after updates of 3 elements. */
	fresh(CONTENDED_MIN_TRANSFERS);
	CHECK(add(0, LENGTH, NULL) == MPI_SUCCESS && gompi_load(word) == ACCUMULATE_BULK, "word %#x, contended",
	      gompi_load(word));
	for (int i = 0; i < 1000; i++)
		add(0, 3, NULL);
	CHECK(gompi_load(word) == (gompi_node.has_membarrier ? 0 : ACCUMULATE_BULK),
	      "word %#x after 1000 of 3 elements", gompi_load(word));
	/* After many large updates of a single thread, this thread becomes the owner. */
	for (int i = 0; i < 10000; i++)
		add(0, LENGTH, NULL);
	CHECK(gompi_load(word) == (gompi_node.has_membarrier ? gompi_my_owner_id : ACCUMULATE_BULK),
	      "word %#x after 10000 large ones", gompi_load(word));
}

/* --- A thread that revokes the ownership waits until the owner has left its update */

static gompi_a32 stage;

static void revokes(int i) {
	struct gompi_win_member *m = gompi_member(w, 0);
	if (i == 1) {
		UNIT_UNTIL(gompi_load_acquire(&stage) == 1);
		CHECK(gompi_accumulate_lock(w, 0) == MPI_SUCCESS, "no lock");
		gompi_store_release(&stage, 2);
		UNIT_UNTIL(gompi_load_acquire(&stage) == 3);
		gompi_accumulate_unlock(w, 0, false);
		return;
	}
	fresh(0);
	CHECK(add(0, LENGTH, NULL) == MPI_SUCCESS, "an update failed");
	CHECK(gompi_unlocked_update_begin(m) == HOLD_OWNER, "not the owner after a large update");
	uint32_t barriers = gompi_load(&unit_membarriers);
	gompi_store_release(&stage, 1);
	UNIT_UNTIL(gompi_load(&m->accumulate_state) & ACCUMULATE_LOCKED);
	for (int k = 0; k < 200; k++) {
		CHECK(gompi_load(&stage) == 1, "the lock was taken during an owner's update");
		unit_late(10);
	}
	gompi_unlocked_update_end();
	CHECK(gompi_unlocked_update_begin(m) == HOLD_NOTHING, "an owner's update beside the lock");
	UNIT_UNTIL(gompi_load_acquire(&stage) == 2);
	CHECK(gompi_load(&unit_membarriers) == barriers + 1, "%u barriers of the other processes, not 1",
	      gompi_load(&unit_membarriers) - barriers);
	gompi_store_release(&stage, 3);
	UNIT_UNTIL(!(gompi_load_acquire(&m->accumulate_state) & ACCUMULATE_LOCKED));
	CHECK(gompi_load(&m->accumulate_state) == ACCUMULATE_BULK, "word %#x after a change of hands",
	      gompi_load(&m->accumulate_state));
	barriers = gompi_load(&unit_membarriers);
	CHECK(add(0, LENGTH, NULL) == MPI_SUCCESS && gompi_load(&unit_membarriers) == barriers,
	      "a barrier where nobody owns the memory");
}

static void owner(void) {
	element = MPI_INT64_T, size = 8, shift = 0;
	gompi_store_seq_cst(&w->granularity, 0);
	gompi_store(&stage, 0);
	unit_threads(2, revokes);
}

/* Marks this process, the only one of the node, as failed: a lock that is held has a dead holder. The function `revive`
 * undoes this. */
static void die(void) {
	gompi_store(&gompi_my_cell()->state, GOMPI_STATE_FAILED);
	gompi_store(&gompi_node_header()->failed_count, 1);
}
static void revive(void) {
	gompi_store(&gompi_node_header()->failed_count, 0);
	gompi_store(&gompi_my_cell()->state, 0);
}

/* Checks that updates fail if the memory's owner died during an update, and succeed if it died between two updates. */
static void owner_dies(void) {
	struct gompi_win_member *m = gompi_member(w, 0);
	struct gompi_cell *c = gompi_my_cell();
	uint32_t claim = ACCUMULATE_OWNED | (GOMPI_ACTIVITY_SLOTS - 1) << ACCUMULATE_OWNER_SHIFT;
	fresh(0);
	gompi_store(&m->accumulate_state, claim);
	gompi_store(&c->activity[GOMPI_ACTIVITY_SLOTS - 1].seq, 1);
	die();
	for (int i = 0; i < 2; i++)
		CHECK(add(0, LENGTH, NULL) == MPI_ERR_PROC_ABORTED &&
			      gompi_load(&m->accumulate_state) & ACCUMULATE_LOCKED,
		      "word %#x after the owner died in an update", gompi_load(&m->accumulate_state));
	gompi_store(&c->activity[GOMPI_ACTIVITY_SLOTS - 1].seq, 0);
	fresh(0);
	gompi_store(&m->accumulate_state, claim);
	CHECK(add(0, LENGTH, NULL) == MPI_SUCCESS, "an owner died outside of an update");
	revive();
	fresh(0);
}

/* --- A thread that requests the lock waits for small updates in progress and for the lock holder */

static gompi_a32 locked;

static void locks(int i) {
	gompi_a32 *word = &gompi_member(w, 0)->accumulate_state;
	if (i == 1) {
		UNIT_UNTIL(gompi_load_acquire(&locked) == 1);
		CHECK(gompi_accumulate_lock(w, 0) == MPI_SUCCESS, "no lock");
		gompi_store_release(&locked, 2);
		UNIT_UNTIL(gompi_load(&unit_asleep) == 1);
		gompi_accumulate_unlock(w, 0, false);
		return;
	}
	bool small = gompi_unlocked_update_begin(gompi_member(w, 0)) == HOLD_ACTIVITY;
	CHECK(small == gompi_node.has_membarrier, "small updates are %spossible", small ? "" : "not ");
	uint32_t barriers = gompi_load(&unit_membarriers);
	gompi_store_release(&locked, 1);
	if (small) {
		UNIT_UNTIL(gompi_load(word) & ACCUMULATE_LOCKED);
		for (int k = 0; k < 200; k++) {
			CHECK(gompi_load(&locked) == 1, "the lock was taken during a small update");
			unit_late(10);
		}
		gompi_unlocked_update_end();
		CHECK(gompi_unlocked_update_begin(gompi_member(w, 0)) == HOLD_NOTHING,
		      "a small update beside the lock");
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
	fresh(CONTENDED_MIN_TRANSFERS);
	unit_threads(2, locks);
}

/* --- A lock whose holder is dead */

static uint64_t activity_seq(void) { return gompi_my_activity != NULL ? gompi_load(&gompi_my_activity->seq) : 0; }

/* Checks that a failed update has changed no data, and released neither the dead process's lock nor another flag. */
static void check_unchanged(const char *what, int rc, const char *before, uint64_t seq_before) {
	CHECK(rc == MPI_ERR_PROC_ABORTED, "%s: class %d", what, rc);
	CHECK(memcmp(memory, before, BYTES) == 0, "%s: memory has changed", what);
	CHECK(gompi_load(&gompi_member(w, 0)->accumulate_state) & ACCUMULATE_LOCKED,
	      "%s: the failed process' lock was released", what);
	CHECK(activity_seq() % 2 == 0 && activity_seq() >= seq_before, "%s: the activity flag is set", what);
}

static void holder_dies(void) {
	static char before[BYTES];
	gompi_a32 *word = &gompi_member(w, 0)->accumulate_state;
	const uint64_t ones[2 * LENGTH] = {1, 1, 1};
	struct gompi_operation o = {.kind = RMA_ACCUMULATE, .op = MPI_SUM};
	element = MPI_INT64_T, size = 8, shift = 0;
	gompi_store_seq_cst(&w->granularity, 0);
	memcpy(before, memory, BYTES);
	uint64_t seq_before = activity_seq();

	/* A dead process holds the lock when the update begins. */
	die();
	gompi_store(word, ACCUMULATE_BULK | ACCUMULATE_LOCKED);
	check_unchanged("begin, large", add(0, LENGTH, NULL), before, seq_before);
	check_unchanged("begin, small", add(0, 1, NULL), before, seq_before);

	/* A small update that began without the lock reaches an unaligned block, for which it needs the lock. */
	gompi_store(word, 0);
	struct gompi_update u = {.w = w, .operation = &o, .element = element};
	CHECK(gompi_update_begin(&u, 2, memory) == MPI_SUCCESS, "begin");
	if (u.hold == HOLD_ACTIVITY) {
		gompi_store(word, ACCUMULATE_BULK | ACCUMULATE_LOCKED);
		check_unchanged("odd block", gompi_update(&u, memory + 17, ones, NULL, 1), before, seq_before);
		CHECK(u.hold == HOLD_NOTHING, "odd block: something is held");
	}
	gompi_update_end(&u);
	if (gompi_node.has_membarrier)
		check_unchanged("end after an odd block", MPI_ERR_PROC_ABORTED, before, seq_before);

	/* A large update releases the lock after its first segment. Then a process acquires the lock and dies. */
	gompi_store(word, 0);
	gompi_store_seq_cst(&w->granularity, 8 * LENGTH);
	u = (struct gompi_update){.w = w, .operation = &o, .element = element};
	CHECK(gompi_update_begin(&u, 2 * LENGTH, memory) == MPI_SUCCESS && u.elements_left == LENGTH,
	      "begin, in segments");
	CHECK(gompi_update(&u, memory, ones, NULL, LENGTH) == MPI_SUCCESS && u.elements_left == 0, "first segment");
	memcpy(before, memory, BYTES);
	gompi_update_end(&u);
	gompi_store(word, ACCUMULATE_BULK | ACCUMULATE_LOCKED);
	check_unchanged("second segment", gompi_update(&u, memory, ones, NULL, LENGTH), before, seq_before);
	gompi_update_end(&u);
	check_unchanged("end after the second segment", MPI_ERR_PROC_ABORTED, before, seq_before);
	gompi_store(word, 0);
	revive();
}

int main(void) {
	unit_node(1);
	unit_types();
	unit_sleep_forever = true;
	memory = unit_memory(BYTES);
	w = unit_window(1, memory, BYTES, true);
	const bool membarrier = gompi_node.has_membarrier;
	for (int i = 0; i < 4; i++) {
		gompi_node.policy.is_oversubscribed = i % 2;
		gompi_node.has_membarrier = membarrier && i < 2;
		for (uint32_t transfers = 0; transfers <= CONTENDED_MIN_TRANSFERS;
		     transfers += CONTENDED_MIN_TRANSFERS) {
			fresh(transfers);
			all_sums();
		}
		waits();
		if (gompi_node.has_membarrier)
			owner();
	}
	gompi_node.has_membarrier = membarrier;
	returns_to_small();
	if (membarrier) { /* without membarrier(2) there are no activity flags and no owners */
		test_segments();
		owner_dies();
	}
	holder_dies();
	return unit_end();
}
