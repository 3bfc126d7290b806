// The accumulate-type calls: elements of any datatypes as arrays, and what is done with them at the target.
#include "rma_checked.h"

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "apply.h"
#include "op.h"

// Whether elements of t have gaps in or behind their data, as pair types have. Gaps belong to the application: they are neither read nor written, and nothing need
// be mapped there.
static bool has_gaps(const struct gompi_type *t) { return t->elements * t->elem_size != t->size; }

// Copies elements between an array and where s has them, but not their gaps.
static void copy_elements(const struct gompi_side *s, char *array, MPI_Datatype element, bool to_array) {
	int64_t bytes = s->count * s->type->size;
	if (!has_gaps(s->type)) {
		if (to_array)
			gompi_typed_pack(array, bytes, s->address, s->count, s->type, 0);
		else
			gompi_typed_unpack(s->address, s->count, s->type, 0, array, bytes);
		return;
	}
	gompi_kernel copy = gompi_op_kernel(MPI_REPLACE, element);
	struct gompi_cursor c;
	gompi_cursor_init(&c, s->type, s->count, GOMPI_ELEMENTS);
	int64_t n, offset;
	for (; (n = gompi_cursor_next(&c, INT64_MAX, &offset)) > 0; array += n)
		copy(to_array ? s->address + offset : array, to_array ? array : s->address + offset, (size_t)(n / s->type->elem_size));
}

// The elements of s as one array: in place if they lie so, else in memory that *temporary is set to and the caller frees. fill says that the array gets what s
// holds; whole that elements will be read or written with their gaps, which must not happen in place.
static char *array_of(const struct gompi_side *s, int64_t elements, MPI_Datatype element, bool fill, bool whole, char **temporary) {
	*temporary = NULL;
	const struct gompi_type *t = s->type;
	bool gaps = has_gaps(t);
	if ((t->flags & GOMPI_TYPE_ELEM_CONTIGUOUS) && !(whole && gaps))
		return s->address + t->elem_origin;
	char *array = gaps ? calloc((size_t)elements, (size_t)t->elem_size) : malloc((size_t)(elements * t->elem_size));
	*temporary = array;
	if (array != NULL && fill)
		copy_elements(s, array, element, true);
	return array;
}

// Updates the target's elements, which are mapped here, from and to arrays of elements.
static int update(const struct gompi_checked *c, const char *origin, char *result) {
	const struct gompi_rma *r = c->r;
	struct gompi_update u = {.w = c->w, .rank = r->target, .kind = r->kind, .op = r->op, .element = c->element, .compare = r->compare};
	const struct gompi_side *t = &c->target;
	int64_t size = t->type->elem_size, n, offset;
	struct gompi_cursor cursor, back;
	gompi_cursor_init(&cursor, t->type, t->count, GOMPI_ELEMENTS);
	int rc = gompi_update_begin(&u, (uint64_t)c->elements, t->address);
	if (rc != MPI_SUCCESS)
		return rc;
	bool gather = gompi_update_gathers(&u) && !(t->type->flags & GOMPI_TYPE_ELEM_CONTIGUOUS);
	if (gather)
		gompi_cursor_init(&back, t->type, t->count, GOMPI_ELEMENTS);
	_Alignas(64) char array[GOMPI_GATHER];
	for (;;) {
		n = gather ? gompi_cursor_pack(array, t->address, &cursor, GOMPI_GATHER) : gompi_cursor_next(&cursor, INT64_MAX, &offset);
		if (n == 0)
			break;
		gompi_update(&u, gather ? array : t->address + offset, origin, result, (uint64_t)(n / size));
		if (gather && r->op != MPI_NO_OP)
			gompi_cursor_unpack(t->address, &back, array, n);
		origin = origin != NULL ? origin + n : NULL;
		result = result != NULL ? result + n : NULL;
	}
	gompi_update_end(&u);
	return MPI_SUCCESS;
}

