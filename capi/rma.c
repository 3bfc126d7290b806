// Everything that the fast paths of the communication calls do not take: the checks that tell what is wrong, derived datatypes, the agent path.
#include "rma.h"

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "apply.h"
#include "datatype.h"
#include "dynamic.h"
#include "epoch.h"
#include "op.h"

// One side of an operation: count copies of a type at an address.
struct side {
	char *address;
	int64_t count;
	const struct gompi_type *type;
};

bool gompi_direct_part(struct gompi_win *w, int rank, MPI_Aint disp, MPI_Count count, int64_t size, char **address, int64_t *bytes) {
	if (w == NULL || w->parts == NULL || (uint32_t)rank >= w->n)
		return false;
	struct gompi_target *t = &w->targets[rank];
	const struct gompi_part *p = &w->parts[rank];
	uint32_t open = atomic_load_explicit(&t->state, memory_order_relaxed) | atomic_load_explicit(&w->access, memory_order_relaxed);
	int64_t offset;
	if ((open & TARGET_ACCESS) == 0 || __builtin_mul_overflow((int64_t)disp, (int64_t)t->disp_unit, &offset) ||
	    __builtin_mul_overflow(count, size, bytes) || *bytes <= 0)
		return false;
	*address = t->base + offset;
	return offset >= (int64_t)p->from && offset <= (int64_t)p->to && (uint64_t)*bytes <= p->to - (uint64_t)offset;
}

__attribute__((noipa)) int gompi_copy_bytes(void *to, const void *from, int64_t bytes) {
	memmove(to, from, (size_t)bytes);
	return MPI_SUCCESS;
}

// An operation whose arguments have been looked up and checked.
struct checked {
	const struct gompi_rma *r;
	struct gompi_win *w;
	struct side origin, result, target; // target.address is where it lies here, or NULL on the agent path
	const struct gompi_part *part;      // if part of the target's buffer can be addressed here: which bytes of its window can
	uint64_t offset;                    // of the target's buffer in its window, bytes; may lie outside where the type has a lower bound
	int64_t bytes;                      // to be moved
	MPI_Datatype element;               // of an accumulate: the predefined type
	int64_t elements;
	bool scattered; // the target's buffer lies in several attached regions
};

static int refuse(const struct checked *c, int class, const char *what, const char *why, long long value) {
	return gompi_win_error(c->r->win, c->r->call, class, "%s %s %lld", what, why, value);
}

// Looks up one buffer. 0, or an error raised.
static int look_up(const struct checked *c, struct side *s, const char *what, const void *address, MPI_Count count, MPI_Datatype type) {
	if (count < 0)
		return refuse(c, MPI_ERR_COUNT, what, "count is negative:", (long long)count);
	const struct gompi_type *t = gompi_type_get(type);
	if (t == NULL)
		return gompi_win_error(c->r->win, c->r->call, MPI_ERR_TYPE, "%s datatype %#lx is none, or is not committed", what,
				       (unsigned long)(uintptr_t)type);
	int64_t bytes, lo, hi;
	if (!gompi_type_bytes(t, count, &bytes) || !gompi_type_bounds(t, count, &lo, &hi))
		return refuse(c, MPI_ERR_COUNT, what, "buffer is larger than the address space: count", (long long)count);
	*s = (struct side){(char *)(uintptr_t)address, count, t};
	return MPI_SUCCESS;
}

static bool is_accumulate(const struct gompi_rma *r) { return r->kind != RMA_PUT && r->kind != RMA_GET; }

