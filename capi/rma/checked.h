// An operation that has been checked, and what do.c shares with the files that check and do it.
#ifndef GOMPI_RMA_CHECKED_H
#define GOMPI_RMA_CHECKED_H

#include "datatype/buffer.h"
#include "rma/rma.h"

// An operation whose arguments have been looked up and checked. The buffers' types are never NULL.
struct gompi_checked {
	const struct gompi_operation *r;
	struct gompi_win *w;
	struct gompi_verdict *verdict;
	struct gompi_buffer origin, result, target;
	bool mapped;                   // target.at is where it lies here, else target.offset counts
	struct gompi_part here;        // bytes of the target's window that can be addressed here, if not all can
	const struct gompi_part *part; // these, if some of the target's buffer are among them and some are not
	int64_t bytes;                 // to be moved
	MPI_Datatype element;          // of an accumulate: the predefined type
	int64_t elements;
	bool scattered;                 // the target's buffer lies in several attached regions
	struct gompi_type *bytewise[3]; // of an accumulate that copies between elements of several types: what the
					// sides' types were made
};

// Nothing is known yet but what it is. Compilers clear all of it by an instruction that takes 30 cycles to begin.
static inline void gompi_checked_begin(struct gompi_checked *c, const struct gompi_operation *r,
				       struct gompi_verdict *verdict) {
	c->r = r, c->w = gompi_win_get(r->win), c->verdict = verdict;
	c->origin = c->result = c->target = (struct gompi_buffer){0};
	c->mapped = c->scattered = false;
	c->here = (struct gompi_part){0};
	c->part = NULL;
	c->bytes = c->elements = 0;
	c->element = (MPI_Datatype)0;
	c->bytewise[0] = c->bytewise[1] = c->bytewise[2] = NULL;
}

static inline bool gompi_is_accumulate(const struct gompi_operation *r) {
	return r->kind != RMA_PUT && r->kind != RMA_GET;
}

// Returns true if elements of t have gaps in or behind their data, as pair types have. Gaps belong to the
// application: they are neither read nor written, and nothing need be mapped there.
static inline bool gompi_has_gaps(const struct gompi_type *t) { return t->elements * t->elem_size != t->size; }

// Returns true if data comes back. The datatype does not tell: 0 is a handle that a program may give by mistake.
static inline bool gompi_has_result(const struct gompi_operation *r) {
	return r->kind != RMA_PUT && r->kind != RMA_ACCUMULATE;
}

// Returns true if c puts entries that overlap, of which the later ones must arrive later. In one piece of the progress
// thread path they do; several pieces may pass each other on their ways, the ring and the system, so each is waited
// for.
static inline bool gompi_puts_in_order(const struct gompi_checked *c) {
	return c->r->kind == RMA_PUT && gompi_type_overlaps(c->target.type, c->target.count);
}

static inline uint64_t at_least(uint64_t x, uint64_t least) { return x < least ? least : x; }
static inline uint64_t at_most(uint64_t x, uint64_t most) { return x > most ? most : x; }

// All that can be wrong with c->r but for its epoch; fills in the rest of c. The verdict's class.
int gompi_rma_check(struct gompi_checked *c);

// Do an operation without errors. 0 or an error class.
int gompi_do_accumulate(const struct gompi_checked *c);
int gompi_do_move(const struct gompi_checked *c);

// Does an operation with contiguous data on this side: elements or bytes from and to arrays.
typedef int gompi_at_target(const struct gompi_checked *c, const char *origin, char *result);

// Splits an operation on a dynamic window into the parts that lie together in one attached region each and calls f,
// unless that is NULL, for each with what belongs to it in the arrays origin and result. 0; MPI_ERR_RMA_RANGE: not all
// of it is attached, or an element lies in two regions.
int gompi_each_region(const struct gompi_checked *c, gompi_at_target *f, const char *origin, char *result);

#endif
