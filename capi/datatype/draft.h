// The program of a type while it is constructed: what core/datatype's builder makes of the same arguments, for the
// layouts that most programs have. Whoever calls has made room for what is added.
#ifndef GOMPI_DRAFT_H
#define GOMPI_DRAFT_H

#include "datatype/datatype.h"

#pragma GCC visibility push(hidden)

// Room for what gompi_draft_repeat adds, and gompi_draft_blocks for n of them, in words.
enum { GOMPI_DRAFT_REPEAT = 5 };
#define GOMPI_DRAFT_BLOCKS(n) (6 + 2 * (n))

// gompi_draft_begin makes a new type's program that of old, without what follows from its bounds and elements.
void gompi_draft_begin(struct gompi_type *t, const struct gompi_type *old);
// gompi_draft_repeat places count copies of what there is, stride apart; *over is set if 64 bits do not hold where.
void gompi_draft_repeat(struct gompi_type *t, int64_t count, int64_t stride, bool *over);
// gompi_draft_at moves it.
void gompi_draft_at(struct gompi_type *t, int64_t displacement, bool *over);
// gompi_draft_blocks places n blocks of sizes[i] bytes at displacements[i], and uses both lists up. Where equal blocks
// are at equal distances and of a struct (fields), the result is that of core/datatype's concat. false: what there is
// to be done is Go's.
bool gompi_draft_blocks(struct gompi_type *t, int64_t n, int64_t *displacements, int64_t *sizes, bool fields,
			bool *over);
// gompi_draft_end says what follows from the nodes, the extent and the elements; elem is the one predefined type of
// all, 0 if there is none.
void gompi_draft_end(struct gompi_type *t, int64_t elem, int64_t elem_size);

#pragma GCC visibility pop
#endif