// The element type and number of an accumulate-type call. 0, or an error raised.
static int check_accumulate(struct checked *c) {
	const struct gompi_rma *r = c->r;
	bool swap = r->kind == RMA_COMPARE_AND_SWAP, no_op = !swap && r->op == MPI_NO_OP;
	const struct gompi_type *tt = c->target.type;
	c->element = (MPI_Datatype)(uintptr_t)tt->elem;
	c->elements = c->target.count * tt->elements;
	if (r->kind == RMA_FETCH_AND_OP || swap) {
		if ((uintptr_t)r->target_type >= GOMPI_PREDEFINED)
			return gompi_win_error(r->win, r->call, MPI_ERR_TYPE, "datatype %#lx is not predefined", (unsigned long)(uintptr_t)r->target_type);
	}
	if (swap) {
		if (!gompi_swappable(r->target_type))
			return gompi_win_error(r->win, r->call, MPI_ERR_TYPE,
					       "datatype %#lx is no C or Fortran integer, logical, MPI_AINT, MPI_COUNT, MPI_OFFSET or MPI_BYTE",
					       (unsigned long)(uintptr_t)r->target_type);
		return MPI_SUCCESS;
	}
	uintptr_t op = (uintptr_t)r->op;
	if (op <= (uintptr_t)MPI_OP_NULL || op > (uintptr_t)MPI_NO_OP || (no_op && r->kind == RMA_ACCUMULATE))
		return gompi_win_error(r->win, r->call, MPI_ERR_OP, "operation %#lx is not predefined%s", (unsigned long)op,
				       no_op ? " for MPI_Accumulate (MPI_NO_OP is for the fetching calls)" : "");
	if (c->elements == 0)
		return MPI_SUCCESS;
	if (tt->elem == 0)
		return gompi_win_error(r->win, r->call, MPI_ERR_TYPE, "the target datatype has elements of several predefined datatypes");
	if (gompi_op_kernel(r->op, c->element) == NULL)
		return gompi_win_error(r->win, r->call, MPI_ERR_OP, "operation %#lx is not defined for datatype %#lx", (unsigned long)op,
				       (unsigned long)tt->elem);
	const struct side *others[] = {no_op ? NULL : &c->origin, c->r->result_type != NULL ? &c->result : NULL};
	for (int i = 0; i < 2; i++) {
		const struct side *s = others[i];
		if (s == NULL)
			continue;
		const char *what = i == 0 ? "origin" : "result";
		if (s->type->elem != tt->elem)
			return gompi_win_error(r->win, r->call, MPI_ERR_TYPE, "the %s datatype has elements of datatype %#lx, the target datatype of %#lx", what,
					       (unsigned long)s->type->elem, (unsigned long)tt->elem);
		if (s->count * s->type->elements != c->elements)
			return gompi_win_error(r->win, r->call, MPI_ERR_TRUNCATE, "%lld elements in the %s buffer, %lld at the target",
					       (long long)(s->count * s->type->elements), what, (long long)c->elements);
	}
	if (tt->flags & GOMPI_TYPE_OVERLAP_SURE)
		return gompi_win_error(r->win, r->call, MPI_ERR_TYPE, "the target datatype has overlapping elements");
	return MPI_SUCCESS;
}

typedef int do_at_target(const struct checked *c, const char *origin, char *result);

// Splits an operation on a dynamic window into the parts that lie together in one attached region each and calls f, unless that is NULL, for each with what
// belongs to it in the arrays origin and result. 0; MPI_ERR_RMA_RANGE: not all of it is attached, or an element lies in two regions.
static int each_region(const struct checked *c, do_at_target *f, const char *origin, char *result) {
	bool elements = is_accumulate(c->r);
	const struct gompi_type *unit = gompi_type_get(elements ? c->element : MPI_BYTE);
	int64_t n, at, all = elements ? c->elements * unit->extent : c->bytes, gap = unit->extent - unit->true_ub;
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, elements ? GOMPI_ELEMENTS : GOMPI_BYTES);
	for (; all > 0 && (n = gompi_cursor_next(&cursor, all, &at)) > 0;) {
		for (int64_t done; n > 0; n -= done, all -= done, at += done) {
			struct checked part = *c;
			part.scattered = false;
			part.offset = c->offset + (uint64_t)at;
			uint64_t end;
			int rc = gompi_dynamic_find_some(c->w, c->r->target, part.offset, part.offset + (uint64_t)(n - gap), &part.target.address, &end);
			if (rc != MPI_SUCCESS)
				return rc;
			part.elements = ((int64_t)(end - part.offset) + gap) / unit->extent;
			if (part.elements == 0)
				return MPI_ERR_RMA_RANGE;
			part.bytes = done = part.elements * unit->extent;
			part.target.count = part.elements;
			part.target.type = unit;
			if (f == NULL)
				continue;
			if ((rc = f(&part, origin, result)) != MPI_SUCCESS)
				return rc;
			origin = origin != NULL ? origin + done : NULL;
			result = result != NULL ? result + done : NULL;
		}
	}
	return MPI_SUCCESS;
}

