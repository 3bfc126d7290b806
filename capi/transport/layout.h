// The layout of non-contiguous data at the target: words that travel in a packet, before the data.
//
// The words are a sequence of groups. Blocks at equal distances are encoded as block, n, stride, offset. Other blocks
// of one size are encoded as block, -n and n offsets. All values are in bytes; offsets count from the packet's offset.
// The data of the blocks follows in the same order.
#ifndef GOMPI_TRANSPORT_LAYOUT_H
#define GOMPI_TRANSPORT_LAYOUT_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Limits of a layout: words_bytes is the space for the words, and for the data too if is_shared; max_data_bytes limits
// the data. Blocks that exceed these limits are split at multiples of unit bytes, the size of an element.
struct gompi_layout_limits {
	int64_t words_bytes, max_data_bytes, unit;
	bool is_shared;
};

// Encodes as many blocks from the cursor as fit. Returns the number of words, and sets *bytes to the bytes of data.
// Returns 0 if there are no more.
int64_t gompi_layout_encode(int64_t *words, struct gompi_cursor *c, const struct gompi_layout_limits *limits,
			    int64_t *bytes);

// A position in a layout.
struct gompi_layout {
	const int64_t *next, *end;
	int64_t list_left; // offsets left in the list at next
	int64_t block;
	struct gompi_run run;
	int64_t consumed_bytes; // bytes of the run's first block that have been returned
};

// Validates n words, and moves l to their beginning. Sets [*lo, *hi) to the range of bytes that the blocks cover.
// Returns false unless the words are a layout of `bytes` bytes of data in elements of unit bytes.
bool gompi_layout_init(struct gompi_layout *l, const int64_t *words, int64_t n, int64_t unit, int64_t bytes,
		       int64_t *lo, int64_t *hi);

// Returns the next blocks at equal distances, with at most limit (> 0) bytes; splits a block that is larger. Returns a
// run with n 0 at the end.
struct gompi_run gompi_layout_next(struct gompi_layout *l, int64_t limit);

#pragma GCC visibility pop
#endif
