// The barrier has two algorithms. If there is a core for each member, it uses dissemination, with ceil(log2 n) rounds
// of one-way signals. With fewer cores, a member would be descheduled in each round of a dissemination barrier. So with
// fewer cores it uses a central algorithm: a counter of arrivals, and one word on which all members wait. Each process
// then needs to run only once. The choice depends on the number of members, so it is the same for all of them.
#include "base/barrier.h"

#include "base/tuning.h"

struct round_wait {
	gompi_a32 *word;
	uint32_t number;
};

static bool is_round_done(void *arg) {
	struct round_wait *r = arg;
	// acquire: pairs with the release of the partner's arrival. The signed difference is correct also after the
	// number has wrapped around at 2^32.
	return (int32_t)(gompi_load_acquire(r->word) - r->number) >= 0;
}

static int central_barrier(struct gompi_barrier *b, int n, uint32_t number, const struct gompi_wait_desc *desc) {
	// seq_cst: releases the earlier stores of this member, and lets the last member acquire the stores of all
	// members. The last member passes them on by its release store to `phase`, for which all members wait.
	if (gompi_add_seq_cst(&b->arrived, 1) + 1 == (uint32_t)n * number) {
		gompi_store_release(&b->phase, number);
		gompi_wake(&b->wait);
		return 0;
	}
	struct round_wait r = {&b->phase, number};
	return gompi_await(&b->wait, is_round_done, &r, desc);
}

int gompi_shared_barrier(struct gompi_barrier *b, int n, int me, uint32_t *number, const struct gompi_wait_desc *desc) {
	uint32_t k = ++*number;
	if (n == 1) {
		gompi_full_fence();
		return 0;
	}
	if (n > gompi_node.core_count)
		return central_barrier(b, n, k, desc);
	for (int round = 0, d = 1; d < n; round++, d *= 2) {
		int to = me + d < n ? me + d : me + d - n;
		struct gompi_barrier_member *partner = &b->member[to];
		// release: makes the earlier stores of this member visible to a partner that sees the signal. A locked
		// instruction would wait until the store has reached the other core. With a plain store, this core
		// polls for its own signal meanwhile.
		gompi_store_release(&partner->round[round], k);
		struct round_wait r = {&b->member[me].round[round], k};
		bool done = false;
		for (int i = 0; i < GOMPI_BARRIER_POLLS && !done; i++)
			done = is_round_done(&r);
		gompi_wake(&partner->wait);
		int rc = done ? 0 : gompi_await(&b->member[me].wait, is_round_done, &r, desc);
		if (rc)
			return rc;
	}
	return 0;
}

struct arrivals_wait {
	gompi_a32 *arrived;
	uint32_t all;
};

static bool have_all_arrived(void *arg) {
	struct arrivals_wait *w = arg;
	return gompi_load_acquire(w->arrived) == w->all; // pairs with the addition in gompi_barrier_gather
}

int gompi_barrier_gather(struct gompi_barrier *b, int n, int me, uint32_t *number, const struct gompi_wait_desc *desc) {
	uint32_t all = (uint32_t)(n - 1) * ++*number;
	if (me == 0) {
		struct arrivals_wait w = {&b->arrived, all};
		return have_all_arrived(&w) ? 0 : gompi_await(&b->member[0].wait, have_all_arrived, &w, desc);
	}
	// seq_cst: releases the earlier stores of this member and of the members that have arrived before.
	if (gompi_add_seq_cst(&b->arrived, 1) + 1 == all)
		gompi_wake_after_rmw(&b->member[0].wait);
	return 0;
}

int gompi_barrier_release(struct gompi_barrier *b, int n, int me, uint32_t number, const struct gompi_wait_desc *desc) {
	if (me != 0) {
		struct round_wait r = {&b->phase, number};
		return gompi_await(&b->wait, is_round_done, &r, desc);
	}
	gompi_store_release(&b->phase, number); // pairs with the acquire in is_round_done
	if (n > 1)
		gompi_wake(&b->wait);
	return 0;
}
