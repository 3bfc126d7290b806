// Builds programs (datatype.h) that draft.h cannot build: those with several nodes side by side, and those with two
// views of a type, its bytes and its elements. A builder belongs to one construction. If a position overflows 64 bits
// or memory is exhausted, the builder records this, and its results are invalid.
#ifndef GOMPI_TYPEMAP_H
#define GOMPI_TYPEMAP_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// A typemap, or a part of one: a node with a displacement. Node 0 has no bytes.
struct gompi_typemap {
	int64_t displacement;
	int32_t node;
};

struct gompi_typemap_node {
	int32_t kind, depth, child; // child: the node that a loop or list repeats
	bool overlap, is_used;      // some byte may occur twice; a typemap to write contains the node
	int64_t size, lo, hi;       // packed size; lowest byte and one past the highest byte, relative to the base
	int64_t segments, n, stride;
	const int64_t *displacements; // displacements of the entries of a list, blocks or seq
	const int64_t *prefix;        // for blocks and seq: packed size before each entry, then the total packed size
	const int32_t *children;      // nodes of the entries of a seq
	int64_t at;                   // position in the program, in words
};

struct gompi_typemap_builder {
	struct gompi_typemap_node *nodes;
	int32_t count, capacity;
	int32_t last_block; // the block node that was created last
	// the types whose nodes the builder has; chunks of memory to free at the end
	struct gompi_typemap_import *imports;
	struct gompi_typemap_chunk *chunks;
	bool overflow, no_memory;
};

// Returns the typemap of a type: of its bytes or of its elements.
struct gompi_typemap gompi_typemap_of(struct gompi_typemap_builder *b, const struct gompi_type *t,
				      enum gompi_cursor_view view);
// Returns the typemap of `count` copies, which begin `stride` bytes apart.
struct gompi_typemap gompi_typemap_repeat(struct gompi_typemap_builder *b, struct gompi_typemap l, int64_t count,
					  int64_t stride);
// Returns the typemap moved by `displacement` bytes.
struct gompi_typemap gompi_typemap_shift(struct gompi_typemap_builder *b, struct gompi_typemap l, int64_t displacement);
// Returns an array for n typemaps, which exists as long as the builder; NULL if out of memory.
struct gompi_typemap *gompi_typemap_array(struct gompi_typemap_builder *b, int64_t n);
// Returns the typemap of n typemaps one after another in typemap order. Changes the array.
struct gompi_typemap gompi_typemap_concat(struct gompi_typemap_builder *b, struct gompi_typemap *items, int64_t n);

// Returns the length, in words, of the program of a type with these two typemaps, which may be equal.
int64_t gompi_typemap_words(struct gompi_typemap_builder *b, struct gompi_typemap bytes, struct gompi_typemap elements);
// Writes the nodes of the program, and the values of the head that follow from them. gompi_draft_end sets the others.
void gompi_typemap_write(const struct gompi_typemap_builder *b, struct gompi_type *t, struct gompi_typemap bytes,
			 struct gompi_typemap elements);
// Frees the memory of the builder.
void gompi_typemap_free(struct gompi_typemap_builder *b);

static inline uint64_t gompi_magnitude(int64_t x) { return x < 0 ? -(uint64_t)x : (uint64_t)x; }

// Returns true if a nest of n loops over a block may touch a byte twice. Sorts the loops by stride and checks them in
// this order, so that a transposed matrix is recognized as free of overlap.
struct gompi_loop {
	uint64_t stride;
	int64_t count;
};
bool gompi_nest_overlaps(struct gompi_loop *nest, int n, int64_t block);

// Returns true if some of the n ranges overlap. A range is a pair of its first byte and one past its last byte. Sorts
// the ranges.
bool gompi_ranges_overlap(int64_t n, int64_t (*ranges)[2]);

#pragma GCC visibility pop
#endif
