// A checked operation, and the interface between do.c and the files that check and execute operations.
#ifndef GOMPI_RMA_CHECKED_H
#define GOMPI_RMA_CHECKED_H

#include "datatype/buffer.h"
#include "rma/rma.h"

// An operation whose arguments have been looked up and checked. The types of its buffers are never NULL.
struct gompi_checked {
	const struct gompi_operation *r;
	struct gompi_win *w;
	struct gompi_verdict *verdict;
	struct gompi_buffer origin, result, target;
	bool mapped; // target.at is the mapped address of the target's buffer; otherwise target.offset is its offset
	struct gompi_part here;        // the mapped range of the target's window, if not all of it is mapped
	const struct gompi_part *part; // points to here if only a part of the target's buffer is in it; else NULL
	int64_t bytes;                 // number of bytes to move
	MPI_Datatype element;          // the predefined type of an accumulate
	int64_t elements;
	bool scattered; // the target's buffer lies in several attached regions
	// copied types of an accumulate that copies between elements of different types, as bytes
	struct gompi_type *bytewise[3];
};

// Initializes c for an operation. Clears fields one by one: compilers clear the whole struct with an instruction that
// takes 30 cycles to start.
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

// Returns true if the operation is an accumulate-type call.
static inline bool gompi_is_accumulate(const struct gompi_operation *r) {
	return r->kind != RMA_PUT && r->kind != RMA_GET;
}

// Returns true if elements of t have gaps in or behind their data, as pair types have. Gaps belong to the application:
// they are neither read nor written, and need not be mapped.
static inline bool gompi_has_gaps(const struct gompi_type *t) { return t->elements * t->elem_size != t->size; }

// Returns true if data returns to the origin. The result's datatype does not show that: a program may pass 0, which is
// a handle, by mistake.
static inline bool gompi_has_result(const struct gompi_operation *r) {
	return r->kind != RMA_PUT && r->kind != RMA_ACCUMULATE;
}

// Returns true if c puts overlapping entries, of which the later ones must arrive later. A single segment through the
// progress thread keeps the order. Several segments may overtake each other on the ring and CMA paths, so each must
// complete before the next one.
static inline bool gompi_puts_in_order(const struct gompi_checked *c) {
	return c->r->kind == RMA_PUT && gompi_type_overlaps(c->target.type, c->target.count);
}

static inline uint64_t at_least(uint64_t x, uint64_t least) { return x < least ? least : x; }
static inline uint64_t at_most(uint64_t x, uint64_t most) { return x > most ? most : x; }

// Checks all arguments of c->r but not the epoch, and fills in the other fields of c. Returns 0 or the class of the
// error status.
int gompi_rma_check(struct gompi_checked *c);

// Executes a checked operation. Returns 0 or an error class.
int gompi_do_accumulate(const struct gompi_checked *c);
int gompi_do_move(const struct gompi_checked *c);

// Executes an operation whose origin data is contiguous: from and to arrays of elements or bytes.
typedef int gompi_at_target(const struct gompi_checked *c, const char *origin, char *result);

// Splits an operation on a dynamic window into parts that are contiguous in one attached region each. Calls f, unless
// it is NULL, for each part with the corresponding data of the arrays origin and result. Returns 0, an error of f, or
// MPI_ERR_RMA_RANGE if not all of the operation is attached or an element spans two regions.
int gompi_each_region(const struct gompi_checked *c, gompi_at_target *f, const char *origin, char *result);

#endif
