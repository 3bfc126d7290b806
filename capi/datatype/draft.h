// Builds the program (datatype.h) of a type under construction in the memory of the type, for the most frequent
// layouts: a nest of loops, or a list of blocks. typemap.h builds all layouts. The caller has allocated space for all
// additions.
#ifndef GOMPI_DRAFT_H
#define GOMPI_DRAFT_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Number of 8-byte words that gompi_draft_repeat adds to a program, and that gompi_draft_blocks adds for n blocks.
enum { GOMPI_DRAFT_REPEAT = 5 };
#define GOMPI_DRAFT_BLOCKS(n) (6 + 2 * (n))

// Copies the program of the type `old` to a new type. gompi_draft_end fills in the values that depend on bounds and
// elements.
void gompi_draft_begin(struct gompi_type *t, const struct gompi_type *old);
// Changes the program so that it describes `count` copies of its bytes, which begin `stride` bytes apart. Sets
// *overflow if a position overflows 64 bits.
void gompi_draft_repeat(struct gompi_type *t, int64_t count, int64_t stride, bool *overflow);
// Adds `displacement` to the position of all bytes that the program describes.
void gompi_draft_shift(struct gompi_type *t, int64_t displacement, bool *overflow);
// Makes the program of n blocks with sizes[i] bytes at displacements[i]. Destroys the contents of both lists. If
// `fields` is true, the blocks are those of a struct, which rarely form runs of equal blocks at equal distances.
// Returns false if a position overflows 64 bits, or if the blocks form so few runs that typemap.h must build the
// program.
bool gompi_draft_blocks(struct gompi_type *t, int64_t n, int64_t *displacements, int64_t *sizes, bool fields,
			bool *out_overflow);
// Fills in the values that follow from the nodes, the extent and the elements. elem is the predefined type of all
// elements, or 0 if the elements have several types. If `has_gaps` is true, the elements have gaps, and elem_root and
// elem_origin are set.
void gompi_draft_end(struct gompi_type *t, int64_t elem, int64_t elem_size, bool has_gaps);

#pragma GCC visibility pop
#endif