// Where the target's buffer lies, within the target's window. 0, or an error raised.
static int check_range(struct checked *c) {
	const struct gompi_rma *r = c->r;
	struct gompi_target *t = &c->w->targets[r->target];
	const struct gompi_win_member *m = gompi_member(c->w, r->target);
	int64_t offset, lo = 0, hi = 0, from, to;
	gompi_type_bounds(c->target.type, c->target.count, &lo, &hi);
	if (lo == hi) // nothing is touched
		return MPI_SUCCESS;
	if (__builtin_mul_overflow((int64_t)r->disp, (int64_t)t->disp_unit, &offset) || __builtin_add_overflow(offset, lo, &from) ||
	    __builtin_add_overflow(offset, hi, &to))
		return gompi_win_error(r->win, r->call, MPI_ERR_RMA_RANGE,
				       "target %d: displacement %lld x unit %u is beyond 64 bits; the window there has %llu bytes", r->target, (long long)r->disp,
				       t->disp_unit, (unsigned long long)m->size);
	if (c->w->attached != NULL) {
		c->offset = (uint64_t)offset;
		int rc = gompi_dynamic_find(c->w, r->target, (uint64_t)from, (uint64_t)to, &c->target.address);
		if (rc == MPI_ERR_RMA_RANGE) {
			c->scattered = true;
			rc = each_region(c, NULL, NULL, NULL);
		}
		if (rc == MPI_ERR_RMA_RANGE)
			return gompi_win_error(r->win, r->call, rc, "target %d: no attached memory holds the bytes %#llx to %#llx (displacement %#llx, count %lld)",
					       r->target, (unsigned long long)from, (unsigned long long)to, (unsigned long long)r->disp,
					       (long long)c->target.count);
		if (rc != MPI_SUCCESS)
			return gompi_win_error(r->win, r->call, rc, "target %d: its attached memory cannot be mapped", r->target);
		if (c->target.address != NULL)
			c->target.address -= lo;
		return MPI_SUCCESS;
	}
	if (from < 0 || (uint64_t)to > m->size)
		return gompi_win_error(r->win, r->call, MPI_ERR_RMA_RANGE,
				       "target %d: bytes %lld to %lld (displacement %lld x unit %u, count %lld) are not in the window of %llu bytes", r->target,
				       (long long)from, (long long)to, (long long)r->disp, t->disp_unit, (long long)c->target.count,
				       (unsigned long long)m->size);
	c->offset = (uint64_t)offset;
	bool direct = atomic_load_explicit(&t->state, memory_order_relaxed) & TARGET_DIRECT;
	if (!direct && c->w->parts != NULL) {
		const struct gompi_part *p = &c->w->parts[r->target];
		direct = (uint64_t)from >= p->from && (uint64_t)to <= p->to;
		c->part = !direct && (uint64_t)from < p->to && (uint64_t)to > p->from ? p : NULL;
	}
	c->target.address = direct ? t->base + offset : NULL;
	return MPI_SUCCESS;
}

// All that can be wrong with r but for its epoch. 0, or an error raised.
static int check(struct checked *c) {
	const struct gompi_rma *r = c->r;
	if ((uint32_t)r->target >= c->w->n && r->target != MPI_PROC_NULL)
		return gompi_win_error(r->win, r->call, MPI_ERR_RANK, "target rank %d in a window of %u processes", r->target, c->w->n);
	bool no_op = (r->kind == RMA_GET_ACCUMULATE || r->kind == RMA_FETCH_AND_OP) && r->op == MPI_NO_OP;
	int rc = look_up(c, &c->target, "target", NULL, r->target_count, r->target_type);
	if (rc == MPI_SUCCESS && r->kind != RMA_GET && !no_op)
		rc = look_up(c, &c->origin, "origin", r->origin, r->origin_count, r->origin_type);
	if (rc == MPI_SUCCESS && r->result_type != NULL)
		rc = look_up(c, &c->result, r->kind == RMA_GET ? "origin" : "result", r->result, r->result_count, r->result_type);
	if (rc != MPI_SUCCESS)
		return rc;
	if (is_accumulate(r)) {
		rc = check_accumulate(c);
	} else {
		const struct side *mine = r->kind == RMA_PUT ? &c->origin : &c->result;
		int64_t here = mine->count * mine->type->size, there = c->target.count * c->target.type->size;
		if (r->kind == RMA_PUT ? here > there : there > here)
			return gompi_win_error(r->win, r->call, MPI_ERR_TRUNCATE, "%lld bytes do not fit into %lld: origin %lld, target %lld bytes",
					       (long long)(here > there ? here : there), (long long)(here > there ? there : here), (long long)here, (long long)there);
		c->bytes = here < there ? here : there;
		if (r->kind == RMA_PUT && (c->target.type->flags & GOMPI_TYPE_OVERLAP_SURE))
			return gompi_win_error(r->win, r->call, MPI_ERR_TYPE, "the target datatype has overlapping elements");
	}
	if (rc == MPI_SUCCESS && r->target != MPI_PROC_NULL)
		rc = check_range(c);
	return rc;
}

