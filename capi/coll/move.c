// Collectives that move data through the members' buffers: bcast, gather, scatter, allgather, alltoall.
#include "coll/direct.h"

// Returns how many bytes each of n blocks can have if the blocks share one buffer of this size class. Rounds down to
// whole cache lines, if a block has at least one.
static uint64_t block_capacity(enum gompi_size_class p, int n) {
	uint64_t share = gompi_size_class_bytes(p) / (uint64_t)n;
	return share >= GOMPI_CACHE_LINE ? share / GOMPI_CACHE_LINE * GOMPI_CACHE_LINE : share;
}

// Returns how many of `size` bytes remain after offset `from`, but at most `step`.
static uint64_t bytes_left(uint64_t size, uint64_t from, uint64_t step) {
	return size > from ? gompi_min_u64(size - from, step) : 0;
}

// --- From the root: MPI_Bcast and MPI_Scatter. In a scatter the buffer holds `share` bytes for each member.

// Runs the root's part of one operation: fills its buffer with the range [from, from + n) of its data or, in a scatter,
// of each member's block, and publishes the buffer. In a scatter, also copies this range of the root's own block.
static inline __attribute__((always_inline)) int root_step(struct gompi_shm_coll *t, struct gompi_coll_call *c,
							   bool is_scatter, enum gompi_size_class p, uint64_t from,
							   uint64_t n, uint64_t share) {
	int rc = gompi_shm_begin(t, p);
	if (rc)
		return rc;
	char *slot = gompi_shm_data(t, t->me, t->seq, p);
	if (!is_scatter)
		gompi_copy_out_shared(slot, c->out + from, n);
	for (int i = 0; is_scatter && i < t->n; i++)
		if (i != t->me)
			gompi_copy_out_shared(slot + (uint64_t)i * share, gompi_block(&c->ins, i) + from, n);
	gompi_shm_publish(t, gompi_signature_word(c->kind, c->root, c->bytes), gompi_format_word(c->bytes, 1));
	if (is_scatter)
		gompi_copy_between(c->out + from, gompi_block(&c->ins, t->me) + from, n);
	return 0;
}

// Moves the data of a call that takes more than one operation, after the first operation. In the first operation the
// members have read the root's size and compared their calls with the root's.
static __attribute__((noinline)) int from_root_large(struct gompi_shm_coll *t, struct gompi_coll_call *c,
						     uint64_t size) {
	const bool is_scatter = c->kind == GOMPI_SCATTER, root = t->me == c->root;
	const uint64_t index = is_scatter ? (uint64_t)t->me : 0;
	int rc;
	if (size > GOMPI_DIRECT_ABOVE_BYTES) {
		bool reads = !root && !gompi_coll_mismatch(c), done;
		struct gompi_direct_blocks d = {.is_readable = !is_scatter || !root || c->ins.list == NULL,
						.is_compared = true,
						.local = !root        ? NULL
							 : is_scatter ? c->ins.base
								      : c->out,
						.from = reads ? c->root : GOMPI_FROM_NONE,
						.offset = index * size,
						.to = {c->out, 0, NULL},
						.bytes = size};
		rc = gompi_shm_read_direct(t, c, &d, gompi_signature_word(c->kind, c->root, size),
					   gompi_format_word(size, 1), &done);
		if (done && root && is_scatter)
			gompi_copy_between(c->out, gompi_block(&c->ins, t->me), size);
		if (rc || done)
			return rc ? rc : gompi_shm_result(c);
	}
	enum gompi_size_class p = gompi_shm_alloc_large(t);
	const uint64_t step = is_scatter ? block_capacity(p, t->n) : gompi_size_class_bytes(p);
	for (uint64_t from = 0; from < size; from += step) {
		uint64_t n = bytes_left(size, from, step);
		if (root) {
			rc = root_step(t, c, is_scatter, p, from, n, step);
		} else {
			t->seq++;
			rc = gompi_shm_await(t, c->root);
			if (rc == 0 && !gompi_coll_mismatch(c))
				gompi_copy_in(c->out + from, gompi_shm_data(t, c->root, t->seq, p) + index * step, n);
		}
		if (rc)
			return rc;
		gompi_shm_finish(t);
	}
	return gompi_shm_result(c);
}

