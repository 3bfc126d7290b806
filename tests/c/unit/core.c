/* Proves: a thread from which others take the core for a good part of its time, when it offers it, goes to another one
 * (base/core.h), by a mask without its own core, and may use the same ones afterwards; not at the first time, so that
 * two do not go together, each time after a longer pause, and not at all where it may use one core only or where cores
 * are short. */
#include "unit.h"

#include "base/core.h"

static const int64_t US = 1000, MS = 1000000;

static uint64_t allowed(void) {
	uint64_t may[128] = {0};
	CHECK(__real_syscall(SYS_sched_getaffinity, 0, sizeof may, (long)may, NULL, 0, 0) > 0, "sched_getaffinity");
	return may[0];
}

/* Offers for a time, each of 10 us, of which others have the core for so many; what was called meanwhile. */
static uint32_t offers(int64_t *now, int64_t length, int64_t taken) {
	uint32_t before = gompi_load(&unit_core_calls);
	for (int64_t end = *now + length; *now < end; *now += 10 * US)
		gompi_core_offered(*now, *now + taken);
	return gompi_load(&unit_core_calls) - before;
}

/* A span of time in which others take half of the core. */
static uint32_t shared(int64_t *now) { return offers(now, 210 * US, 5 * US); }
/* One in which nobody does. */
static uint32_t alone(int64_t *now) { return offers(now, 210 * US, 300); }

/* How long it takes until the thread moves. */
static int64_t next_move(int64_t *now) {
	int64_t start = *now;
	for (int i = 0; i < 10000; i++)
		if (shared(now) != 0)
			return *now - start;
	CHECK(false, "no move in %lld ms", (long long)((*now - start) / MS));
	return 0;
}

static void *moves(void *cores) {
	int64_t now = 1000 * MS;
	CHECK(shared(&now) == 0, "moved at once");
	if (*(int *)cores < 2) {
		CHECK(offers(&now, 50 * MS, 5 * US) == 0, "moved with one core");
		return NULL;
	}
	const uint64_t may = allowed();
	alone(&now);
	CHECK(shared(&now) == 0, "counted what was before");
	CHECK(shared(&now) == 2, "did not move");
	CHECK(unit_cores[0] == may && allowed() == may, "may use %llx afterwards, not %llx",
	      (unsigned long long)unit_cores[0], (unsigned long long)may);
	uint64_t left = may & ~unit_cores[1];
	CHECK((unit_cores[1] & ~may) == 0 && left != 0 && (left & (left - 1)) == 0, "went from %llx to %llx",
	      (unsigned long long)may, (unsigned long long)unit_cores[1]);
	/* A pause of a tenth of a second at most, which it reaches. */
	int64_t longest = 0;
	for (int i = 0; i < 40; i++) {
		int64_t took = next_move(&now);
		longest = took > longest ? took : longest;
	}
	CHECK(longest > 30 * MS && longest < 120 * MS, "the longest pause is %lld ms", (long long)(longest / MS));
	/* And it begins anew where a move was good. */
	alone(&now);
	alone(&now);
	CHECK(shared(&now) == 0, "moved at once after a good move");
	CHECK(next_move(&now) <= MS, "a long pause after a good move");
	alone(&now);
	/* Little that others take is no reason, and neither is what was long ago. */
	CHECK(offers(&now, 300 * MS, 2 * US) == 0, "moved for a fifth of its time");
	for (int i = 0; i < 100; i++, now += 5 * MS)
		CHECK(offers(&now, 100 * US, 5 * US) == 0, "counted what was before a sleep");
	gompi_node.policy.crowded = true;
	CHECK(offers(&now, 300 * MS, 5 * US) == 0, "moved where cores are short");
	gompi_node.policy.crowded = false;
	return NULL;
}

static void *moves_nowhere(void *cores) {
	uint64_t one[128] = {allowed()};
	one[0] &= -one[0];
	CHECK(__real_syscall(SYS_sched_setaffinity, 0, sizeof one, (long)one, NULL, 0, 0) == 0, "sched_setaffinity");
	*(int *)cores = 1;
	return moves(cores);
}

/* Each in a thread of its own, which has moved nowhere yet. */
static void in_thread(void *(*run)(void *), int cores) {
	pthread_t t;
	CHECK(pthread_create(&t, NULL, run, &cores) == 0 && pthread_join(t, NULL) == 0, "a thread");
}

int main(void) {
	unit_node(1);
	in_thread(moves, __builtin_popcountll(allowed()));
	in_thread(moves_nowhere, 1);
	return unit_end();
}
