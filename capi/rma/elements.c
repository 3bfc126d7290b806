// The accumulate-type calls: conversion of elements of any datatypes to arrays, and their update at the target.
#include "rma/checked.h"

#include <stdlib.h>

#include "update/update.h"
#include "transport/transport.h"
#include "datatype/op.h"

// Copies elements between an array and the buffer s, but not their gaps.
static void copy_elements(const struct gompi_buffer *s, char *array, MPI_Datatype element, bool to_array) {
	if (!gompi_has_gaps(s->type)) {
		if (to_array)
			gompi_buffer_pack(s, array, 0, s->size);
		else
			gompi_buffer_unpack(s, 0, array, s->size);
		return;
	}
	gompi_kernel copy = gompi_op_kernel(MPI_REPLACE, element);
	struct gompi_cursor c;
	gompi_cursor_init(&c, s->type, s->count, GOMPI_ELEMENTS);
	int64_t n, offset;
	for (; (n = gompi_cursor_next(&c, INT64_MAX, &offset)) > 0; array += n)
		copy(to_array ? s->at + offset : array, to_array ? array : s->at + offset,
		     (size_t)(n / s->type->elem_size));
}

// The elements of the origin or result buffer as a contiguous array.
struct element_array {
	char *data;                           // NULL if out of memory
	char *allocated;                      // memory to free at the end, or NULL
	_Alignas(16) char inline_buffer[256]; // used if it is large enough
};

static inline bool is_copy(const struct element_array *a) {
	return a->allocated != NULL || a->data == a->inline_buffer;
}

// Makes the elements of the buffer s available as a contiguous array. Uses the elements in place if they are
// contiguous, else memory that `a` owns. If `fill` is true, copies the elements of s to that memory. with_gaps is true
// if the caller reads or writes the array with the gaps in the elements. Elements that have gaps are then not used in
// place, because the gaps belong to the application.
static void make_element_array(struct element_array *a, const struct gompi_buffer *s, int64_t elements,
			       MPI_Datatype element, bool fill, bool with_gaps) {
	const struct gompi_type *t = s->type;
	bool gaps = gompi_has_gaps(t);
	a->allocated = NULL;
	if ((t->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) && !(with_gaps && gaps)) {
		a->data = s->at + t->elem_origin;
		return;
	}
	size_t bytes = (size_t)(elements * t->elem_size);
	a->data = bytes <= sizeof a->inline_buffer ? a->inline_buffer : (a->allocated = malloc(bytes));
	if (a->data == NULL)
		return;
	if (gaps)
		memset(a->data, 0, bytes);
	if (fill)
		copy_elements(s, a->data, element, true);
}

// Updates elements of the target through its transport.
static int send_update(const struct gompi_checked_op *c, const struct gompi_buffer *at, const char *origin,
		       char *result) {
	return gompi_transport_to(c->w, c->args->target)->update(c->w, c->args, at, c->element, origin, result);
}

// Updates elements of the target that are mapped in this process. `origin` and `result` are arrays of elements.
static int update_mapped(const struct gompi_checked_op *c, const char *origin, char *result) {
	const struct gompi_operation *r = c->args;
	struct gompi_update u = {.w = c->w, .operation = r, .element = c->element};
	const struct gompi_buffer *t = &c->target;
	int64_t size = t->type->elem_size, n, offset;
	struct gompi_cursor cursor, back;
	gompi_cursor_init(&cursor, t->type, t->count, GOMPI_ELEMENTS);
	int rc = gompi_update_begin(&u, (uint64_t)c->elements, t->at);
	bool gather = gompi_update_can_gather(&u) && !(t->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) &&
		      !gompi_type_overlaps(t->type, t->count);
	if (gather)
		gompi_cursor_init(&back, t->type, t->count, GOMPI_ELEMENTS);
	_Alignas(64) char array[GOMPI_GATHER_BYTES];
	while (rc == MPI_SUCCESS) {
		n = gather ? gompi_cursor_pack(array, t->at, &cursor, GOMPI_GATHER_BYTES)
			   : gompi_cursor_next(&cursor, INT64_MAX, &offset);
		if (n == 0)
			break;
		rc = gompi_update(&u, gather ? array : t->at + offset, origin, result, (uint64_t)(n / size));
		if (gather && r->op != MPI_NO_OP && rc == MPI_SUCCESS)
			gompi_cursor_unpack(t->at, &back, array, n);
		origin = origin != NULL ? origin + n : NULL;
		result = result != NULL ? result + n : NULL;
	}
	gompi_update_end(&u);
	return rc;
}

