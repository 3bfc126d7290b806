// Collectives that move data through slots: bcast, gather, scatter, allgather, alltoall.
#include "coll/direct.h"

// Returns the bytes for each of n blocks side by side in one slot.
static uint64_t share_of(enum gompi_slot_place p, int n) {
	uint64_t share = gompi_capacity(p) / (uint64_t)n;
	return share >= GOMPI_LINE ? share / GOMPI_LINE * GOMPI_LINE : share;
}

// Returns the bytes of size that remain at offset from, at most step.
static uint64_t left_of(uint64_t size, uint64_t from, uint64_t step) {
	return size > from ? gompi_least(size - from, step) : 0;
}

int gompi_slots_bcast(struct gompi_slots *t, struct gompi_slots_call *c) {
	uint64_t w = gompi_what(GOMPI_BCAST, c->root, c->bytes), plan = gompi_plan(c->bytes, 1), size = c->bytes;
	bool root = t->me == c->root;
	int rc;
	if (!root) {
		rc = gompi_slots_follow(t, c, &size);
		if (rc)
			return rc;
	}
	enum gompi_slot_place p = gompi_place_of(size);
	if (root) {
		rc = gompi_slots_begin(t, p == GOMPI_IN_LARGE ? GOMPI_IN_HEAD : p);
		if (rc)
			return rc;
		if (p != GOMPI_IN_LARGE)
			gompi_copy_out(gompi_slot_data(t, t->me, t->seq, p), c->out, size);
		gompi_slots_publish(t, w, plan);
	} else if (p != GOMPI_IN_LARGE && !gompi_slots_differ(c)) {
		gompi_copy_in(c->out, gompi_slot_data(t, c->root, t->seq, p), size);
	}
	if (p == GOMPI_IN_LARGE || root)
		gompi_slots_finish(t);
	else
		gompi_slots_finish_series(t, false);
	if (p != GOMPI_IN_LARGE)
		return gompi_slots_result(c);
	if (size > GOMPI_DIRECT_FROM) {
		bool reads = !root && !gompi_slots_differ(c), done;
		struct gompi_direct_blocks d = {.able = true,
						.follows = true,
						.mine = root ? c->out : NULL,
						.from = reads ? c->root : GOMPI_FROM_NONE,
						.to = {c->out, 0, NULL},
						.bytes = size};
		rc = gompi_slots_direct(t, c, &d, gompi_what(GOMPI_BCAST, c->root, size), gompi_plan(size, 1), &done);
		if (rc || done)
			return rc ? rc : gompi_slots_result(c);
	}
	p = gompi_slots_large(t);
	uint64_t step = gompi_capacity(p);
	for (uint64_t from = 0; from < size; from += step) {
		uint64_t n = left_of(size, from, step);
		if (root) {
			rc = gompi_slots_begin(t, p);
			if (rc)
				return rc;
			gompi_copy_out(gompi_slot_data(t, t->me, t->seq, p), c->out + from, n);
			gompi_slots_publish(t, w, plan);
		} else {
			t->seq++;
			rc = gompi_slots_await(t, c->root);
			if (rc)
				return rc;
			if (!gompi_slots_differ(c))
				gompi_copy_in(c->out + from, gompi_slot_data(t, c->root, t->seq, p), n);
		}
		gompi_slots_finish(t);
	}
	return gompi_slots_result(c);
}

// Chooses the place of a call that puts this many bytes in each member's slot. For GOMPI_IN_LARGE the members first
// compare their calls. If the longest block is long enough, the data moves directly, and *done is set.
static int agree_on_place(struct gompi_slots *t, struct gompi_slots_call *c, const struct gompi_direct_blocks *d,
			  uint64_t bytes, uint64_t longest, uint64_t w, uint64_t plan, enum gompi_slot_place *p,
			  bool *done) {
	*p = gompi_place_of(bytes);
	*done = false;
	if (*p != GOMPI_IN_LARGE)
		return 0;
	int rc = longest > GOMPI_DIRECT_FROM ? gompi_slots_direct(t, c, d, w, plan, done)
					     : gompi_slots_agree(t, c, w, plan);
	if (rc == 0 && !*done)
		*p = gompi_slots_large(t);
	return rc;
}

// Runs one operation of MPI_Gather, for the range [from, from + bytes) of each block.
static inline __attribute__((always_inline)) int gather_step(struct gompi_slots *t, struct gompi_slots_call *c,
							     enum gompi_slot_place p, uint64_t from, uint64_t bytes) {
	uint64_t w = gompi_what(GOMPI_GATHER, c->root, c->bytes), plan = gompi_plan(c->bytes, 1);
	int rc = gompi_slots_begin(t, p);
	if (rc)
		return rc;
	if (t->me != c->root) {
		gompi_copy_out(gompi_slot_data(t, t->me, t->seq, p), c->in + from, bytes);
		gompi_slots_publish(t, w, plan);
		gompi_slots_finish(t);
		return 0;
	}
	gompi_slots_publish(t, w, plan); // only a member that is in another call reads it
	gompi_copy_between(gompi_block(&c->outs, t->me) + from, c->in + from, bytes);
	for (int i = 0; i < t->n; i++) {
		if (i == t->me)
			continue;
		rc = gompi_slots_await_series(t, i);
		if (rc)
			return rc;
		if (gompi_slots_same(t, c, i, w, plan))
			gompi_copy_in(gompi_block(&c->outs, i) + from, gompi_slot_data(t, i, t->seq, p), bytes);
	}
	t->settled = t->seq - 1;
	gompi_slots_finish_series(t, true);
	return 0;
}

