// Reads the arguments of collectives as blocks, one for each member or neighbor.
#ifndef GOMPI_BLOCKS_H
#define GOMPI_BLOCKS_H

#include "coll/entry.h"

#pragma GCC visibility push(hidden)

// The blocks of one side (send or receive) of a call. SHAPE_NONE: the side has no data. SHAPE_ONE: one block.
// SHAPE_EQUAL: a block of equal size for each member. SHAPE_VECTOR: a block for each member; arrays of counts and
// displacements describe the blocks.
enum gompi_shape { SHAPE_NONE, SHAPE_ONE, SHAPE_EQUAL, SHAPE_VECTOR };

// Returns the shape of the send side of calls of this kind. gompi_recv_shape returns the shape of the receive side.
enum gompi_shape gompi_send_shape(int kind);
enum gompi_shape gompi_recv_shape(int kind);

// Returns element i of an array of int or, if is_wide, of 64-bit integers.
static inline int64_t gompi_array_element(uintptr_t list, bool is_wide, int i) {
	return is_wide ? ((const int64_t *)list)[i] : ((const int *)list)[i];
}

// Returns true if the side `s` of a call has the array arguments that its shape requires.
static inline bool gompi_has_arrays(const struct gompi_collective *a, enum gompi_shape shape,
				    const struct gompi_collective_side *s) {
	const bool needs_types = a->kind == GOMPI_ALLTOALLW || a->kind == GOMPI_NEIGHBOR_ALLTOALLW;
	return shape != SHAPE_VECTOR || (s->counts != 0 && s->displs != 0 && (!needs_types || s->types != 0));
}

// Reads the arguments of block i of a side. The side's shape is not SHAPE_NONE. The unit of *displ is the extent of the
// type. If the side has an array of types, the unit is one byte. Returns false if the displacement overflows.
static inline bool gompi_block_arguments(const struct gompi_collective *a, enum gompi_shape shape,
					 const struct gompi_collective_side *s, int i, int64_t *count, int64_t *displ,
					 MPI_Datatype *type) {
	*count = s->count, *displ = 0, *type = (MPI_Datatype)s->type;
	if (shape == SHAPE_EQUAL)
		return !__builtin_mul_overflow(*count, i, displ);
	if (shape == SHAPE_ONE)
		return true;
	*count = gompi_array_element(s->counts, a->is_large, i);
	*displ = gompi_array_element(s->displs, a->is_large || a->kind == GOMPI_NEIGHBOR_ALLTOALLW, i);
	if (s->types != 0)
		*type = ((const MPI_Datatype *)s->types)[i];
	return true;
}

// Describes in *b the block of rank `member`: `count` elements of type t at the address `at`. Returns false if Go must
// run the call. Go then checks the arguments and reports errors.
static inline bool gompi_pair_block_init(struct gompi_pair_block *b, int member, uintptr_t at, int64_t count,
					 const struct gompi_type *t) {
	int64_t bytes, lo, hi;
	if (t == NULL || !gompi_type_bytes(t, count, &bytes) || bytes > GOMPI_MAX_BLOCK_BYTES)
		return false;
	*b = (struct gompi_pair_block){member, {.at = (char *)at, .size = bytes}};
	if (bytes == 0)
		return true;
	if (__builtin_expect((t->flags & GOMPI_TYPE_CONTIGUOUS) != 0, 1)) {
		b->buf.at = (char *)(at + (uint64_t)t->origin);
		return !gompi_invalid_address((void *)at, t->origin);
	}
	b->buf.type = t, b->buf.count = count;
	return gompi_type_bounds(t, count, &lo, &hi) && !gompi_invalid_address((void *)at, lo) &&
	       at + (uint64_t)lo < at + (uint64_t)hi;
}

// Describes the n blocks of a side in b. Block i belongs to member ranks[i] or, if ranks is NULL, to member i. A
// negative rank means that there is no such neighbor. Returns false if Go must run the call.
static inline bool gompi_pair_blocks_init(struct gompi_pair_block b[], int n, const int32_t *ranks,
					  const struct gompi_collective *a, enum gompi_shape shape,
					  const struct gompi_collective_side *s) {
	const struct gompi_type *common = s->types == 0 ? gompi_type_get((MPI_Datatype)s->type) : NULL;
	if (gompi_is_in_place(s->buf) || (n > 0 && !gompi_has_arrays(a, shape, s)))
		return false;
	for (int i = 0; i < n; i++) {
		int64_t count, displ;
		MPI_Datatype type;
		if (!gompi_block_arguments(a, shape, s, i, &count, &displ, &type))
			return false;
		const struct gompi_type *t = common;
		// A block without data may have any datatype if each block has a datatype of its own, and
		// MPI_DATATYPE_NULL if all blocks share one datatype.
		if (s->types != 0 || type == MPI_DATATYPE_NULL)
			t = gompi_type_get(count == 0 ? MPI_BYTE : type);
		if (t == NULL || (s->types == 0 && __builtin_mul_overflow(displ, t->extent, &displ)))
			return false;
		const int member = ranks != NULL ? ranks[i] : i;
		if (member < 0 && count >= 0)
			b[i] = (struct gompi_pair_block){.member = -1};
		else if (!gompi_pair_block_init(&b[i], member, s->buf + (uint64_t)displ, count, t))
			return false;
	}
	return true;
}

#pragma GCC visibility pop
#endif
