/* Proves: no member leaves the n-th barrier (base/barrier.h) before all members have entered it. Stores before the
 * barrier are visible to all members after it, and no sleeping member misses its wake-up. Tests both barrier algorithms
 * (dissemination and central) with 1 to 8 members, and the wrap-around of the barrier counter. The same holds for a
 * split barrier, where only member 0 runs between the two halves. */
#include "../unit.h"

#include "base/barrier.h"

enum { MAX_MEMBERS = 8, ROUND_SLOTS = 2 };

static struct gompi_barrier *b;
static int n, rounds;
static uint32_t first;
static long stored[ROUND_SLOTS][MAX_MEMBERS]; /* not atomic: the barrier orders the accesses */
static bool is_split;
static long gather_count; /* only member 0 changes it */

static int run_barrier(int me, uint32_t *number) {
	static const struct gompi_wait_desc what = {.call = "barrier", .peer = -1, .object = 0};
	if (!is_split)
		return gompi_shared_barrier(b, n, me, number, &what);
	int rc = gompi_barrier_gather(b, n, me, number, &what);
	if (rc == MPI_SUCCESS && me == 0) {
		gather_count++;
		for (int i = 0; i < n; i++)
			CHECK(stored[(gather_count - 1) % ROUND_SLOTS][i] == gather_count, "member %d had not come", i);
	}
	return rc ? rc : gompi_barrier_release(b, n, me, *number, &what);
}

static void run_rounds(int me) {
	uint32_t number = first;
	for (int k = 0; k < rounds; k++) {
		stored[k % ROUND_SLOTS][me] = k + 1;
		CHECK(run_barrier(me, &number) == MPI_SUCCESS, "the barrier failed");
		CHECK(!is_split || gather_count == k + 1, "round %d: member 0 was there %ld times", k, gather_count);
		/* These plain loads do not race with stores: a member stores to these elements again only two barriers
		 * later, when all members have loaded them. */
		for (int i = 0; i < n; i++)
			CHECK(stored[k % ROUND_SLOTS][i] == k + 1,
			      "%d members, round %d: member %d left member %d at %ld", n, k, me, i,
			      stored[k % ROUND_SLOTS][i]);
	}
}

/* Sets the state of the barrier as if `number` barriers had completed. */
static void reset_barrier(uint32_t number) {
	b = (struct gompi_barrier *)unit_memory(GOMPI_BARRIER_SIZE(MAX_MEMBERS));
	first = number;
	gompi_store(&b->phase, number);
	gompi_store(&b->arrived, number * (uint32_t)(is_split ? n - 1 : n));
	gather_count = 0;
	for (int i = 0; i < n; i++)
		for (int r = 0; r < 16; r++)
			gompi_store(&b->member[i].round[r], number);
	memset(stored, 0, sizeof stored);
}

int main(void) {
	static const int sizes[] = {1, 2, 3, 5, 8};
	unit_node(1);
	unit_sleep_forever = true;
	for (int form = 0; form < 3; form++) {
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			gompi_node.core_count = form == 1 ? 1 : 1000;
			is_split = form == 2;
			n = sizes[i];
			rounds = 3000 / n;
			unit_hurry = false;
			reset_barrier(0);
			unit_threads(n, run_rounds);
			unit_hurry = true; /* every member sleeps instead of polling */
			reset_barrier(UINT32_MAX - (uint32_t)rounds / 2);
			unit_threads(n, run_rounds);
		}
	}
	CHECK(gompi_load(&unit_sleeps) > 0, "nobody slept");
	/* Tests that the failure of a member ends the waits of the other members. */
	n = 2;
	reset_barrier(0);
	gompi_store(&gompi_node_header()->failed_count, 1);
	for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
		uint32_t number = 0;
		gompi_node.policy.is_oversubscribed = oversubscribed;
		CHECK(gompi_shared_barrier(b, 2, 0, &number,
					   &(struct gompi_wait_desc){.call = "barrier", .peer = -1, .object = 0}) ==
			      MPI_ERR_PROC_ABORTED,
		      "a barrier without its other member");
	}
	return unit_end();
}