// Opens the fence epoch with its first operation, or says which epoch is missing.
static int check_epoch(const struct gompi_rma *r, struct gompi_win *w) {
	uint32_t access = atomic_load(&w->access);
	if (r->request && (access & (ACCESS_FENCE_OPEN | ACCESS_FENCE | ACCESS_START)))
		return gompi_win_error(r->win, r->call, MPI_ERR_RMA_SYNC, "%s; request-based operations need a lock epoch",
				       gompi_access_name[gompi_access_number(access)]);
	if (r->target != MPI_PROC_NULL && !(access & (ACCESS_EVERY_TARGET | ACCESS_FENCE_OPEN)) && access != 0 &&
	    !(atomic_load(&w->targets[r->target].state) & TARGET_ACCESS))
		return gompi_win_error(r->win, r->call, MPI_ERR_RMA_SYNC, "%s, but not for target %d", gompi_access_name[gompi_access_number(access)],
				       r->target);
	if (!gompi_epoch_move(w, r->request ? EPOCH_REQUEST : EPOCH_OPERATION, 0))
		return gompi_epoch_error(w, r->call);
	return MPI_SUCCESS;
}

// Whether elements of t have gaps in or behind their data, as pair types have. Gaps belong to the application: they are neither read nor written, and nothing need
// be mapped there.
static bool has_gaps(const struct gompi_type *t) { return t->elements * t->elem_size != t->size; }

// Copies elements between an array and where s has them, but not their gaps.
static void copy_elements(const struct side *s, char *array, MPI_Datatype element, bool to_array) {
	gompi_kernel copy = gompi_op_kernel(MPI_REPLACE, element);
	struct gompi_cursor c;
	gompi_cursor_init(&c, s->type, s->count, GOMPI_ELEMENTS);
	int64_t n, offset;
	for (; (n = gompi_cursor_next(&c, INT64_MAX, &offset)) > 0; array += n)
		copy(to_array ? s->address + offset : array, to_array ? array : s->address + offset, (size_t)(n / s->type->elem_size));
}