// Updates n elements at an offset in the target's window, of which part can be addressed here. An element that lies in it wholly is updated here by every origin,
// any other one, also where only a byte of it lies outside, by the agent.
static int update_run(const struct gompi_checked *c, struct gompi_update *u, uint64_t at, const char *origin, char *result, uint64_t n) {
	const struct gompi_part *p = c->part;
	char *base = c->w->targets[c->r->target].base;
	uint64_t size = (uint64_t)c->target.type->elem_size;
	uint64_t first = p->from > at ? at_most((p->from - at + size - 1) / size, n) : 0; // of the elements here
	uint64_t end = p->to > at ? at_least(at_most((p->to - at) / size, n), first) : first;
	const uint64_t border[] = {0, first, end, n};
	for (int i = 0; i < 3; i++) {
		uint64_t count = border[i + 1] - border[i], skip = border[i] * size, from = at + skip, to = from + count * size;
		if (count == 0)
			continue;
		const char *o = origin != NULL ? origin + skip : NULL;
		char *res = result != NULL ? result + skip : NULL;
		int rc;
		if (i == 1) {
			rc = gompi_update_begin(u, count, base + from);
			if (rc == MPI_SUCCESS) {
				gompi_update(u, base + from, o, res, count);
				gompi_update_end(u);
			}
		} else {
			rc = gompi_agent_accumulate(c->w, c->r, from, (int64_t)count, gompi_type_get(c->element), o, res);
			// An element across the border: what this process does to its bytes here comes later and must find it done.
			if (rc == MPI_SUCCESS && from < p->to && to > p->from)
				rc = gompi_agent_wait(c->w, c->r->target);
		}
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

// Updates the target's elements, of which part can be addressed here.
static int update_part(const struct gompi_checked *c, const char *origin, char *result) {
	struct gompi_update u = {.w = c->w, .rank = c->r->target, .kind = c->r->kind, .op = c->r->op, .element = c->element, .compare = c->r->compare};
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, GOMPI_ELEMENTS);
	int rc = MPI_SUCCESS;
	for (int64_t n, offset; rc == MPI_SUCCESS && (n = gompi_cursor_next(&cursor, INT64_MAX, &offset)) > 0;) {
		rc = update_run(c, &u, c->offset + (uint64_t)offset, origin, result, (uint64_t)(n / c->target.type->elem_size));
		origin = origin != NULL ? origin + n : NULL;
		result = result != NULL ? result + n : NULL;
	}
	return rc;
}

// The accumulate-type call on elements of the target, from and to arrays.
static int accumulate_at_target(const struct gompi_checked *c, const char *origin, char *result) {
	if (c->scattered)
		return gompi_each_region(c, accumulate_at_target, origin, result);
	if (c->target.address != NULL)
		return update(c, origin, result);
	if (c->part != NULL)
		return update_part(c, origin, result);
	return gompi_agent_accumulate(c->w, c->r, c->offset, c->target.count, c->target.type, origin, result);
}

int gompi_do_accumulate(const struct gompi_checked *c) {
	const struct gompi_rma *r = c->r;
	if (c->elements == 0)
		return MPI_SUCCESS;
	bool no_op = r->kind != RMA_COMPARE_AND_SWAP && r->op == MPI_NO_OP;
	char *origin = NULL, *result = NULL, *origin_temporary = NULL, *result_temporary = NULL;
	int rc = MPI_ERR_NO_MEM;
	bool whole = c->target.address == NULL; // the agent path moves elements with their gaps
	if (!no_op && (origin = array_of(&c->origin, c->elements, c->element, true, whole, &origin_temporary)) == NULL && origin_temporary == NULL &&
	    c->origin.address != NULL)
		goto out;
	if (r->result_type != NULL && (result = array_of(&c->result, c->elements, c->element, false, whole, &result_temporary)) == NULL)
		goto out;
	rc = accumulate_at_target(c, origin, result);
	if (rc == MPI_SUCCESS && result_temporary != NULL)
		copy_elements(&c->result, result, c->element, false);
out:
	free(origin_temporary);
	free(result_temporary);
	return rc;
}