// Computes which of n elements at an offset in the target's window are completely in the mapped range: [*first, *end).
static void find_mapped_elements(const struct gompi_mapped_range *p, uint64_t at, uint64_t size, uint64_t n,
				 uint64_t *first, uint64_t *end) {
	*first = p->from > at ? gompi_min_u64((p->from - at + size - 1) / size, n) : 0;
	*end = p->to > at ? gompi_max_u64(gompi_min_u64((p->to - at) / size, n), *first) : *first;
}

// The elements that are not completely in the mapped range. A single operation sends them to the target's progress
// thread.
struct unmapped_elements {
	int64_t n, flags; // flags: GOMPI_TYPE_OVERLAP or 0
	// type: words of the type that describes the elements; target_offsets: offsets in the target's window;
	// array_offsets: offsets in the whole arrays of the call
	int64_t *type, *target_offsets, *array_offsets;
	char *origin, *result;
	bool crosses_border; // true if one of these elements has some bytes in the mapped range
};

// Adds the element at offset `at` in the target's window and at array_offset in the arrays.
static void add_unmapped(struct unmapped_elements *o, const struct gompi_checked_op *c, uint64_t at,
			 int64_t array_offset, const char *origin) {
	int64_t size = c->target.type->elem_size;
	o->target_offsets[o->n] = (int64_t)at;
	o->array_offsets[o->n] = array_offset;
	if (origin != NULL)
		gompi_copy_out(o->origin + o->n * size, origin + array_offset, (uint64_t)size);
	o->crosses_border =
		o->crosses_border || (at < c->partial_range->to && at + (uint64_t)size > c->partial_range->from);
	o->n++;
}

// Sends the elements of o to the target's progress thread, and removes them from o. Returns 0 or an error class.
static int send_unmapped(struct unmapped_elements *o, const struct gompi_checked_op *c, const char *origin,
			 char *result) {
	int64_t size = c->target.type->elem_size;
	gompi_type_of_elements(o->type, gompi_type_get(c->element), o->n, o->flags);
	int rc = send_update(c, &(struct gompi_buffer){.count = 1, .type = (const struct gompi_type *)o->type},
			     origin != NULL ? o->origin : NULL, result != NULL ? o->result : NULL);
	for (int64_t i = 0; result != NULL && rc == MPI_SUCCESS && i < o->n; i++)
		gompi_copy_in(result + o->array_offsets[i], o->result + i * size, (uint64_t)size);
	bool across = o->crosses_border;
	o->n = 0;
	o->crosses_border = false;
	// An element across the border must be complete before this process next accesses its bytes in the mapped
	// range.
	return rc == MPI_SUCCESS && across ? gompi_flush(c->w, c->args->target, c->args->call) : rc;
}