static inline __attribute__((always_inline)) int from_root(struct gompi_shm_coll *t, struct gompi_coll_call *c,
							   bool is_scatter) {
	const bool root = t->me == c->root;
	uint64_t size = c->bytes;
	int rc = root ? 0 : gompi_shm_read_root_header(t, c, &size);
	if (rc)
		return rc;
	enum gompi_size_class p = gompi_size_class_of(is_scatter ? size * (uint64_t)t->n : size);
	const bool is_large = p == GOMPI_IN_LARGE;
	if (root) {
		rc = is_large ? root_step(t, c, is_scatter, GOMPI_IN_HEADER, 0, 0, 0)
			      : root_step(t, c, is_scatter, p, 0, size, size);
		if (rc)
			return rc;
	} else if (!is_large && !gompi_coll_mismatch(c)) {
		gompi_copy_in(c->out, gompi_shm_data(t, c->root, t->seq, p) + (is_scatter ? (uint64_t)t->me * size : 0),
			      size);
	}
	if (is_large || root)
		gompi_shm_finish(t);
	else
		gompi_shm_finish_lazy(t, false);
	return is_large ? from_root_large(t, c, size) : gompi_shm_result(c);
}

int gompi_shm_bcast(struct gompi_shm_coll *t, struct gompi_coll_call *c) { return from_root(t, c, false); }

int gompi_shm_scatter(struct gompi_shm_coll *t, struct gompi_coll_call *c) { return from_root(t, c, true); }

// --- To the root or to all members

// Chooses the size class *p of a call with this many bytes in each member's buffer. If the data takes more than one
// operation, compares the members' calls. If the longest block has more than GOMPI_DIRECT_ABOVE_BYTES bytes, also tries
// to move the data with direct reads, and sets *done if the data has moved.
static int choose_size_class(struct gompi_shm_coll *t, struct gompi_coll_call *c, const struct gompi_direct_blocks *d,
			     uint64_t bytes, uint64_t longest, uint64_t w, uint64_t format, enum gompi_size_class *p,
			     bool *done) {
	*p = gompi_size_class_of(bytes);
	*done = false;
	if (*p != GOMPI_IN_LARGE)
		return 0;
	int rc = longest > GOMPI_DIRECT_ABOVE_BYTES ? gompi_shm_read_direct(t, c, d, w, format, done)
						    : gompi_shm_compare_calls(t, c, w, format);
	if (rc == 0 && !*done)
		*p = gompi_shm_alloc_large(t);
	return rc;
}

// Runs one operation of MPI_Gather, for the range [from, from + bytes) of each block.
static inline __attribute__((always_inline)) int gather_step(struct gompi_shm_coll *t, struct gompi_coll_call *c,
							     enum gompi_size_class p, uint64_t from, uint64_t bytes) {
	uint64_t w = gompi_signature_word(GOMPI_GATHER, c->root, c->bytes), format = gompi_format_word(c->bytes, 1);
	int rc = gompi_shm_begin(t, p);
	if (rc)
		return rc;
	if (t->me != c->root) {
		gompi_copy_out_shared(gompi_shm_data(t, t->me, t->seq, p), c->in + from, bytes);
		gompi_shm_publish(t, w, format);
		gompi_shm_finish(t);
		return 0;
	}
	gompi_shm_publish(t, w, format); // read only by members that make a different call
	gompi_copy_between(gompi_block(&c->outs, t->me) + from, c->in + from, bytes);
	for (int i = 0; i < t->n; i++) {
		if (i == t->me)
			continue;
		rc = gompi_shm_await_prefetch(t, i);
		if (rc)
			return rc;
		if (gompi_shm_check_signature(t, c, i, w, format))
			gompi_copy_in(gompi_block(&c->outs, i) + from, gompi_shm_data(t, i, t->seq, p), bytes);
	}
	t->acked = t->seq - 1;
	gompi_shm_finish_lazy(t, true);
	return 0;
}

static __attribute__((noinline)) int gather_large(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	uint64_t w = gompi_signature_word(GOMPI_GATHER, c->root, c->bytes), format = gompi_format_word(c->bytes, 1);
	bool root = t->me == c->root, done;
	enum gompi_size_class p;
	struct gompi_direct_blocks d = {.is_readable = true,
					.local = root ? NULL : c->in,
					.from = root ? GOMPI_FROM_ALL : GOMPI_FROM_NONE,
					.to = c->outs,
					.bytes = c->bytes};
	int rc = choose_size_class(t, c, &d, c->bytes, c->bytes, w, format, &p, &done);
	if (rc)
		return rc;
	if (done) {
		if (root)
			gompi_copy_between(gompi_block(&c->outs, t->me), c->in, c->bytes);
		return 0;
	}
	uint64_t step = gompi_size_class_bytes(p);
	for (uint64_t from = 0; from < c->bytes && rc == 0; from += step)
		rc = gather_step(t, c, p, from, bytes_left(c->bytes, from, step));
	return rc ? rc : gompi_shm_result(c);
}

int gompi_shm_gather(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	enum gompi_size_class p = gompi_size_class_of(c->bytes);
	if (p == GOMPI_IN_LARGE)
		return gather_large(t, c);
	int rc = gather_step(t, c, p, 0, c->bytes);
	return rc ? rc : gompi_shm_result(c);
}