static __attribute__((noinline)) int gather_long(struct gompi_slots *t, struct gompi_slots_call *c) {
	uint64_t w = gompi_what(GOMPI_GATHER, c->root, c->bytes), plan = gompi_plan(c->bytes, 1);
	bool root = t->me == c->root, done;
	enum gompi_slot_place p;
	struct gompi_direct_blocks d = {.able = true,
					.mine = root ? NULL : c->in,
					.from = root ? GOMPI_FROM_ALL : GOMPI_FROM_NONE,
					.to = c->outs,
					.bytes = c->bytes};
	int rc = agree_on_place(t, c, &d, c->bytes, c->bytes, w, plan, &p, &done);
	if (rc)
		return rc;
	if (done) {
		if (root)
			gompi_copy_between(gompi_block(&c->outs, t->me), c->in, c->bytes);
		return 0;
	}
	uint64_t step = gompi_capacity(p);
	for (uint64_t from = 0; from < c->bytes && rc == 0; from += step)
		rc = gather_step(t, c, p, from, left_of(c->bytes, from, step));
	return rc ? rc : gompi_slots_result(c);
}

int gompi_slots_gather(struct gompi_slots *t, struct gompi_slots_call *c) {
	enum gompi_slot_place p = gompi_place_of(c->bytes);
	if (p == GOMPI_IN_LARGE)
		return gather_long(t, c);
	int rc = gather_step(t, c, p, 0, c->bytes);
	return rc ? rc : gompi_slots_result(c);
}

// Runs the root's part of an operation of MPI_Scatter.
static int scatter_out(struct gompi_slots *t, struct gompi_slots_call *c, enum gompi_slot_place p, uint64_t from,
		       uint64_t n, uint64_t share) {
	int rc = gompi_slots_begin(t, p);
	if (rc)
		return rc;
	char *slot = gompi_slot_data(t, t->me, t->seq, p);
	for (int i = 0; i < t->n; i++)
		if (i != t->me)
			gompi_copy_out(slot + (uint64_t)i * share, gompi_block(&c->ins, i) + from, n);
	gompi_slots_publish(t, gompi_what(GOMPI_SCATTER, c->root, c->bytes), gompi_plan(c->bytes, 1));
	gompi_copy_between(c->out + from, gompi_block(&c->ins, t->me) + from, n);
	return 0;
}

int gompi_slots_scatter(struct gompi_slots *t, struct gompi_slots_call *c) {
	uint64_t size = c->bytes;
	bool root = t->me == c->root;
	int rc;
	if (!root) {
		rc = gompi_slots_follow(t, c, &size);
		if (rc)
			return rc;
	}
	enum gompi_slot_place p = gompi_place_of(size * (uint64_t)t->n);
	uint64_t share = size;
	if (root) {
		rc = p == GOMPI_IN_LARGE ? scatter_out(t, c, GOMPI_IN_HEAD, 0, 0, 0)
					 : scatter_out(t, c, p, 0, size, share);
		if (rc)
			return rc;
	} else if (p != GOMPI_IN_LARGE && !gompi_slots_differ(c)) {
		gompi_copy_in(c->out, gompi_slot_data(t, c->root, t->seq, p) + (uint64_t)t->me * share, size);
	}
	if (p == GOMPI_IN_LARGE || root)
		gompi_slots_finish(t);
	else
		gompi_slots_finish_series(t, false);
	if (p != GOMPI_IN_LARGE)
		return gompi_slots_result(c);
	if (size > GOMPI_DIRECT_FROM) {
		bool reads = !root && !gompi_slots_differ(c), done;
		struct gompi_direct_blocks d = {.able = !root || c->ins.list == NULL,
						.follows = true,
						.mine = root ? c->ins.base : NULL,
						.from = reads ? c->root : GOMPI_FROM_NONE,
						.skip = (uint64_t)t->me * size,
						.to = {c->out, 0, NULL},
						.bytes = size};
		rc = gompi_slots_direct(t, c, &d, gompi_what(GOMPI_SCATTER, c->root, size), gompi_plan(size, 1), &done);
		if (done && root)
			gompi_copy_between(c->out, gompi_block(&c->ins, t->me), size);
		if (rc || done)
			return rc ? rc : gompi_slots_result(c);
	}
	p = gompi_slots_large(t);
	share = share_of(p, t->n);
	for (uint64_t from = 0; from < size; from += share) {
		uint64_t n = left_of(size, from, share);
		if (root) {
			rc = scatter_out(t, c, p, from, n, share);
			if (rc)
				return rc;
		} else {
			t->seq++;
			rc = gompi_slots_await(t, c->root);
			if (rc)
				return rc;
			if (!gompi_slots_differ(c))
				gompi_copy_in(c->out + from,
					      gompi_slot_data(t, c->root, t->seq, p) + (uint64_t)t->me * share, n);
		}
		gompi_slots_finish(t);
	}
	return gompi_slots_result(c);
}

