// Shared-memory reductions. Either all members reduce the same operands in the same order, or one member reduces them
// for all. So all members get bitwise identical results.
#include "base/minmax.h"
#include "coll/direct.h"
#include "transport/cma.h"

// The operands of one operation, in the members' buffers. The field `local` points to this member's own operand. If
// possible, that is the operand in the application's memory and not the copy in this member's buffer, because other
// members fetch the cache lines of the buffer at the same time.
struct operands {
	struct gompi_shm_coll *t;
	uint64_t number;
	enum gompi_size_class size_class;
	const char *local;
	// Offsets of the operand in the buffers of the members of lower and of higher ranks.
	uint64_t offset_in_lower, offset_in_higher;
};

static inline const char *operand_of(const void *arg, int i) {
	const struct operands *o = arg;
	return i == o->t->me ? o->local : gompi_shm_data(o->t, i, o->number, o->size_class);
}

// Returns the operand of rank i at the offsets of o. Small reductions use operand_of, which needs fewer instructions.
static inline const char *part_of_operand(const void *arg, int i) {
	const struct operands *o = arg;
	const uint64_t offset = i < o->t->me ? o->offset_in_lower : o->offset_in_higher;
	return i == o->t->me ? o->local : operand_of(o, i) + offset;
}

// Runs one operation: every member fills its buffer, and a member with upto > 0 reduces the operands of ranks [0,
// upto). Stores the first error of the reduction in *failed. The call continues after such an error, because the other
// members still need this member's operands.
static inline int reduce_step(struct gompi_shm_coll *t, struct gompi_coll_call *c, enum gompi_size_class p,
			      uint64_t from, uint64_t bytes, int upto, int *failed) {
	const struct gompi_reduction *r = &c->reduction;
	uint64_t w = gompi_signature_word(c->kind, c->root, c->bytes), format = gompi_format_word(c->bytes, r->size);
	int rc = gompi_shm_begin(t, p);
	if (rc)
		return rc;
	char copy[GOMPI_SHM_INLINE_BYTES], *slot = gompi_shm_data(t, t->me, t->seq, p);
	const bool in_place = c->in == c->out; // the result overwrites the operand
	if (in_place)
		gompi_copy_out(slot, c->in + from, bytes); // this member reads it, too
	else
		gompi_copy_out_shared(slot, c->in + from, bytes);
	gompi_shm_publish(t, w, format);
	struct operands o = {t, t->seq, p, c->in + from, 0, 0};
	if (in_place) {
		o.local = p == GOMPI_IN_HEADER ? copy : slot;
		if (p == GOMPI_IN_HEADER)
			gompi_copy_out(copy, c->in + from, bytes);
	}
	if (upto == t->n) {
		rc = gompi_shm_await_all(t, c, w, format);
		if (rc)
			return rc;
	} else {
		for (int i = upto - 1; i >= 0; i--) {
			if (i == t->me)
				continue;
			rc = gompi_shm_await_prefetch(t, i);
			if (rc)
				return rc;
			gompi_shm_check_signature(t, c, i, w, format);
		}
	}
	if (upto > 0 && bytes > 0 && !gompi_coll_mismatch(c) && !*failed)
		*failed = gompi_reduce_operands(r, upto, c->out + from, bytes, operand_of, &o);
	gompi_shm_finish_lazy(t, true);
	return 0;
}

int gompi_shm_reduce_to_leader(struct gompi_shm_coll *t, struct gompi_coll_call *c, uint64_t w, uint64_t format,
			       uint64_t bytes, char *acc, int *failed) {
	enum gompi_size_class p = gompi_size_class_of(bytes);
	int rc = gompi_shm_begin(t, p);
	if (rc)
		return rc;
	if (t->me != 0)
		gompi_copy_out_shared(gompi_shm_data(t, t->me, t->seq, p), c->in, bytes);
	gompi_shm_publish(t, w, format);
	if (t->me == 0) {
		rc = gompi_shm_await_all(t, c, w, format);
		if (rc)
			return rc;
		struct operands o = {t, t->seq, p, c->in, 0, 0};
		if (bytes > 0 && !gompi_coll_mismatch(c))
			*failed = gompi_reduce_operands(&c->reduction, t->n, acc, bytes, operand_of, &o);
	}
	gompi_shm_finish(t);
	return 0;
}

// One step of a divided reduction. Each member writes its operand to its buffer, except the chunk that it reduces
// itself. Then it reduces its chunk of all operands into its next buffer, from which the other members read the result.
struct chunk_step {
	uint64_t offset, bytes;  // range of the step in the operands
	uint64_t chunk_capacity; // bytes that a buffer has for each chunk
	uint64_t chunk_bytes;    // bytes of each chunk; the last chunks may be shorter
};

static inline uint64_t chunk_begin(const struct chunk_step *s, int i) {
	return gompi_min_u64((uint64_t)i * s->chunk_bytes, s->bytes);
}

