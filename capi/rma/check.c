// Checks the arguments of a communication call, and determines where its target buffer is.
#include "rma/checked.h"

#include <stdio.h>

#include "datatype/label.h"
#include "win/attached.h"
#include "win/epoch.h"
#include "datatype/op.h"

// Writes the words "the WHAT datatype" to `text`, for error texts about the buffer `what`. Returns `text`.
static const char *datatype_of(const char *what, char text[40]) {
	snprintf(text, 40, "the %s datatype", what);
	return text;
}

// Looks up and checks the arguments of one buffer. Returns 0 or the class of the error status.
static int look_up_buffer(const struct gompi_checked_op *c, struct gompi_buffer *s, const char *name,
			  const void *address, MPI_Count count, MPI_Datatype type) {
	if (count < 0)
		return gompi_set_error(c->error, MPI_ERR_COUNT, "the %s count is %lld; it must not be negative", name,
				       (long long)count);
	char text[40];
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL)
		return gompi_type_unusable(c->error, datatype_of(name, text), type);
	int64_t bytes, lo, hi;
	if (!gompi_type_bytes(t, count, &bytes) || !gompi_type_bounds(t, count, &lo, &hi))
		return gompi_set_error(c->error, MPI_ERR_COUNT,
				       "the %s buffer exceeds the address space: its count is %lld", name,
				       (long long)count);
	*s = (struct gompi_buffer){.at = (char *)(uintptr_t)address, .size = bytes, .count = count, .type = t};
	return MPI_SUCCESS;
}

// Replaces the datatypes of MPI_Fetch_and_op and MPI_Compare_and_swap by the predefined datatype. The program may pass
// another handle of the same type: MPI_Type_create_f90_integer and MPI_Type_dup return handles other than the
// predefined ones. Returns 0 or the class of the error status.
static int check_one_element(struct gompi_checked_op *c) {
	const struct gompi_type *t = c->target.type;
	char label[GOMPI_LABEL];
	if (t->elem == 0 || t->elements != 1 || t->elem_origin != 0)
		return gompi_set_error(c->error, MPI_ERR_TYPE, "the datatype must be predefined, but is %s",
				       gompi_type_label(c->args->target_type, label));
	t = gompi_type_get((MPI_Datatype)(uintptr_t)t->elem);
	c->target.type = c->result.type = t;
	if (c->origin.type != NULL)
		c->origin.type = t;
	return MPI_SUCCESS;
}

// Returns true if elements of the types `a` and `b` can be copied to each other.
static bool is_copyable(const struct gompi_type *a, const struct gompi_type *b) {
	return a->elem != 0 &&
	       (a->elem == b->elem || (a->elem_size == b->elem_size && !gompi_has_gaps(a) && !gompi_has_gaps(b)));
}

// Replaces the types of all three buffers by types whose elements are bytes. c->byte_types owns these types. Returns 0
// or the class of the error status.
static int use_byte_types(struct gompi_checked_op *c) {
	struct gompi_buffer *sides[] = {&c->target, &c->origin, &c->result};
	for (int i = 0; i < 3; i++) {
		if (sides[i]->type == NULL)
			continue;
		if ((c->byte_types[i] = gompi_type_as_bytes(sides[i]->type)) == NULL)
			return gompi_set_error(
				c->error, MPI_ERR_NO_MEM,
				"out of memory: cannot allocate %lld bytes for an internal description of a datatype",
				8 * (long long)sides[i]->type->words);
		sides[i]->type = c->byte_types[i];
	}
	return MPI_SUCCESS;
}

