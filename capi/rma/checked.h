// A checked operation, and the interface between slow_path.c and the files that check and execute operations.
#ifndef GOMPI_RMA_CHECKED_H
#define GOMPI_RMA_CHECKED_H

#include "base/minmax.h"
#include "datatype/buffer.h"
#include "rma/rma.h"

// An operation whose arguments have been looked up and checked. The type of a buffer that the operation uses is never
// NULL, even if the data is contiguous. The type of an unused buffer is NULL.
struct gompi_checked_op {
	const struct gompi_operation *args;
	struct gompi_win *w;
	struct gompi_error_status *error;
	struct gompi_buffer origin, result, target;
	bool is_mapped; // target.at is the mapped address of the target's buffer; otherwise target.offset is its offset
	struct gompi_mapped_range mapped_range; // the mapped range of the target's window, if not all of it is mapped
	// points to mapped_range if only a part of the target's buffer is in that range; else NULL
	const struct gompi_mapped_range *partial_range;
	int64_t bytes;        // number of bytes to move
	MPI_Datatype element; // predefined type of the elements of an accumulate
	int64_t elements;     // number of elements of an accumulate
	bool spans_regions;   // the target's buffer lies in several attached regions
	// types with bytes as elements for the three buffers, if an accumulate copies between different element types;
	// else NULL. This struct owns these types
	struct gompi_type *byte_types[3];
};

// Initializes c for an operation. Clears fields one by one: compilers clear the whole struct with an instruction that
// takes 30 cycles to start.
static inline void gompi_checked_op_init(struct gompi_checked_op *c, const struct gompi_operation *r,
					 struct gompi_error_status *err) {
	c->args = r, c->w = gompi_win_get(r->win), c->error = err;
	c->origin = c->result = c->target = (struct gompi_buffer){0};
	c->is_mapped = c->spans_regions = false;
	c->mapped_range = (struct gompi_mapped_range){0};
	c->partial_range = NULL;
	c->bytes = c->elements = 0;
	c->element = (MPI_Datatype)0;
	c->byte_types[0] = c->byte_types[1] = c->byte_types[2] = NULL;
}

// Returns true if the operation is an accumulate-type call.
static inline bool gompi_is_accumulate(const struct gompi_operation *r) {
	return r->kind != RMA_PUT && r->kind != RMA_GET;
}

// Returns true if elements of t have gaps in or after their data, as pair types have. Gaps belong to the application:
// they are neither read nor written, and need not be mapped.
static inline bool gompi_has_gaps(const struct gompi_type *t) { return t->elements * t->elem_size != t->size; }

// Returns true if the operation returns data to the origin. Depends only on the kind of the operation, because the
// program may have passed the invalid value 0 as the result datatype.
static inline bool gompi_has_result(const struct gompi_operation *r) {
	return r->kind != RMA_PUT && r->kind != RMA_ACCUMULATE;
}

// Returns true if c is a put with overlapping target entries, which must be written in order. If the whole put is one
// segment, the target's progress thread writes its entries in order. Several segments may overtake each other on the
// ring and CMA paths, so each segment must complete before the next segment is sent.
static inline bool gompi_needs_ordered_put(const struct gompi_checked_op *c) {
	return c->args->kind == RMA_PUT && gompi_type_overlaps(c->target.type, c->target.count);
}

// Checks all arguments of c->args but not the epoch, and fills in the other fields of c. Returns 0 or the class of the
// error status.
int gompi_rma_check_args(struct gompi_checked_op *c);

// Executes a checked operation. Returns 0 or an error class.
int gompi_execute_accumulate(const struct gompi_checked_op *c);
int gompi_execute_move(const struct gompi_checked_op *c);

// Executes an operation at its target. The arguments `origin` and `result` are contiguous arrays of elements or bytes,
// or NULL.
typedef int gompi_target_function(const struct gompi_checked_op *c, const char *origin, char *result);

// Splits an operation on a dynamic window into segments, each contiguous in one attached region. Calls f, unless f is
// NULL, for each segment with the corresponding data of the arrays `origin` and `result`. Returns 0, an error of f, or
// MPI_ERR_RMA_RANGE if the operation accesses memory that is not attached or an element spans two regions.
int gompi_for_each_region(const struct gompi_checked_op *c, gompi_target_function *f, const char *origin, char *result);

#endif
