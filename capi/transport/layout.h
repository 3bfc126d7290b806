// The layout of non-contiguous data at the target, as 64-bit words in a packet, before the data.
//
// The words are a sequence of groups. A group of n blocks at equal distances has four words: the bytes of a block, n,
// the stride, and the offset of the first block. A group of n blocks of equal size at other distances is a list: the
// bytes of a block, -n, and n offsets. Strides and offsets are in bytes; offsets are relative to the packet's offset.
// The data of the blocks follows in the same order.
#ifndef GOMPI_TRANSPORT_LAYOUT_H
#define GOMPI_TRANSPORT_LAYOUT_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Limits of a layout. The field words_bytes is the number of bytes for the words or, if is_shared is true, for the
// words and the data together. The field max_data_bytes is the maximum size of the data. Blocks that exceed these
// limits are split at multiples of `unit` bytes, the size of an element.
struct gompi_layout_limits {
	int64_t words_bytes, max_data_bytes, unit;
	bool is_shared;
};

// Encodes as many of the cursor's next blocks as fit. Returns the number of words, and sets *bytes to the bytes of
// data. Returns 0 if the cursor has no more blocks.
int64_t gompi_layout_encode(int64_t *words, struct gompi_cursor *c, const struct gompi_layout_limits *limits,
			    int64_t *bytes);

// A position in a layout.
struct gompi_layout {
	const int64_t *next, *end;
	int64_t list_left;      // number of offsets of the current list that follow at `next`
	int64_t block;          // bytes of each block of the current list
	struct gompi_run run;   // blocks at equal distances that have not been returned yet
	int64_t consumed_bytes; // bytes of the run's first block that have been returned, if the block was split
};

// Sets l to the beginning of n words, and validates them. Sets [*lo, *hi) to the smallest range of offsets that
// contains all blocks. Returns false unless the words are a layout of `bytes` bytes of data in elements of `unit`
// bytes.
bool gompi_layout_init(struct gompi_layout *l, const int64_t *words, int64_t n, int64_t unit, int64_t bytes,
		       int64_t *lo, int64_t *hi);

// Returns the next blocks at equal distances, with at most `limit` (> 0) bytes together. Splits a block of more than
// `limit` bytes. At the end of the layout, returns a run with n == 0.
struct gompi_run gompi_layout_next(struct gompi_layout *l, int64_t limit);

#pragma GCC visibility pop
#endif