static uint64_t size_of(const struct gompi_slots_call *c, int i) { return c->sizes != NULL ? c->sizes[i] : c->bytes; }

int gompi_slots_allgather(struct gompi_slots *t, struct gompi_slots_call *c) {
	uint64_t longest = c->bytes;
	for (int i = 0; c->sizes != NULL && i < t->n; i++)
		longest = longest > c->sizes[i] ? longest : c->sizes[i];
	uint64_t plan = gompi_plan(longest, 1);
	enum gompi_slot_place p;
	struct gompi_direct_blocks d = {.able = true,
					.mine = c->in,
					.from = GOMPI_FROM_ALL,
					.to = c->outs,
					.bytes = c->bytes,
					.sizes = c->sizes};
	bool done;
	int rc = agree_on_place(t, c, &d, longest, longest, gompi_what(GOMPI_ALLGATHER, 0, 0), plan, &p, &done);
	if (rc)
		return rc;
	gompi_copy_between(gompi_block(&c->outs, t->me), c->in, c->bytes);
	if (done)
		return gompi_slots_result(c);
	uint64_t step = gompi_capacity(p);
	uint64_t from = 0;
	do {
		rc = gompi_slots_begin(t, p);
		if (rc)
			return rc;
		gompi_copy_out(gompi_slot_data(t, t->me, t->seq, p), c->in + from, left_of(c->bytes, from, step));
		gompi_slots_publish(t, gompi_what(GOMPI_ALLGATHER, 0, c->bytes), plan);
		bool all = true;
		for (int i = 0; i < t->n; i++) {
			uint64_t size = size_of(c, i);
			if (i == t->me)
				continue;
			if (from > 0 && from >= size) {
				all = false;
				continue;
			}
			rc = gompi_slots_await(t, i);
			if (rc)
				return rc;
			if (gompi_slots_same(t, c, i, gompi_what(GOMPI_ALLGATHER, 0, size), plan))
				gompi_copy_in(gompi_block(&c->outs, i) + from, gompi_slot_data(t, i, t->seq, p),
					      left_of(size, from, step));
		}
		if (all)
			t->settled = t->seq - 1;
		gompi_slots_finish(t);
		from += step;
	} while (from < longest);
	return gompi_slots_result(c);
}

int gompi_slots_alltoall(struct gompi_slots *t, struct gompi_slots_call *c) {
	uint64_t w = gompi_what(GOMPI_ALLTOALL, 0, c->bytes), plan = gompi_plan(c->bytes, 1);
	enum gompi_slot_place p;
	struct gompi_direct_blocks d = {.able = c->ins.list == NULL && c->ins.base != c->outs.base,
					.mine = c->ins.base,
					.from = GOMPI_FROM_ALL,
					.skip = (uint64_t)t->me * c->ins.stride,
					.to = c->outs,
					.bytes = c->bytes};
	bool done;
	int rc = agree_on_place(t, c, &d, c->bytes * (uint64_t)t->n, c->bytes, w, plan, &p, &done);
	if (rc)
		return rc;
	if (done) {
		gompi_copy_between(gompi_block(&c->outs, t->me), gompi_block(&c->ins, t->me), c->bytes);
		return 0;
	}
	uint64_t share = share_of(p, t->n), step = share;
	if (c->bytes * (uint64_t)t->n <= gompi_capacity(p))
		step = share = c->bytes;
	uint64_t from = 0;
	do {
		uint64_t n = left_of(c->bytes, from, step);
		rc = gompi_slots_begin(t, p);
		if (rc)
			return rc;
		char *slot = gompi_slot_data(t, t->me, t->seq, p);
		for (int i = 0; i < t->n; i++)
			if (i != t->me)
				gompi_copy_out(slot + (uint64_t)i * share, gompi_block(&c->ins, i) + from, n);
		gompi_slots_publish(t, w, plan);
		gompi_copy_between(gompi_block(&c->outs, t->me) + from, gompi_block(&c->ins, t->me) + from, n);
		for (int i = 0; i < t->n; i++) {
			if (i == t->me)
				continue;
			rc = gompi_slots_await(t, i);
			if (rc)
				return rc;
			if (gompi_slots_same(t, c, i, w, plan))
				gompi_copy_in(gompi_block(&c->outs, i) + from,
					      gompi_slot_data(t, i, t->seq, p) + (uint64_t)t->me * share, n);
		}
		t->settled = t->seq - 1;
		gompi_slots_finish(t);
		from += step;
	} while (from < c->bytes);
	return gompi_slots_result(c);
}