// Determines the element type and the number of elements of an accumulate-type call. Returns 0 or the class of the
// error status.
static int check_accumulate(struct gompi_checked_op *c) {
	const struct gompi_operation *r = c->args;
	bool swap = r->kind == RMA_COMPARE_AND_SWAP, no_op = !swap && r->op == MPI_NO_OP,
	     copies = no_op || r->op == MPI_REPLACE;
	char label[GOMPI_LABEL], other[GOMPI_LABEL];
	if ((swap || r->kind == RMA_FETCH_AND_OP) && check_one_element(c) != MPI_SUCCESS)
		return c->error->class;
	c->element = (MPI_Datatype)(uintptr_t)c->target.type->elem;
	c->elements = c->target.count * c->target.type->elements;
	if (swap) {
		if (!gompi_cas_type_bytes(c->element))
			return gompi_set_error(
				c->error, MPI_ERR_TYPE,
				"the datatype is %s; MPI_Compare_and_swap needs a C or Fortran integer, a logical, "
				"MPI_AINT, MPI_COUNT, MPI_OFFSET or MPI_BYTE",
				gompi_type_label(r->target_type, label));
		return MPI_SUCCESS;
	}
	const uintptr_t op = (uintptr_t)r->op;
	if (op <= (uintptr_t)MPI_OP_NULL || op > (uintptr_t)MPI_NO_OP || (no_op && r->kind == RMA_ACCUMULATE))
		return gompi_set_error(
			c->error, MPI_ERR_OP,
			no_op ? "the operation is %s, which only MPI_Get_accumulate and MPI_Fetch_and_op support"
			      : "the operation is %s; RMA calls support only predefined operations",
			gompi_op_label(r->op, label));
	if (r->kind == RMA_ACCUMULATE && c->origin.size == 0)
		c->elements = 0;
	if (c->elements == 0)
		return MPI_SUCCESS;
	const struct gompi_buffer *others[] = {no_op ? NULL : &c->origin,
					       gompi_has_result(c->args) ? &c->result : NULL};
	if (copies && (c->element == 0 || (others[0] != NULL && !is_copyable(others[0]->type, c->target.type)) ||
		       (others[1] != NULL && !is_copyable(others[1]->type, c->target.type)))) {
		if (use_byte_types(c) != MPI_SUCCESS)
			return c->error->class;
		c->element = MPI_BYTE;
		c->elements = c->target.count * c->target.type->elements;
	}
	const struct gompi_type *target_type = c->target.type;
	if (target_type->elem == 0)
		return gompi_set_error(c->error, MPI_ERR_TYPE,
				       "all elements of the target datatype must be of the same predefined datatype");
	// MPI defines only bitwise operations on MPI_BYTE. The other operations treat MPI_BYTE as MPI_UINT8_T, as in
	// other MPI libraries.
	if (c->element == MPI_BYTE && gompi_op_kernel(r->op, MPI_BYTE) == NULL)
		c->element = MPI_UINT8_T;
	gompi_kernel kernel = gompi_op_kernel(r->op, c->element);
	if (kernel == NULL)
		return gompi_set_error(c->error, MPI_ERR_OP, "%s is not defined for %s", gompi_op_label(r->op, label),
				       gompi_type_label((MPI_Datatype)(uintptr_t)target_type->elem, other));
	for (int i = 0; i < 2; i++) {
		const struct gompi_buffer *s = others[i];
		if (s == NULL)
			continue;
		const char *name = i == 0 ? "origin" : "result";
		// The operands of an arithmetic operation must be numbers of the same kind, such as MPI_INTEGER and
		// MPI_INT. The elements of the result buffer need only be copyable (is_copyable).
		bool same =
			s->type->elem == target_type->elem ||
			(i == 0 && !copies ? gompi_op_kernel(r->op, (MPI_Datatype)(uintptr_t)s->type->elem) == kernel
					   : is_copyable(s->type, target_type));
		if (!same)
			return gompi_set_error(
				c->error, MPI_ERR_TYPE,
				"the %s datatype has elements of %s, but the target datatype has elements of %s", name,
				gompi_type_label((MPI_Datatype)(uintptr_t)s->type->elem, label),
				gompi_type_label((MPI_Datatype)(uintptr_t)target_type->elem, other));
		if (s->count * s->type->elements != c->elements)
			return gompi_set_error(c->error, MPI_ERR_TRUNCATE,
					       "the %s buffer has %lld elements, but the target buffer has %lld", name,
					       (long long)(s->count * s->type->elements), (long long)c->elements);
	}
	return MPI_SUCCESS;
}

// Determines where the target's buffer is in the target's window. Returns 0 or the class of the error status.
static int check_range(struct gompi_checked_op *c) {
	const struct gompi_operation *r = c->args;
	struct gompi_target *t = &c->w->targets[r->target];
	uint64_t size = gompi_win_bytes(c->w, r->target);
	const uint32_t unit = gompi_win_disp_unit(c->w, r->target);
	int64_t offset, lo = 0, hi = 0, from, to;
	gompi_type_bounds(c->target.type, c->target.count, &lo, &hi);
	if (lo == hi) // no byte is accessed
		return MPI_SUCCESS;
	if (__builtin_mul_overflow((int64_t)r->disp, (int64_t)unit, &offset) ||
	    __builtin_add_overflow(offset, lo, &from) || __builtin_add_overflow(offset, hi, &to))
		return gompi_set_error(c->error, MPI_ERR_RMA_RANGE,
				       "target_disp %2$lld x displacement unit %3$u exceeds 64 bits; the window of "
				       "target %1$d has %4$llu bytes",
				       r->target, (long long)r->disp, unit, (unsigned long long)size);
	c->target.offset = (uint64_t)offset;
	if (c->w->attached != NULL) {
		char *mapped_at;
		if (gompi_win_is_remote(c->w, r->target))
			return MPI_SUCCESS; // the target checks the range, because only it knows its attached memory
		int rc = gompi_attached_find(c->w, r->target, (uint64_t)from, (uint64_t)to, &mapped_at);
		if (rc == MPI_ERR_RMA_RANGE) {
			c->spans_regions = true;
			rc = gompi_for_each_region(c, NULL, NULL, NULL);
		}
		if (rc == MPI_ERR_RMA_RANGE)
			return gompi_set_error(
				c->error, rc,
				"target %d has not attached all memory from address %#llx to %#llx (target_disp %#llx, "
				"target_count %lld): call MPI_Win_attach at the target first",
				r->target, (unsigned long long)from, (unsigned long long)to - 1,
				(unsigned long long)r->disp, (long long)c->target.count);
		if (rc == MPI_ERR_PROC_ABORTED)
			return gompi_set_error(c->error, rc,
					       "target %d ended while it was in MPI_Win_attach or MPI_Win_detach",
					       r->target);
		if (rc != MPI_SUCCESS)
			return gompi_set_error(c->error, rc,
					       "cannot map the table of the attached memory of target %d: out of "
					       "memory, or vm.max_map_count is reached",
					       r->target);
		c->is_mapped = !c->spans_regions && mapped_at != NULL;
		if (c->is_mapped)
			c->target.at = mapped_at - lo;
		return MPI_SUCCESS;
	}
	if (from < 0 || (uint64_t)to > size)
		return gompi_set_error(
			c->error, MPI_ERR_RMA_RANGE,
			"the access to bytes %2$lld to %3$lld (target_disp %4$lld x displacement unit %5$u, "
			"target_count %6$lld) reaches outside of the window of target %1$d, which has %7$llu bytes",
			r->target, (long long)from, (long long)to - 1, (long long)r->disp, unit,
			(long long)c->target.count, (unsigned long long)size);
	c->is_mapped = gompi_load(&t->state) & TARGET_DIRECT;
	if (!c->is_mapped) {
		const struct gompi_mapped_range *p = &c->mapped_range;
		c->mapped_range = gompi_mapped_range_of(c->w, r->target);
		c->is_mapped = p->from < p->to && (uint64_t)from >= p->from && (uint64_t)to <= p->to;
		c->partial_range =
			!c->is_mapped && p->from < p->to && (uint64_t)from < p->to && (uint64_t)to > p->from ? p : NULL;
	}
	if (c->is_mapped)
		c->target.at = t->base + offset;
	return MPI_SUCCESS;
}