static inline uint64_t chunk_length(const struct chunk_step *s, int i) {
	return chunk_begin(s, i + 1) - chunk_begin(s, i);
}

// Returns the offset of member j's chunk in the buffer of member i, which omits member i's own chunk.
static inline uint64_t chunk_offset(const struct chunk_step *s, int i, int j) {
	return (uint64_t)(j < i ? j : j - 1) * s->chunk_capacity;
}

static int split_step(struct gompi_shm_coll *t, struct gompi_coll_call *c, const struct chunk_step *s, int *failed) {
	const struct gompi_reduction *r = &c->reduction;
	const enum gompi_size_class p = GOMPI_IN_LARGE;
	uint64_t w = gompi_signature_word(c->kind, c->root, c->bytes), format = gompi_format_word(c->bytes, r->size);
	const char *operand = c->in + s->offset;
	int rc = gompi_shm_begin(t, p), me = t->me;
	if (rc)
		return rc;
	char *slot = gompi_shm_data(t, me, t->seq, p);
	for (int i = 0; i < t->n; i++)
		if (i != me)
			gompi_copy_out_shared(slot + chunk_offset(s, me, i), operand + chunk_begin(s, i),
					      chunk_length(s, i));
	gompi_shm_publish(t, w, format);
	rc = gompi_shm_await_all(t, c, w, format);
	if (rc)
		return rc;
	// All members have filled their buffers of this operation, so all have finished the previous operation.
	// Therefore this member's next buffer is free.
	char *acc = gompi_shm_data(t, me, t->seq + 1, p);
	struct operands o = {
		t, t->seq, p, operand + chunk_begin(s, me), chunk_offset(s, 0, me), chunk_offset(s, t->n, me)};
	if (!*failed)
		*failed = gompi_reduce_operands(r, t->n, acc, chunk_length(s, me), part_of_operand, &o);
	gompi_shm_finish(t);
	rc = gompi_shm_begin(t, p);
	if (rc)
		return rc;
	gompi_shm_publish(t, w, format);
	bool receives = c->kind == GOMPI_ALLREDUCE || c->root == me;
	for (int i = 0; receives && i < t->n; i++) {
		if (i != me) {
			rc = gompi_shm_await(t, i);
			if (rc)
				return rc;
			gompi_shm_check_signature(t, c, i, w, format);
		}
		gompi_copy_in(c->out + s->offset + chunk_begin(s, i), gompi_shm_data(t, i, t->seq, p),
			      chunk_length(s, i));
	}
	if (receives)
		t->acked = t->seq - 1;
	gompi_shm_finish(t);
	return 0;
}

// Reductions of at least this many bytes are divided: each member reduces one chunk for all members.
enum { SHM_SPLIT_MIN_BYTES = 8 << 10 };

// Returns the number of bytes above which a reduction that is not divided reads the operands directly. With two
// members, a direct read costs a system call and some 300 ns, and saves 0.1 ns per byte. These numbers fit measurements
// of 8 to 32 KiB, with system calls of 400 ns.
static uint64_t direct_above(int members) {
	return members > 2 ? GOMPI_REDUCE_DIRECT_ABOVE
			   : gompi_min_u64(3000 + 10 * (uint64_t)gompi_cma_call_ns(), GOMPI_REDUCE_DIRECT_ABOVE);
}

// Reduces data that needs more than one operation. Not inlined, so that its callers need fewer registers.
static __attribute__((noinline)) int reduce_large(struct gompi_shm_coll *t, struct gompi_coll_call *c, int upto) {
	const struct gompi_reduction *r = &c->reduction;
	int rc, failed = 0;
	bool all = c->kind == GOMPI_ALLREDUCE || c->kind == GOMPI_REDUCE, done = false;
	uint64_t w = gompi_signature_word(c->kind, c->root, c->bytes), format = gompi_format_word(c->bytes, r->size);
	const uint64_t split_above = (uint64_t)t->n * GOMPI_CHUNK_DIRECT_ABOVE;
	// In an allreduce of two members, each reads the other's whole operand: chunks would save no transfer, because
	// each reduced chunk would have to be transferred too. With two members, a divided reduce takes 5.9 us instead
	// of 5.3 for 40 KiB, the same time for 64 KiB, and 82 us instead of 117 for 1 MiB.
	const bool use_chunks = all && (t->n > 2 || (c->kind == GOMPI_REDUCE && c->bytes > 2 * split_above));
	if (c->bytes > (all && t->n > 2 ? split_above : direct_above(t->n))) {
		struct gompi_direct_reduction d = {.is_split = use_chunks,
						   .bytes = upto > 0 ? c->bytes : 0,
						   .upto = upto,
						   .to = c->out,
						   .in_place = upto > 0 && c->in == c->out};
		rc = gompi_shm_reduce_direct(t, c, w, format, &d, &failed, &done);
	} else {
		rc = gompi_shm_compare_calls(t, c, w, format);
	}
	if (rc || done)
		return rc ? rc : failed;
	enum gompi_size_class p = gompi_shm_alloc_large(t);
	if (r->size > gompi_size_class_bytes(p))
		return GOMPI_COLL_USE_MESSAGES;
	uint64_t n = (uint64_t)t->n, chunk_capacity = gompi_size_class_bytes(p) / (n - 1) / r->size * r->size;
	bool is_split = all && p == GOMPI_IN_LARGE && c->bytes >= SHM_SPLIT_MIN_BYTES && chunk_capacity > 0;
	uint64_t step = is_split ? n * chunk_capacity : gompi_size_class_bytes(p) / r->size * r->size;
	for (uint64_t from = 0; from < c->bytes; from += step) {
		uint64_t bytes = gompi_min_u64(c->bytes - from, step);
		if (is_split) {
			struct chunk_step s = {from, bytes, chunk_capacity, (bytes / r->size + n - 1) / n * r->size};
			rc = split_step(t, c, &s, &failed);
		} else {
			rc = reduce_step(t, c, p, from, bytes, upto, &failed);
		}
		if (rc)
			return rc;
	}
	return failed ? failed : gompi_shm_result(c);
}

