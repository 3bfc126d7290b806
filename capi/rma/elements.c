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

// The elements of one side as a contiguous array.
struct array {
	char *at;                   // NULL if out of memory
	char *allocated;            // to be freed, or NULL
	_Alignas(16) char few[256]; // used if it is large enough
};

static inline bool is_copy(const struct array *a) { return a->allocated != NULL || a->at == a->few; }

// Makes the elements of s a contiguous array: in place if they are contiguous, else in memory of the array. If fill is
// true, copies the elements of s to the array. If whole is true, elements will be read or written with their gaps,
// which is not permitted in place.
static void array_of(struct array *a, const struct gompi_buffer *s, int64_t elements, MPI_Datatype element, bool fill,
		     bool whole) {
	const struct gompi_type *t = s->type;
	bool gaps = gompi_has_gaps(t);
	a->allocated = NULL;
	if ((t->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) && !(whole && gaps)) {
		a->at = s->at + t->elem_origin;
		return;
	}
	size_t bytes = (size_t)(elements * t->elem_size);
	a->at = bytes <= sizeof a->few ? a->few : (a->allocated = malloc(bytes));
	if (a->at == NULL)
		return;
	if (gaps)
		memset(a->at, 0, bytes);
	if (fill)
		copy_elements(s, a->at, element, true);
}

// Updates elements of the target through its transport.
static int send_update(const struct gompi_checked *c, const struct gompi_buffer *at, const char *origin, char *result) {
	return gompi_transport_to(c->w, c->r->target)->update(c->w, c->r, at, c->element, origin, result);
}

