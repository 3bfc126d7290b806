// Where the pieces of an operation lie that are not together: words that travel in a cell of the ring path, before the
// data.
//
// The words are a sequence of groups. Blocks at equal distances are block, n, stride, offset; others of one size are
// block, -n and n offsets. Bytes all; offsets count from the cell's. The data of the pieces follows each other in this
// order.
#ifndef GOMPI_TRANSPORT_LAYOUT_H
#define GOMPI_TRANSPORT_LAYOUT_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// What a layout may fill: room bytes for the words, and for the data too if they share them; most bytes of data. Blocks
// larger than that are split between elements of unit bytes.
struct gompi_layout_limits {
	int64_t room, most, unit;
	bool shared;
};

// Takes as many pieces from the cursor as fit. The number of words, and in *bytes of data; 0: there are no more.
int64_t gompi_layout_fill(int64_t *words, struct gompi_cursor *c, const struct gompi_layout_limits *limits,
			  int64_t *bytes);

// A position in the pieces.
struct gompi_layout {
	const int64_t *next, *end;
	int64_t list; // offsets left in the list at next
	int64_t block;
	struct gompi_run run;
	int64_t skip; // bytes taken of the run's first block
};

// Goes to the beginning of n words, and says in which bytes [*lo, *hi) the pieces lie. false: they are no layout of
// bytes of data made of elements of unit bytes.
bool gompi_layout_open(struct gompi_layout *l, const int64_t *words, int64_t n, int64_t unit, int64_t bytes,
		       int64_t *lo, int64_t *hi);

// Takes the next blocks at equal distances, up to limit bytes > 0 of them; a block that is larger is split. n 0: there
// are no more.
struct gompi_run gompi_layout_take(struct gompi_layout *l, int64_t limit);

#pragma GCC visibility pop
#endif