int gompi_shm_reduce(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	int upto = c->kind == GOMPI_SCAN ? t->me + 1 : c->kind == GOMPI_EXSCAN ? t->me : t->n, failed = 0;
	if (c->kind == GOMPI_REDUCE && t->me != c->root)
		upto = 0;
	enum gompi_size_class p = gompi_size_class_of(c->bytes);
	if (p == GOMPI_IN_LARGE)
		return reduce_large(t, c, upto);
	int rc = reduce_step(t, c, p, 0, c->bytes, upto, &failed);
	return rc ? rc : failed ? failed : gompi_shm_result(c);
}

// Runs MPI_Reduce_scatter: member i gets the reduction of block i of all members.
int gompi_shm_reduce_scatter(struct gompi_shm_coll *t, struct gompi_coll_call *c) {
	const struct gompi_reduction *r = &c->reduction;
	uint64_t longest = 0, n = (uint64_t)t->n;
	for (int i = 0; i < t->n; i++)
		longest = longest > c->sizes[i] ? longest : c->sizes[i];
	uint64_t w = gompi_signature_word(c->kind, 0, c->bytes), format = gompi_format_word(longest, r->size);
	enum gompi_size_class p = GOMPI_IN_SMALL;
	uint64_t chunk_capacity = gompi_size_class_bytes(p) / n / r->size * r->size;
	int rc = 0, failed = 0;
	if (longest > chunk_capacity) {
		bool done = false;
		if (longest > direct_above(t->n)) {
			struct gompi_direct_reduction d = {.bytes = c->sizes[t->me], .upto = t->n, .to = c->out};
			for (int i = 0; i < t->me; i++)
				d.offset += c->sizes[i];
			rc = gompi_shm_reduce_direct(t, c, w, format, &d, &failed, &done);
		} else {
			rc = gompi_shm_compare_calls(t, c, w, format);
		}
		if (rc || done)
			return rc ? rc : failed;
		p = gompi_shm_alloc_large(t);
		chunk_capacity = gompi_size_class_bytes(p) / n / r->size * r->size;
		if (chunk_capacity == 0)
			return GOMPI_COLL_USE_MESSAGES;
	}
	uint64_t from = 0;
	do {
		rc = gompi_shm_begin(t, p);
		if (rc)
			return rc;
		char *slot = gompi_shm_data(t, t->me, t->seq, p);
		const char *block = c->in;
		for (int i = 0; i < t->n; i++) {
			if (c->sizes[i] > from)
				(i == t->me ? gompi_copy_out
					    : gompi_copy_out_shared)(slot + (uint64_t)i * chunk_capacity, block + from,
								     gompi_min_u64(c->sizes[i] - from, chunk_capacity));
			block += c->sizes[i];
		}
		gompi_shm_publish(t, w, format);
		rc = gompi_shm_await_all(t, c, w, format);
		if (rc)
			return rc;
		uint64_t chunk_bytes =
			c->sizes[t->me] > from ? gompi_min_u64(c->sizes[t->me] - from, chunk_capacity) : 0;
		const uint64_t offset = (uint64_t)t->me * chunk_capacity;
		struct operands o = {t, t->seq, p, slot + offset, offset, offset};
		if (chunk_bytes > 0 && !failed && !gompi_coll_mismatch(c))
			failed = gompi_reduce_operands(r, t->n, c->out + from, chunk_bytes, part_of_operand, &o);
		gompi_shm_finish(t);
		from += chunk_capacity;
	} while (from < longest);
	return failed ? failed : gompi_shm_result(c);
}