static uint64_t recv_block_bytes(const struct gompi_coll_call *c, int i) {
	return c->sizes != NULL ? c->sizes[i] : c->bytes;
}

int gompi_shm_allgather(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	uint64_t longest = c->bytes;
	for (int i = 0; c->sizes != NULL && i < t->n; i++)
		longest = longest > c->sizes[i] ? longest : c->sizes[i];
	uint64_t format = gompi_format_word(longest, 1);
	enum gompi_size_class p;
	struct gompi_direct_blocks d = {.is_readable = true,
					.local = c->in,
					.from = GOMPI_FROM_ALL,
					.to = c->outs,
					.bytes = c->bytes,
					.sizes = c->sizes};
	bool done;
	int rc = choose_size_class(t, c, &d, longest, longest, gompi_signature_word(GOMPI_ALLGATHER, 0, 0), format, &p,
				   &done);
	if (rc)
		return rc;
	gompi_copy_between(gompi_block(&c->outs, t->me), c->in, c->bytes);
	if (done)
		return gompi_shm_result(c);
	uint64_t step = gompi_size_class_bytes(p);
	uint64_t from = 0;
	do {
		rc = gompi_shm_begin(t, p);
		if (rc)
			return rc;
		gompi_copy_out_shared(gompi_shm_data(t, t->me, t->seq, p), c->in + from,
				      bytes_left(c->bytes, from, step));
		gompi_shm_publish(t, gompi_signature_word(GOMPI_ALLGATHER, 0, c->bytes), format);
		bool all = true;
		for (int i = 0; i < t->n; i++) {
			if (i == t->me)
				continue;
			uint64_t size = recv_block_bytes(c, i);
			if (from > 0 && from >= size) {
				all = false;
				continue;
			}
			rc = gompi_shm_await(t, i);
			if (rc)
				return rc;
			if (gompi_shm_check_signature(t, c, i, gompi_signature_word(GOMPI_ALLGATHER, 0, size), format))
				gompi_copy_in(gompi_block(&c->outs, i) + from, gompi_shm_data(t, i, t->seq, p),
					      bytes_left(size, from, step));
		}
		if (all)
			t->acked = t->seq - 1;
		gompi_shm_finish(t);
		from += step;
	} while (from < longest);
	return gompi_shm_result(c);
}

int gompi_shm_alltoall(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	uint64_t w = gompi_signature_word(GOMPI_ALLTOALL, 0, c->bytes), format = gompi_format_word(c->bytes, 1);
	enum gompi_size_class p;
	struct gompi_direct_blocks d = {.is_readable = c->ins.list == NULL && c->ins.base != c->outs.base,
					.local = c->ins.base,
					.from = GOMPI_FROM_ALL,
					.offset = (uint64_t)t->me * c->ins.stride,
					.to = c->outs,
					.bytes = c->bytes};
	bool done;
	int rc = choose_size_class(t, c, &d, c->bytes * (uint64_t)t->n, c->bytes, w, format, &p, &done);
	if (rc)
		return rc;
	if (done) {
		gompi_copy_between(gompi_block(&c->outs, t->me), gompi_block(&c->ins, t->me), c->bytes);
		return 0;
	}
	uint64_t share = block_capacity(p, t->n), step = share;
	if (c->bytes * (uint64_t)t->n <= gompi_size_class_bytes(p))
		step = share = c->bytes;
	uint64_t from = 0;
	do {
		uint64_t n = bytes_left(c->bytes, from, step);
		rc = gompi_shm_begin(t, p);
		if (rc)
			return rc;
		char *slot = gompi_shm_data(t, t->me, t->seq, p);
		for (int i = 0; i < t->n; i++)
			if (i != t->me)
				gompi_copy_out_shared(slot + (uint64_t)i * share, gompi_block(&c->ins, i) + from, n);
		gompi_shm_publish(t, w, format);
		gompi_copy_between(gompi_block(&c->outs, t->me) + from, gompi_block(&c->ins, t->me) + from, n);
		for (int i = 0; i < t->n; i++) {
			if (i == t->me)
				continue;
			rc = gompi_shm_await(t, i);
			if (rc)
				return rc;
			if (gompi_shm_check_signature(t, c, i, w, format))
				gompi_copy_in(gompi_block(&c->outs, i) + from,
					      gompi_shm_data(t, i, t->seq, p) + (uint64_t)t->me * share, n);
		}
		t->acked = t->seq - 1;
		gompi_shm_finish(t);
		from += step;
	} while (from < c->bytes);
	return gompi_shm_result(c);
}
