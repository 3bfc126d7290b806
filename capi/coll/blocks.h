// Per-member buffers of a collective (one block for each member), in the form in which entry points receive them.
#ifndef GOMPI_BLOCKS_H
#define GOMPI_BLOCKS_H

#include "coll/entry.h"

#pragma GCC visibility push(hidden)

// An array of int or, if wide, of 64-bit integers.
struct gompi_int_array {
	const void *at;
	bool wide;
};

static inline int64_t gompi_int_array_at(struct gompi_int_array a, int i) {
	return a.wide ? ((const int64_t *)a.at)[i] : ((const int *)a.at)[i];
}

static inline struct gompi_collective_side gompi_arrays_side(const void *buf, struct gompi_int_array counts,
							     struct gompi_int_array displs, MPI_Datatype type) {
	return (struct gompi_collective_side){.buf = (uintptr_t)buf,
					      .type = (uintptr_t)type,
					      .counts = (uintptr_t)counts.at,
					      .displs = (uintptr_t)displs.at};
}

// A buffer with one block for each member. Either all blocks have one type and displacements count its extents, or
// types gives a type for each block and displacements are in bytes.
struct gompi_vector {
	const void *buf;
	struct gompi_int_array counts, displs;
	MPI_Datatype type;
	const MPI_Datatype *types;
};

static inline struct gompi_collective_side gompi_vector_side(const struct gompi_vector *v) {
	struct gompi_collective_side s = gompi_arrays_side(v->buf, v->counts, v->displs, v->type);
	s.types = (uintptr_t)v->types;
	return s;
}

// Describes a block of count copies of t. Returns false if the call must go through Go, which checks the arguments and
// reports errors.
static inline bool gompi_pair_block_init(struct gompi_pair_block *b, int member, const void *at, int64_t count,
					 const struct gompi_type *t) {
	int64_t bytes, lo, hi;
	if (t == NULL || !gompi_type_bytes(t, count, &bytes) || bytes > GOMPI_MAX_BLOCK_BYTES)
		return false;
	*b = (struct gompi_pair_block){member, {.at = (char *)(uintptr_t)at, .size = bytes}};
	if (bytes == 0)
		return true;
	if (__builtin_expect((t->flags & GOMPI_TYPE_CONTIGUOUS) != 0, 1)) {
		b->buf.at = (char *)((uintptr_t)at + (uint64_t)t->origin);
		return !gompi_invalid_address(at, t->origin);
	}
	b->buf.type = t, b->buf.count = count;
	return gompi_type_bounds(t, count, &lo, &hi) && !gompi_invalid_address(at, lo) &&
	       (uintptr_t)at + (uint64_t)lo < (uintptr_t)at + (uint64_t)hi;
}

// Describes all n blocks of a buffer. Returns false as gompi_pair_block_init does.
static inline bool gompi_pair_blocks_init(struct gompi_pair_block b[], int n, const struct gompi_vector *v) {
	if (v->counts.at == NULL || v->displs.at == NULL)
		return false;
	const struct gompi_type *t = v->types == NULL ? gompi_type_get(v->type) : NULL;
	for (int i = 0; i < n; i++) {
		int64_t count = gompi_int_array_at(v->counts, i), offset = gompi_int_array_at(v->displs, i);
		const struct gompi_type *each = t;
		if (v->types != NULL) // a block without data needs no valid type
			each = gompi_type_get(count == 0 ? MPI_BYTE : v->types[i]);
		else if (t == NULL || __builtin_mul_overflow(offset, t->extent, &offset))
			return false;
		if (!gompi_pair_block_init(&b[i], i, (const void *)((uintptr_t)v->buf + (uint64_t)offset), count, each))
			return false;
	}
	return true;
}

#pragma GCC visibility pop
#endif