// Checks that the address of a buffer of this process is valid. Returns 0 or the class of the error status.
static int check_address(const struct gompi_checked_op *c, const struct gompi_buffer *s, const char *name) {
	int64_t lo, hi;
	gompi_type_bounds(s->type, s->count, &lo, &hi);
	if (lo == hi || !gompi_invalid_address(s->at, lo))
		return MPI_SUCCESS;
	char text[40];
	snprintf(text, sizeof text, "the %s buffer", name);
	return gompi_bad_buffer(c->error, text, s->at, s->size, lo);
}

// Checks that the addresses of all buffers of a call that moves data are valid. Returns 0 or the class of the error
// status.
static int check_buffers(const struct gompi_checked_op *c) {
	const struct gompi_operation *r = c->args;
	int rc = MPI_SUCCESS;
	if (c->origin.type != NULL)
		rc = check_address(c, &c->origin, "origin");
	if (rc == MPI_SUCCESS && c->result.type != NULL)
		rc = check_address(c, &c->result, r->kind == RMA_GET ? "origin" : "result");
	struct gompi_buffer compare = c->origin;
	compare.at = (char *)(uintptr_t)r->compare;
	if (rc == MPI_SUCCESS && r->kind == RMA_COMPARE_AND_SWAP)
		rc = check_address(c, &compare, "compare");
	return rc;
}

int gompi_rma_check_args(struct gompi_checked_op *c) {
	const struct gompi_operation *r = c->args;
	if ((uint32_t)r->target >= c->w->n && r->target != MPI_PROC_NULL)
		return gompi_set_error(c->error, MPI_ERR_RANK,
				       "target_rank is %d; valid ranks of the window are 0 to %u", r->target,
				       c->w->n - 1);
	bool no_op = (r->kind == RMA_GET_ACCUMULATE || r->kind == RMA_FETCH_AND_OP) && r->op == MPI_NO_OP;
	int rc = look_up_buffer(c, &c->target, "target", NULL, r->target_count, r->target_type);
	if (rc == MPI_SUCCESS && r->kind != RMA_GET && !no_op)
		rc = look_up_buffer(c, &c->origin, "origin", r->origin, r->origin_count, r->origin_type);
	if (rc == MPI_SUCCESS && gompi_has_result(r))
		rc = look_up_buffer(c, &c->result, r->kind == RMA_GET ? "origin" : "result", r->result, r->result_count,
				    r->result_type);
	if (rc != MPI_SUCCESS)
		return rc;
	if (gompi_is_accumulate(r)) {
		rc = check_accumulate(c);
	} else {
		const struct gompi_buffer *local = r->kind == RMA_PUT ? &c->origin : &c->result;
		int64_t local_bytes = local->size, target_bytes = c->target.size;
		c->bytes = local_bytes < target_bytes ? local_bytes : target_bytes;
		if (r->kind == RMA_PUT
			    ? local_bytes > target_bytes
			    : target_bytes > local_bytes && local_bytes != 0) // a get of zero bytes moves nothing
			return gompi_set_error(c->error, MPI_ERR_TRUNCATE,
					       "the origin buffer has %lld bytes, but the target buffer has %lld bytes",
					       (long long)local_bytes, (long long)target_bytes);
	}
	if (rc != MPI_SUCCESS || r->target == MPI_PROC_NULL || (c->bytes == 0 && c->elements == 0))
		return rc;
	rc = check_buffers(c);
	return rc == MPI_SUCCESS ? check_range(c) : rc;
}