// The elements of s as one array: in place if they lie so, else in memory that *temporary is set to and the caller frees. fill says that the array gets what s
// holds; whole that elements will be read or written with their gaps, which must not happen in place.
static char *array_of(const struct side *s, int64_t elements, MPI_Datatype element, bool fill, bool whole, char **temporary) {
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
static int update(const struct checked *c, const char *origin, char *result) {
	const struct gompi_rma *r = c->r;
	struct gompi_update u = {.w = c->w, .rank = r->target, .kind = r->kind, .op = r->op, .element = c->element, .compare = r->compare};
	const struct side *t = &c->target;
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

static uint64_t at_least(uint64_t x, uint64_t least) { return x < least ? least : x; }
static uint64_t at_most(uint64_t x, uint64_t most) { return x > most ? most : x; }

// Updates n elements at an offset in the target's window, of which part can be addressed here. An element that lies in it wholly is updated here by every origin,
// any other one, also where only a byte of it lies outside, by the agent.
static int update_run(const struct checked *c, struct gompi_update *u, uint64_t at, const char *origin, char *result, uint64_t n) {
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
static int update_part(const struct checked *c, const char *origin, char *result) {
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
static int accumulate_at_target(const struct checked *c, const char *origin, char *result) {
	if (c->scattered)
		return each_region(c, accumulate_at_target, origin, result);
	if (c->target.address != NULL)
		return update(c, origin, result);
	if (c->part != NULL)
		return update_part(c, origin, result);
	return gompi_agent_accumulate(c->w, c->r, c->offset, c->target.count, c->target.type, origin, result);
}

static int do_accumulate(const struct checked *c) {
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

// Moves bytes between local and the target's buffer, of which part can be addressed here: that part by a copy, the rest through the agent path.
static int move_part(const struct checked *c, char *local, bool put) {
	const struct gompi_part *p = c->part;
	char *base = c->w->targets[c->r->target].base;
	struct gompi_cursor cursor;
	gompi_cursor_init(&cursor, c->target.type, c->target.count, GOMPI_BYTES);
	for (int64_t done = 0, n, offset; done < c->bytes && (n = gompi_cursor_next(&cursor, c->bytes - done, &offset)) > 0; done += n) {
		uint64_t at = c->offset + (uint64_t)offset, end = at + (uint64_t)n;
		uint64_t first = at_most(at_least(at, p->from), end);
		const uint64_t border[] = {at, first, at_least(at_most(end, p->to), first), end};
		for (int i = 0; i < 3; i++) {
			uint64_t from = border[i], bytes = border[i + 1] - from;
			char *mine = local + done + (from - at);
			if (bytes == 0)
				continue;
			int rc = MPI_SUCCESS;
			if (i == 1)
				memmove(put ? base + from : mine, put ? mine : base + from, bytes);
			else
				rc = gompi_agent_move(c->w, c->r->target, from, (int64_t)bytes, gompi_type_get(MPI_BYTE), mine, (int64_t)bytes, put);
			if (rc != MPI_SUCCESS)
				return rc;
		}
	}
	return MPI_SUCCESS;
}

// Moves one contiguous buffer on this side from or to the target.
static int move_at_target(const struct checked *c, const char *origin, char *result) {
	if (c->scattered)
		return each_region(c, move_at_target, origin, result);
	bool put = c->r->kind == RMA_PUT;
	const struct side *target = &c->target;
	if (c->part != NULL)
		return move_part(c, put ? (char *)(uintptr_t)origin : result, put);
	if (target->address == NULL)
		return gompi_agent_move(c->w, c->r->target, c->offset, target->count, target->type, put ? (char *)(uintptr_t)origin : result, c->bytes, put);
	if (put)
		memmove(target->address, origin, (size_t)c->bytes);
	else
		memmove(result, target->address, (size_t)c->bytes);
	return MPI_SUCCESS;
}

static int do_move(const struct checked *c) {
	if (c->bytes == 0)
		return MPI_SUCCESS;
	bool put = c->r->kind == RMA_PUT;
	const struct side *mine = put ? &c->origin : &c->result, *target = &c->target;
	if (target->address != NULL) {
		const struct side *to = put ? target : mine, *from = put ? mine : target;
		if (to->type->flags & from->type->flags & GOMPI_TYPE_CONTIGUOUS)
			memmove(to->address + to->type->origin, from->address + from->type->origin, (size_t)c->bytes);
		else
			gompi_typed_copy(to->address, to->count, to->type, from->address, from->count, from->type);
		return MPI_SUCCESS;
	}
	char *temporary = NULL, *local;
	if (mine->type->flags & GOMPI_TYPE_CONTIGUOUS) {
		local = mine->address + mine->type->origin;
	} else if ((local = temporary = malloc((size_t)c->bytes)) == NULL) {
		return MPI_ERR_NO_MEM;
	} else if (put) {
		gompi_typed_pack(local, c->bytes, mine->address, mine->count, mine->type, 0);
	}
	int rc = move_at_target(c, put ? local : NULL, put ? NULL : local);
	if (rc == MPI_SUCCESS && temporary != NULL && !put)
		gompi_typed_unpack(mine->address, mine->count, mine->type, 0, local, c->bytes);
	free(temporary);
	return rc;
}

int gompi_rma_do(const struct gompi_rma *r) {
	struct checked c = {.r = r, .w = gompi_win_get(r->win)};
	if (c.w == NULL)
		return gompi_not_a_window(r->win, r->call);
	int rc = check(&c);
	if (rc == MPI_SUCCESS)
		rc = check_epoch(r, c.w);
	if (rc != MPI_SUCCESS || r->target == MPI_PROC_NULL)
		return rc;
	rc = is_accumulate(r) ? do_accumulate(&c) : do_move(&c);
	if (rc == MPI_ERR_NO_MEM)
		return gompi_win_error(r->win, r->call, rc, "no memory for a copy of the buffer, whose datatype is not contiguous");
	return rc == MPI_SUCCESS ? rc : gompi_wait_error(c.w, r->call, rc);
}
