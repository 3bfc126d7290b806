/* Proves: a thread that finds its core taken whenever it offers it goes to another one (base/core.h), by a mask without
 * its own core, and may use the same ones afterwards; not at the first time, so that two do not go together, each time
 * after a longer pause, and not at all where it may use one core only or where cores are short. */
#include "unit.h"

#include "base/core.h"

enum { ENOUGH = 6 };
static const int64_t MS = 1000000;

static uint64_t allowed(void) {
	uint64_t may[128] = {0};
	CHECK(__real_syscall(SYS_sched_getaffinity, 0, sizeof may, (long)may, NULL, 0, 0) > 0, "sched_getaffinity");
	return may[0];
}

static uint32_t taken(int times, int64_t now) {
	uint32_t before = gompi_load(&unit_core_calls);
	for (int i = 0; i < times; i++)
		gompi_core_taken(now);
	return gompi_load(&unit_core_calls) - before;
}

/* The first time in steps of step after which the thread moves. */
static int64_t next_move(int64_t now, int64_t step) {
	for (int i = 0; i < 10000; i++, now += step)
		if (taken(ENOUGH, now) != 0)
			return now;
	CHECK(false, "no move until %lld", (long long)now);
	return now;
}

static void *moves(void *cores) {
	const int64_t first = 1000 * MS;
	int64_t now = first;
	CHECK(taken(ENOUGH, now) == 0, "moved at once");
	if (*(int *)cores < 2) {
		CHECK(taken(ENOUGH, now + 10 * MS) == 0, "moved with one core");
		return NULL;
	}
	const uint64_t may = allowed();
	now += MS;
	CHECK(taken(ENOUGH - 1, now) == 0, "moved too early");
	gompi_core_kept();
	CHECK(taken(ENOUGH - 1, now) == 0, "counted what was before");
	CHECK(taken(1, now) == 2, "did not move");
	CHECK(unit_cores[0] == may && allowed() == may, "may use %llx afterwards, not %llx",
	      (unsigned long long)unit_cores[0], (unsigned long long)may);
	uint64_t left = may & ~unit_cores[1];
	CHECK((unit_cores[1] & ~may) == 0 && left != 0 && (left & (left - 1)) == 0, "went from %llx to %llx",
	      (unsigned long long)may, (unsigned long long)unit_cores[1]);
	/* A pause of a tenth of a second at most, which it reaches. */
	int64_t longest = 0;
	for (int i = 0; i < 40; i++) {
		int64_t then = next_move(now, MS);
		longest = then - now > longest ? then - now : longest;
		now = then;
	}
	CHECK(longest > 30 * MS && longest < 120 * MS, "the longest pause is %lld ms", (long long)(longest / MS));
	/* And it begins anew where a move was good. */
	for (int i = 0; i < 100; i++)
		gompi_core_kept();
	now += 1000 * MS;
	CHECK(taken(ENOUGH, now) == 0, "moved at once after a good move");
	CHECK(next_move(now, MS / 10) - now <= MS, "a long pause after a good move");
	gompi_node.policy.crowded = true;
	CHECK(taken(100 * ENOUGH, now + 5000 * MS) == 0, "moved where cores are short");
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