// Updates elements of the target if only a range of its memory is mapped. Every origin directly updates the elements
// that are completely in the range. The target's progress thread updates all other elements, even if only one byte is
// outside the range. So a mapped element and an unmapped element share bytes only if the unmapped element crosses the
// border of the range.
static int update_partial(const struct gompi_checked_op *c, const char *origin, char *result) {
	struct gompi_update u = {.w = c->w, .operation = c->args, .element = c->element};
	char *base = c->w->targets[c->args->target].base;
	const struct gompi_buffer *t = &c->target;
	uint64_t size = (uint64_t)t->type->elem_size, at, n, first, end;
	struct gompi_cursor cursor;
	int64_t bytes, offset, unmapped_count = 0, array_offset = 0;
	for (gompi_cursor_init(&cursor, t->type, t->count, GOMPI_ELEMENTS);
	     (bytes = gompi_cursor_next(&cursor, INT64_MAX, &offset)) > 0;) {
		find_mapped_elements(c->partial_range, c->target.offset + (uint64_t)offset, size,
				     (uint64_t)bytes / size, &first, &end);
		unmapped_count += bytes / (int64_t)size - (int64_t)(end - first);
	}
	int64_t *words = unmapped_count == 0
				 ? NULL
				 : malloc(((size_t)GOMPI_ELEMENTS_WORDS(unmapped_count) + (size_t)unmapped_count) *
						  sizeof *words +
					  2 * (size_t)unmapped_count * size);
	if (unmapped_count != 0 && words == NULL)
		return MPI_ERR_NO_MEM;
	struct unmapped_elements unmapped = {.type = words,
					     .flags = gompi_type_overlaps(t->type, t->count) ? GOMPI_TYPE_OVERLAP : 0};
	if (unmapped_count != 0) {
		unmapped.target_offsets = gompi_type_of_elements(words, gompi_type_get(c->element), unmapped_count, 0);
		unmapped.array_offsets = words + GOMPI_ELEMENTS_WORDS(unmapped_count);
		unmapped.origin = (char *)(unmapped.array_offsets + unmapped_count);
		unmapped.result = unmapped.origin + unmapped_count * (int64_t)size;
	}
	int rc = MPI_SUCCESS;
	bool begun = false;
	for (gompi_cursor_init(&cursor, t->type, t->count, GOMPI_ELEMENTS);
	     rc == MPI_SUCCESS && (bytes = gompi_cursor_next(&cursor, INT64_MAX, &offset)) > 0; array_offset += bytes) {
		at = c->target.offset + (uint64_t)offset;
		n = (uint64_t)bytes / size;
		find_mapped_elements(c->partial_range, at, size, n, &first, &end);
		for (uint64_t i = 0; i < n; i = i == first && i != end ? end : i + 1) {
			int64_t skip = (int64_t)(i * size);
			if (i < first || i >= end) {
				add_unmapped(&unmapped, c, at + (uint64_t)skip, array_offset + skip, origin);
				continue;
			}
			// Overlapping entries are applied in order: an element across the border is applied before the
			// mapped elements that follow it.
			if (unmapped.crosses_border && unmapped.flags != 0) {
				gompi_update_end(
					&u); // send_unmapped waits for the progress thread, which needs the lock
				begun = false;
				if ((rc = send_unmapped(&unmapped, c, origin, result)) != MPI_SUCCESS)
					break;
			}
			if (!begun && (rc = gompi_update_begin(&u, (uint64_t)c->elements - (uint64_t)unmapped_count,
							       base + at + skip)) != MPI_SUCCESS)
				break;
			begun = true;
			rc = gompi_update(&u, base + at + skip, origin != NULL ? origin + array_offset + skip : NULL,
					  result != NULL ? result + array_offset + skip : NULL, end - first);
			if (rc != MPI_SUCCESS)
				break;
		}
	}
	// before send_unmapped, because the target's progress thread needs the lock that u may hold
	gompi_update_end(&u);
	if (rc == MPI_SUCCESS && unmapped.n != 0)
		rc = send_unmapped(&unmapped, c, origin, result);
	free(words);
	return rc;
}

// Executes the accumulate-type call at the target. `origin` and `result` are arrays of elements.
static int accumulate_at_target(const struct gompi_checked_op *c, const char *origin, char *result) {
	if (c->spans_regions)
		return gompi_for_each_region(c, accumulate_at_target, origin, result);
	if (c->is_mapped)
		return update_mapped(c, origin, result);
	if (c->partial_range != NULL)
		return update_partial(c, origin, result);
	return send_update(c, &c->target, origin, result);
}

int gompi_execute_accumulate(const struct gompi_checked_op *c) {
	const struct gompi_operation *r = c->args;
	if (c->elements == 0)
		return MPI_SUCCESS;
	bool no_op = r->kind != RMA_COMPARE_AND_SWAP && r->op == MPI_NO_OP;
	struct element_array origin, result;
	origin.data = result.data = origin.allocated = result.allocated = NULL;
	int rc = MPI_ERR_NO_MEM;
	bool with_gaps = !c->is_mapped; // a transport moves elements with their gaps
	if (!no_op) {
		make_element_array(&origin, &c->origin, c->elements, c->element, true, with_gaps);
		if (origin.data == NULL)
			goto out;
	}
	if (gompi_has_result(r)) {
		make_element_array(&result, &c->result, c->elements, c->element, false, with_gaps);
		if (result.data == NULL)
			goto out;
	}
	rc = accumulate_at_target(c, origin.data, result.data);
	if (rc == MPI_SUCCESS && result.data != NULL && is_copy(&result))
		copy_elements(&c->result, result.data, c->element, false);
out:
	free(origin.allocated);
	free(result.allocated);
	return rc;
}