// Updates elements of the target that are mapped in this process, from and to arrays of elements.
static int update_here(const struct gompi_checked *c, const char *origin, char *result) {
	const struct gompi_operation *r = c->r;
	struct gompi_update u = {.w = c->w, .operation = r, .element = c->element};
	const struct gompi_buffer *t = &c->target;
	int64_t size = t->type->elem_size, n, offset;
	struct gompi_cursor cursor, back;
	gompi_cursor_init(&cursor, t->type, t->count, GOMPI_ELEMENTS);
	int rc = gompi_update_begin(&u, (uint64_t)c->elements, t->at);
	bool gather = gompi_update_gathers(&u) && !(t->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) &&
		      !gompi_type_overlaps(t->type, t->count);
	if (gather)
		gompi_cursor_init(&back, t->type, t->count, GOMPI_ELEMENTS);
	_Alignas(64) char array[GOMPI_GATHER];
	while (rc == MPI_SUCCESS) {
		n = gather ? gompi_cursor_pack(array, t->at, &cursor, GOMPI_GATHER)
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
static void inside(const struct gompi_part *p, uint64_t at, uint64_t size, uint64_t n, uint64_t *first, uint64_t *end) {
	*first = p->from > at ? at_most((p->from - at + size - 1) / size, n) : 0;
	*end = p->to > at ? at_least(at_most((p->to - at) / size, n), *first) : *first;
}

// The elements that are not completely in the mapped range. A single operation sends them to the progress thread.
struct outside {
	int64_t n, flags; // flags: GOMPI_TYPE_OVERLAP or 0
	// at: their offsets in the target's window; where: offsets in the arrays of this side
	int64_t *type, *at, *where;
	char *origin, *result;
	bool across; // an element has bytes in the mapped range
};

// Adds an element at an offset in the target's window and at an offset `where` in the arrays.
static void add_outside(struct outside *o, const struct gompi_checked *c, uint64_t at, int64_t where,
			const char *origin) {
	int64_t size = c->target.type->elem_size;
	o->at[o->n] = (int64_t)at;
	o->where[o->n] = where;
	if (origin != NULL)
		gompi_copy_out(o->origin + o->n * size, origin + where, (uint64_t)size);
	o->across = o->across || (at < c->part->to && at + (uint64_t)size > c->part->from);
	o->n++;
}

// Sends the elements of o to the progress thread, and removes them from o. Returns 0 or an error class.
static int update_outside(struct outside *o, const struct gompi_checked *c, const char *origin, char *result) {
	int64_t size = c->target.type->elem_size;
	gompi_type_of_elements(o->type, gompi_type_get(c->element), o->n, o->flags);
	int rc = send_update(c, &(struct gompi_buffer){.count = 1, .type = (const struct gompi_type *)o->type},
			     origin != NULL ? o->origin : NULL, result != NULL ? o->result : NULL);
	for (int64_t i = 0; result != NULL && rc == MPI_SUCCESS && i < o->n; i++)
		gompi_copy_in(result + o->where[i], o->result + i * size, (uint64_t)size);
	bool across = o->across;
	o->n = 0;
	o->across = false;
	// An element across the border must be complete before this process accesses its bytes in the mapped range
	// later.
	return rc == MPI_SUCCESS && across ? gompi_flush(c->w, c->r->target, c->r->call) : rc;
}

// Updates elements of the target of which only a range is mapped. Every origin updates an element that is completely in
// the range directly. The progress thread updates every other element, even if only one byte is outside. A directly
// updated element and one updated by the progress thread share no byte unless the latter is across the border.
static int update_part(const struct gompi_checked *c, const char *origin, char *result) {
	struct gompi_update u = {.w = c->w, .operation = c->r, .element = c->element};
	char *base = c->w->targets[c->r->target].base;
	const struct gompi_buffer *t = &c->target;
	uint64_t size = (uint64_t)t->type->elem_size, at, n, first, end;
	struct gompi_cursor cursor;
	int64_t bytes, offset, sent = 0, where = 0;
	for (gompi_cursor_init(&cursor, t->type, t->count, GOMPI_ELEMENTS);
	     (bytes = gompi_cursor_next(&cursor, INT64_MAX, &offset)) > 0;) {
		inside(c->part, c->target.offset + (uint64_t)offset, size, (uint64_t)bytes / size, &first, &end);
		sent += bytes / (int64_t)size - (int64_t)(end - first);
	}
	int64_t *words = sent == 0 ? NULL
				   : malloc(((size_t)GOMPI_ELEMENTS_WORDS(sent) + (size_t)sent) * sizeof *words +
					    2 * (size_t)sent * size);
	if (sent != 0 && words == NULL)
		return MPI_ERR_NO_MEM;
	struct outside o = {.type = words, .flags = gompi_type_overlaps(t->type, t->count) ? GOMPI_TYPE_OVERLAP : 0};
	if (sent != 0) {
		o.at = gompi_type_of_elements(words, gompi_type_get(c->element), sent, 0);
		o.where = words + GOMPI_ELEMENTS_WORDS(sent);
		o.origin = (char *)(o.where + sent);
		o.result = o.origin + sent * (int64_t)size;
	}
	int rc = MPI_SUCCESS;
	bool begun = false;
	for (gompi_cursor_init(&cursor, t->type, t->count, GOMPI_ELEMENTS);
	     rc == MPI_SUCCESS && (bytes = gompi_cursor_next(&cursor, INT64_MAX, &offset)) > 0; where += bytes) {
		at = c->target.offset + (uint64_t)offset;
		n = (uint64_t)bytes / size;
		inside(c->part, at, size, n, &first, &end);
		for (uint64_t i = 0; i < n; i = i == first && i != end ? end : i + 1) {
			int64_t skip = (int64_t)(i * size);
			if (i < first || i >= end) {
				add_outside(&o, c, at + (uint64_t)skip, where + skip, origin);
				continue;
			}
			// Overlapping entries are applied in order: an element across the border before those behind it
			// in the range.
			if (o.across && o.flags != 0) {
				gompi_update_end(
					&u); // the progress thread needs the lock, and this process waits for it
				begun = false;
				if ((rc = update_outside(&o, c, origin, result)) != MPI_SUCCESS)
					break;
			}
			if (!begun && (rc = gompi_update_begin(&u, (uint64_t)c->elements - (uint64_t)sent,
							       base + at + skip)) != MPI_SUCCESS)
				break;
			begun = true;
			rc = gompi_update(&u, base + at + skip, origin != NULL ? origin + where + skip : NULL,
					  result != NULL ? result + where + skip : NULL, end - first);
			if (rc != MPI_SUCCESS)
				break;
		}
	}
	gompi_update_end(&u); // as above
	if (rc == MPI_SUCCESS && o.n != 0)
		rc = update_outside(&o, c, origin, result);
	free(words);
	return rc;
}

// Executes the accumulate-type call on elements of the target, from and to arrays.
static int accumulate_at_target(const struct gompi_checked *c, const char *origin, char *result) {
	if (c->scattered)
		return gompi_each_region(c, accumulate_at_target, origin, result);
	if (c->mapped)
		return update_here(c, origin, result);
	if (c->part != NULL)
		return update_part(c, origin, result);
	return send_update(c, &c->target, origin, result);
}

int gompi_do_accumulate(const struct gompi_checked *c) {
	const struct gompi_operation *r = c->r;
	if (c->elements == 0)
		return MPI_SUCCESS;
	bool no_op = r->kind != RMA_COMPARE_AND_SWAP && r->op == MPI_NO_OP;
	struct array origin, result;
	origin.at = result.at = origin.allocated = result.allocated = NULL;
	int rc = MPI_ERR_NO_MEM;
	bool whole = !c->mapped; // the ring path moves elements with their gaps
	if (!no_op) {
		array_of(&origin, &c->origin, c->elements, c->element, true, whole);
		if (origin.at == NULL)
			goto out;
	}
	if (gompi_has_result(r)) {
		array_of(&result, &c->result, c->elements, c->element, false, whole);
		if (result.at == NULL)
			goto out;
	}
	rc = accumulate_at_target(c, origin.at, result.at);
	if (rc == MPI_SUCCESS && result.at != NULL && is_copy(&result))
		copy_elements(&c->result, result.at, c->element, false);
out:
	free(origin.allocated);
	free(result.allocated);
	return rc;
}
