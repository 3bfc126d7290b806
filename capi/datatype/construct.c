// Constructs types from recipes (recipe.h: the arguments of a constructor). It builds programs of one nest of loops, or
// of one list of blocks, directly in the memory of the type (draft.h). It builds all others with typemap.h.
#include <stdlib.h>
#include <string.h>

#include "base/alloc_or_abort.h"
#include "base/error_status.h"
#include "base/minmax.h"
#include "datatype/checked.h"
#include "datatype/draft.h"
#include "datatype/typemap.h"
#include "datatype/recipe.h"
#include "datatype/type_props.h"

// A type under construction.
struct construction {
	const struct gompi_recipe *r;
	struct gompi_type *t;
	struct gompi_type_props *f;
	const struct gompi_type *last;      // type of the last component with elements
	int64_t elem, elem_size;            // element type of `last`, and its size
	int64_t elements;                   // number of elements of the components so far
	bool has_mixed_types, has_elements; // the components have several predefined types; some component has elements
	bool has_gaps;                      // the elements of some old type have gaps
	bool needs_typemap;                 // typemap.h must build the program
	int64_t lo, hi;                     // bounds of the components
	bool overflow;                      // a value overflowed 64 bits
};

// Computes the bounds of n > 0 copies of the type `old`. The first copy is at `displacement`; the copies begin `step`
// bytes apart.
static inline void span(bool *overflow, const struct gompi_type_props *old, int64_t displacement, int64_t n,
			int64_t step, int64_t *lo, int64_t *hi) {
	int64_t last = gompi_checked_mul(n - 1, step, overflow);
	*lo = gompi_checked_add(gompi_checked_add(displacement, gompi_min_i64(0, last), overflow), old->lb, overflow);
	*hi = gompi_checked_add(gompi_checked_add(displacement, gompi_max_i64(0, last), overflow),
				gompi_checked_add(old->lb, old->extent, overflow), overflow);
}

// Adds n copies of the type `old` as the next component. `o` has the properties of `old`, and lo and hi are the bounds
// of the component.
static void add_component(struct construction *m, const struct gompi_type *old, const struct gompi_type_props *o,
			  int64_t n, int64_t lo, int64_t hi) {
	struct gompi_type_props *f = m->f;
	if (n == 0)
		return;
	if (o->is_resized) {
		f->lb = f->is_resized ? gompi_min_i64(f->lb, lo) : lo;
		// until compute_bounds, true_extent holds the upper bound
		f->true_extent = f->is_resized ? gompi_max_i64(f->true_extent, hi) : hi;
		f->is_resized = true;
	}
	if (old->elements == 0)
		return;
	m->lo = m->has_elements ? gompi_min_i64(m->lo, lo) : lo;
	m->hi = m->has_elements ? gompi_max_i64(m->hi, hi) : hi;
	m->elements = gompi_checked_add(m->elements, gompi_checked_mul(n, old->elements, &m->overflow), &m->overflow);
	f->basic_count =
		gompi_checked_add(f->basic_count, gompi_checked_mul(n, o->basic_count, &m->overflow), &m->overflow);
	// at most the size of the type, whose overflow is checked
	f->external_bytes = (int64_t)((uint64_t)f->external_bytes + (uint64_t)n * (uint64_t)o->external_bytes);
	if (old == m->last)
		return;
	m->last = old;
	f->basic_bytes = !m->has_elements || f->basic_bytes == o->basic_bytes ? o->basic_bytes : 0;
	f->swap_unit_bytes = !m->has_elements || f->swap_unit_bytes == o->swap_unit_bytes ? o->swap_unit_bytes : 0;
	if (old->elem == 0 || (m->elem != 0 && m->elem != old->elem))
		m->has_mixed_types = true;
	m->elem = old->elem;
	m->elem_size = old->elem_size;
	m->has_elements = true;
	f->align = f->align > o->align ? f->align : o->align;
}

// Computes the bounds of the type from those of its components. Unless a component has explicit bounds, rounds the
// extent up to a multiple of the alignment.
static void compute_bounds(struct construction *m) {
	struct gompi_type_props *f = m->f;
	int64_t ub = f->is_resized ? f->true_extent : 0;
	if (m->has_elements && !f->is_resized) {
		int64_t length = m->hi - m->lo;
		m->overflow |= __builtin_sub_overflow(m->hi, m->lo, &length);
		length = gompi_checked_add(length, f->align - 1, &m->overflow);
		f->lb = m->lo;
		// a power of two needs no division, which costs as much as all other statements of this function
		bool power = (f->align & (f->align - 1)) == 0 && length >= 0;
		ub = gompi_checked_add(m->lo, power ? length & -(int64_t)f->align : length / f->align * f->align,
				       &m->overflow);
	}
	m->overflow |= __builtin_sub_overflow(ub, f->lb, &f->extent);
}

// Fills in the counts that MPI_Type_get_envelope returns.
static void fill_envelope(struct gompi_type_props *f, const struct gompi_recipe *r) {
	int64_t counts = 0, integers = 0, addresses = 0;
	switch (r->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		counts = 1;
		break;
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		counts = 3;
		addresses = r->combiner == MPI_COMBINER_HVECTOR;
		break;
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
		counts = 1 + 2 * r->n;
		addresses = r->combiner == MPI_COMBINER_INDEXED ? 0 : r->n;
		break;
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		counts = 2 + r->n;
		addresses = r->combiner == MPI_COMBINER_INDEXED_BLOCK ? 0 : r->n;
		break;
	case MPI_COMBINER_SUBARRAY:
		integers = 2;
		counts = 3 * r->n;
		break;
	case MPI_COMBINER_DARRAY:
		integers = 4 + 3 * r->n;
		counts = r->n;
		break;
	case MPI_COMBINER_RESIZED:
		counts = addresses = 2;
		break;
	default:; // MPI_COMBINER_DUP
	}
	f->combiner = r->combiner;
	f->is_large = r->is_large && counts > 0;
	f->types = r->type_count;
	f->integers = r->is_large ? integers : integers + counts - addresses;
	f->addresses = r->is_large ? 0 : addresses;
	f->counts = r->is_large ? counts : 0;
}

// Returns the distance of the blocks of a vector in bytes. A single block has no stride, so its stride may have any
// value.
static int64_t stride_of(struct construction *m, const struct gompi_type *old) {
	const struct gompi_recipe *r = m->r;
	if (r->combiner == MPI_COMBINER_HVECTOR || r->n <= 1 || r->a == 0)
		return r->combiner == MPI_COMBINER_HVECTOR ? r->b : 0;
	return gompi_checked_mul(r->b, old->extent, &m->overflow);
}

// Constructs MPI_Type_contiguous, MPI_Type_vector and MPI_Type_create_hvector: count blocks of blocklength copies of
// the type `old`. The blocks begin `step` bytes apart.
static bool construct_strided(struct construction *m, const struct gompi_type *old, int64_t count, int64_t blocklength,
			      int64_t step) {
	int64_t extent = old->extent, lo = 0, hi = 0;
	if (count < 0 || blocklength < 0)
		return false;
	int64_t n = gompi_checked_mul(count, blocklength, &m->overflow);
	if (n > 0) {
		int64_t last = gompi_checked_mul(count - 1, step, &m->overflow);
		span(&m->overflow, gompi_type_props_of(old), 0, blocklength, extent, &lo, &hi);
		lo = gompi_checked_add(lo, gompi_min_i64(0, last), &m->overflow);
		hi = gompi_checked_add(hi, gompi_max_i64(0, last), &m->overflow);
	}
	add_component(m, old, gompi_type_props_of(old), n, lo, hi);
	if (!m->needs_typemap) {
		gompi_draft_repeat(m->t, blocklength, extent, &m->overflow);
		gompi_draft_repeat(m->t, count, step, &m->overflow);
	}
	compute_bounds(m);
	return true;
}

// The indices of one array dimension that belong to a type. They form `blocks` blocks of `block` indices each, except
// that the last block has only `last` indices. The first block begins at `start`, and `step` is the distance between
// blocks.
struct dimension {
	int64_t size, start, block, blocks, step, last;
};

// Computes the indices of dimension i of a subarray. Returns false if the arguments are invalid.
static inline bool subarray_dimension(const struct gompi_recipe *r, int64_t i, struct dimension *d) {
	int64_t size = gompi_recipe_at(r, 0, i), subsize = gompi_recipe_at(r, 1, i), start = gompi_recipe_at(r, 2, i);
	*d = (struct dimension){.size = size, .start = start, .block = subsize, .blocks = 1, .last = subsize};
	return size >= 1 && subsize >= 1 && subsize <= size && start >= 0 && start <= size - subsize;
}

// Computes the indices of dimension i of a distributed array that belong to the process with this coordinate among
// `processes` processes. Returns false if the arguments are invalid.
static bool darray_dimension(const struct gompi_recipe *r, int64_t i, int64_t processes, int64_t coordinate,
			     struct dimension *d) {
	int64_t size = gompi_recipe_at(r, 0, i), distribution = gompi_recipe_at(r, 1, i),
		block = gompi_recipe_at(r, 2, i);
	bool is_default = block == MPI_DISTRIBUTE_DFLT_DARG;
	if (size < 1 || (!is_default && distribution != MPI_DISTRIBUTE_NONE && block < 1))
		return false;
	switch (distribution) {
	case MPI_DISTRIBUTE_NONE:
		block = size;
		if (processes != 1)
			return false;
		break;
	case MPI_DISTRIBUTE_BLOCK:
		if (is_default)
			block = (size - 1) / processes + 1;
		else if ((size - 1) / block >= processes)
			return false;
		break;
	case MPI_DISTRIBUTE_CYCLIC:
		if (is_default)
			block = 1;
		break;
	default:
		return false;
	}
	*d = (struct dimension){.size = size, .block = block};
	if (__builtin_mul_overflow(block, processes, &d->step))
		d->step = INT64_MAX; // a step beyond the array: there is only one block
	if ((size - 1) / block >= coordinate) {
		d->start = block * coordinate;
		d->blocks = (size - 1 - d->start) / d->step + 1;
		d->last = gompi_min_i64(block, size - d->start - (d->blocks - 1) * d->step);
	}
	return true;
}

// Computes the dimensions of a subarray or of a distributed array. Returns false if the arguments are invalid.
static inline bool compute_dimensions(const struct gompi_recipe *r, struct dimension *dims) {
	int64_t grid_left = r->a, at = r->b;
	if (r->order != MPI_ORDER_C && r->order != MPI_ORDER_FORTRAN)
		return false;
	if (r->combiner == MPI_COMBINER_SUBARRAY) {
		for (int64_t i = 0; i < r->n; i++)
			if (!subarray_dimension(r, i, &dims[i]))
				return false;
		return true;
	}
	if (r->a < 1 || at < 0 || at >= grid_left)
		return false;
	// the processes of the grid are numbered in row-major order, regardless of the order of the array
	for (int64_t i = 0; i < r->n; i++) {
		int64_t processes = gompi_recipe_at(r, 3, i);
		if (processes < 1 || grid_left % processes != 0)
			return false;
		grid_left /= processes;
		if (!darray_dimension(r, i, processes, at / grid_left, &dims[i]))
			return false;
		at %= grid_left;
	}
	return grid_left == 1;
}

// Returns dimension k of an array in the order of the memory, the fastest dimension first.
static inline const struct dimension *dimension_at(const struct gompi_recipe *r, const struct dimension *dims,
						   int64_t k) {
	return &dims[r->order == MPI_ORDER_C ? r->n - 1 - k : k];
}

// Constructs a subarray like construct_array. It needs no list of dimensions, because subarrays are frequent.
static bool construct_subarray(struct construction *m, const struct gompi_type *old) {
	const struct gompi_recipe *r = m->r;
	int64_t n = 1, extent = old->extent;
	if (r->order != MPI_ORDER_C && r->order != MPI_ORDER_FORTRAN)
		return false;
	for (int64_t k = 0; k < r->n; k++) {
		int64_t i = r->order == MPI_ORDER_C ? r->n - 1 - k : k; // fastest dimension first
		int64_t size = gompi_recipe_at(r, 0, i), subsize = gompi_recipe_at(r, 1, i),
			start = gompi_recipe_at(r, 2, i);
		if (size < 1 || subsize < 1 || subsize > size || start < 0 || start > size - subsize)
			return false;
		if (!m->needs_typemap) {
			gompi_draft_repeat(m->t, subsize, extent, &m->overflow);
			gompi_draft_shift(m->t, gompi_checked_mul(start, extent, &m->overflow), &m->overflow);
		}
		n = gompi_checked_mul(n, subsize, &m->overflow);
		extent = gompi_checked_mul(extent, size, &m->overflow);
	}
	add_component(m, old, gompi_type_props_of(old), n, 0, 0);
	m->f->is_resized = true;
	m->f->lb = 0;
	m->f->extent = extent;
	return true;
}

static bool construct_array(struct construction *m, const struct gompi_type *old, const struct dimension *dims) {
	const struct gompi_recipe *r = m->r;
	int64_t n = 1, extent = old->extent;
	for (int64_t k = 0; k < r->n; k++) {
		const struct dimension *d = dimension_at(r, dims, k);
		m->needs_typemap |= d->last != d->block && d->blocks > 1;
		if (!m->needs_typemap && d->blocks != 0) {
			gompi_draft_repeat(m->t, d->last, extent, &m->overflow);
			if (d->blocks > 1)
				gompi_draft_repeat(m->t, d->blocks, gompi_checked_mul(d->step, extent, &m->overflow),
						   &m->overflow);
			gompi_draft_shift(m->t, gompi_checked_mul(d->start, extent, &m->overflow), &m->overflow);
		}
		int64_t indices = d->last;
		if (d->blocks > 1)
			indices = gompi_checked_add(indices, gompi_checked_mul(d->blocks - 1, d->block, &m->overflow),
						    &m->overflow);
		n = gompi_checked_mul(n, indices, &m->overflow);
		extent = gompi_checked_mul(extent, d->size, &m->overflow);
	}
	if (n == 0)
		gompi_draft_repeat(m->t, 0, 0, &m->overflow);
	add_component(m, old, gompi_type_props_of(old), n, 0, 0);
	m->f->is_resized = true;
	m->f->lb = 0;
	m->f->extent = extent;
	return true;
}

// Returns true if blocklength copies of a type are contiguous.
static inline bool is_dense(const struct gompi_type *old, int64_t blocklength) {
	return old->size == 0 || (old->segments == 1 && (blocklength <= 1 || old->extent == old->size));
}

// Constructs types with displacements (indexed, indexed block and struct types). If `fields` is true, each block has
// its own type, as in a struct; if false, all blocks have the same type. `fields` is a compile-time constant in every
// call. A single block may have any type. Several blocks become a list if each block is contiguous. The caller provides
// the memory of `displacements` and `sizes`, r->n elements each. Returns false if the arguments are invalid.
static inline __attribute__((always_inline)) bool blocks(struct construction *m, int64_t *displacements, int64_t *sizes,
							 bool fields) {
	const struct gompi_recipe *r = m->r;
	const struct gompi_type *old = r->n > 0 || !fields ? gompi_recipe_type(r, 0) : NULL;
	const struct gompi_type_props *props = old != NULL ? gompi_type_props_of(old) : NULL;
	bool in_bytes = fields || r->combiner == MPI_COMBINER_HINDEXED || r->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	bool same_lengths = gompi_recipe_has_same_lengths(r);
	int64_t total = 0, lo = 0, hi = 0;
	// overflow is a local variable because that stays in a register, unlike m->overflow
	bool overflow = false, is_uniform = old != NULL && is_dense(old, 2);
	int64_t copies = -1, from = 0, to = 0; // from, to: bounds of `copies` copies of `old` at displacement 0
	if (same_lengths && r->a < 0)
		return false;
	for (int64_t i = 0; i < r->n; i++) {
		int64_t n = same_lengths ? r->a : gompi_recipe_at(r, 0, i), first, end;
		if (n < 0)
			return false;
		if (fields && i > 0 && r->types[i] != r->types[i - 1])
			props = gompi_type_props_of(old = gompi_recipe_type(r, i));
		sizes[i] = 0;
		if (n == 0)
			continue;
		sizes[i] = gompi_checked_mul(n, old->size, &overflow);
		displacements[i] = gompi_checked_mul(gompi_recipe_at(r, 1, i), in_bytes ? 1 : old->extent, &overflow);
		if (fields) {
			span(&overflow, props, displacements[i], n, old->extent, &first, &end);
		} else {
			if (n != copies)
				span(&overflow, props, 0, copies = n, old->extent, &from, &to);
			first = gompi_checked_add(displacements[i], from, &overflow);
			end = gompi_checked_add(displacements[i], to, &overflow);
		}
		lo = total == 0 ? first : gompi_min_i64(lo, first);
		hi = total == 0 ? end : gompi_max_i64(hi, end);
		if (fields)
			add_component(m, old, props, n, first, end);
		total = gompi_checked_add(total, n, &overflow);
		if (r->n > 1 || m->needs_typemap) {
			m->needs_typemap |= !(fields ? is_dense(old, n) : is_uniform);
		} else {
			gompi_draft_begin(m->t, old);
			gompi_draft_repeat(m->t, n, old->extent, &m->overflow);
			gompi_draft_shift(m->t, displacements[i], &m->overflow);
		}
		displacements[i] = gompi_checked_add(displacements[i], old->origin, &overflow);
	}
	m->overflow |= overflow;
	if (!fields)
		add_component(m, old, props, total, lo, hi);
	if (!m->overflow && !m->needs_typemap && (r->n != 1 || total == 0))
		m->needs_typemap = !gompi_draft_blocks(m->t, r->n, displacements, sizes, fields, &m->overflow);
	compute_bounds(m);
	return true;
}

// Returns the maximum length, in 8-byte words, of the nodes that the recipe adds to the program of its old type.
static int64_t nodes_of(const struct gompi_recipe *r) {
	switch (r->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		return 2 * GOMPI_DRAFT_REPEAT;
	case MPI_COMBINER_SUBARRAY:
		return r->n * GOMPI_DRAFT_REPEAT;
	case MPI_COMBINER_DARRAY:
		return 2 * r->n * GOMPI_DRAFT_REPEAT;
	case MPI_COMBINER_RESIZED:
	case MPI_COMBINER_DUP:
		return 0;
	default:
		return GOMPI_DRAFT_REPEAT + GOMPI_DRAFT_BLOCKS(r->n);
	}
}

// Constructs all types except those of construct_like. Returns false if the arguments are invalid or memory is
// exhausted.
static bool construct_contents(struct construction *m, const struct gompi_type *old) {
	enum { STACK_BLOCKS = 32, STACK_DIMENSIONS = 8 };
	const struct gompi_recipe *r = m->r;
	int64_t stack_list[2 * STACK_BLOCKS];
	struct dimension stack_dims[STACK_DIMENSIONS];
	switch (r->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		return construct_strided(m, old, r->n, 1, old->extent);
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		return construct_strided(m, old, r->n, r->a, stride_of(m, old));
	case MPI_COMBINER_SUBARRAY:
		return construct_subarray(m, old);
	case MPI_COMBINER_DARRAY: {
		struct dimension *dims = r->n <= STACK_DIMENSIONS ? stack_dims : malloc((size_t)r->n * sizeof *dims);
		bool done = dims != NULL && compute_dimensions(r, dims) && construct_array(m, old, dims);
		if (dims != stack_dims)
			free(dims);
		return done;
	}
	}
	int64_t *list = r->n <= STACK_BLOCKS ? stack_list : malloc((size_t)r->n * 2 * sizeof *list);
	bool done = list != NULL && (r->combiner == MPI_COMBINER_STRUCT ? blocks(m, list, list + r->n, true)
									: blocks(m, list, list + r->n, false));
	if (list != stack_list)
		free(list);
	return done;
}

// Constructs MPI_Type_create_resized and MPI_Type_dup, which keep the contents of the type `old`.
static void construct_like(struct construction *m, const struct gompi_type *old) {
	*m->f = *gompi_type_props_of(old);
	m->elements = old->elements;
	m->elem = old->elem;
	m->elem_size = old->elem_size;
	m->has_elements = m->elem != 0;
	if (m->r->combiner == MPI_COMBINER_DUP)
		return;
	m->f->is_resized = true;
	m->f->lb = m->r->a;
	m->f->extent = m->r->b;
	gompi_checked_add(m->r->a, m->r->b, &m->overflow);
}

// Returns one view of the type.
static struct gompi_typemap build_array(struct gompi_typemap_builder *b, const struct gompi_recipe *r,
					enum gompi_cursor_view view) {
	const struct gompi_type *old = gompi_recipe_type(r, 0);
	struct gompi_typemap l = gompi_typemap_of(b, old, view), parts[2];
	struct dimension *dims = malloc((size_t)r->n * sizeof *dims);
	int64_t extent = old->extent;
	if (dims == NULL || !compute_dimensions(r, dims))
		b->no_memory = true;
	for (int64_t k = 0; k < r->n && !b->no_memory; k++) {
		const struct dimension *d = dimension_at(r, dims, k);
		int64_t whole = d->last == d->block ? d->blocks : d->blocks - 1; // number of whole blocks
		int64_t step = d->blocks > 1 ? gompi_checked_mul(d->step, extent, &b->overflow) : 0;
		parts[0] = parts[1] = (struct gompi_typemap){0, 0};
		if (whole > 0)
			parts[0] = gompi_typemap_repeat(b, gompi_typemap_repeat(b, l, d->block, extent), whole, step);
		if (whole < d->blocks)
			parts[1] = gompi_typemap_shift(b, gompi_typemap_repeat(b, l, d->last, extent),
						       gompi_checked_mul(whole, step, &b->overflow));
		l = gompi_typemap_concat(b, parts, 2);
		if (l.node != 0)
			l = gompi_typemap_shift(b, l, gompi_checked_mul(d->start, extent, &b->overflow));
		extent = gompi_checked_mul(extent, d->size, &b->overflow);
	}
	free(dims);
	return l;
}

static struct gompi_typemap build_blocks(struct gompi_typemap_builder *b, const struct gompi_recipe *r,
					 enum gompi_cursor_view view) {
	bool fields = r->combiner == MPI_COMBINER_STRUCT, same_lengths = gompi_recipe_has_same_lengths(r);
	bool in_bytes = fields || r->combiner == MPI_COMBINER_HINDEXED || r->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	const struct gompi_type *old = NULL;
	struct gompi_typemap one = {0, 0}, row = {0, 0}, *items = gompi_typemap_array(b, r->n);
	int64_t row_length = 1;
	for (int64_t i = 0; i < r->n && items != NULL; i++) {
		int64_t n = same_lengths ? r->a : gompi_recipe_at(r, 0, i);
		if (i == 0 || (fields && r->types[i] != r->types[i - 1])) {
			old = gompi_recipe_type(r, i);
			row = one = gompi_typemap_of(b, old, view);
			row_length = 1;
		}
		if (n != row_length)
			row = gompi_typemap_repeat(b, one, row_length = n, old->extent);
		items[i] = n == 0 ? row
				  : gompi_typemap_shift(b, row,
							gompi_checked_mul(gompi_recipe_at(r, 1, i),
									  in_bytes ? 1 : old->extent, &b->overflow));
	}
	return items != NULL ? gompi_typemap_concat(b, items, r->n) : one;
}

static struct gompi_typemap build_view(struct gompi_typemap_builder *b, struct construction *m,
				       enum gompi_cursor_view view) {
	const struct gompi_recipe *r = m->r;
	const struct gompi_type *old = gompi_recipe_type(r, 0);
	switch (r->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		return gompi_typemap_repeat(b, gompi_typemap_of(b, old, view), r->n, old->extent);
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		return gompi_typemap_repeat(b,
					    gompi_typemap_repeat(b, gompi_typemap_of(b, old, view), r->a, old->extent),
					    r->n, stride_of(m, old));
	case MPI_COMBINER_SUBARRAY:
	case MPI_COMBINER_DARRAY:
		return build_array(b, r, view);
	default:
		return build_blocks(b, r, view);
	}
}

// Replaces the type under construction by one whose program typemap.h has built. Returns false if out of memory.
static bool build_program(struct construction *m, int64_t *words) {
	struct gompi_typemap_builder b = {0};
	bool one = m->has_elements && !m->has_mixed_types;
	struct gompi_typemap bytes = build_view(&b, m, GOMPI_BYTES), elements = bytes;
	if (one && m->has_gaps)
		elements = build_view(&b, m, GOMPI_ELEMENTS);
	*words = gompi_typemap_words(&b, bytes, elements);
	struct gompi_type *t = NULL;
	if (!b.no_memory && !b.overflow)
		t = gompi_type_new(*words, gompi_recipe_bytes(m->r));
	if (t != NULL) {
		gompi_type_meta(t)->props = *m->f;
		gompi_typemap_write(&b, t, bytes, elements);
		gompi_type_destroy(m->t);
		m->t = t;
		m->f = &gompi_type_meta(t)->props;
	}
	m->overflow |= b.overflow;
	gompi_typemap_free(&b);
	return t != NULL;
}

// Returns true if all lists that the constructor needs are present, and each old type exists. Stores in *words the
// length, in 8-byte words, of the longest program of an old type. Sets *has_gaps if the elements of an old type have
// gaps.
static bool recipe_is_usable(const struct gompi_recipe *r, int64_t *words, bool *has_gaps) {
	const int64_t max_length = INT64_C(1) << 44; // a longer list does not fit into the address space
	bool lists = true;
	*words = GOMPI_TYPE_HEAD;
	if (r->n < 0 || (r->n > 0 && r->types == NULL))
		return false;
	switch (r->combiner) {
	case MPI_COMBINER_SUBARRAY:
		lists = r->n > 0 && r->list[0] != NULL && r->list[1] != NULL && r->list[2] != NULL;
		break;
	case MPI_COMBINER_DARRAY:
		lists = r->n > 0 && r->list[0] != NULL && r->list[1] != NULL && r->list[2] != NULL &&
			r->list[3] != NULL;
		break;
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		lists = r->n == 0 || (r->list[1] != NULL && r->n <= max_length);
		break;
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
		lists = r->n == 0 || (r->list[0] != NULL && r->list[1] != NULL && r->n <= max_length);
		break;
	}
	if (!lists)
		return false;
	for (int64_t i = 0; i < r->type_count; i++) {
		if (i > 0 && r->types[i] == r->types[i - 1])
			continue;
		const struct gompi_type *old = gompi_recipe_type(r, i);
		if (old == NULL)
			return false;
		*has_gaps |= gompi_type_has_gaps(old);
		*words = gompi_max_i64(*words, old->words);
	}
	return true;
}

// Makes a type without a handle. Returns NULL if the arguments are invalid, memory is exhausted, or a position
// overflows 64 bits. In the last case, sets *overflow.
static struct gompi_type *recipe_construct(const struct gompi_recipe *r, bool *overflow) {
	int64_t words;
	bool has_gaps = *overflow = false;
	if (!recipe_is_usable(r, &words, &has_gaps))
		return NULL;
	words += nodes_of(r);
	struct gompi_type *t = gompi_type_new(words, gompi_recipe_bytes(r));
	if (t == NULL)
		return NULL;
	bool keeps_contents = r->combiner == MPI_COMBINER_RESIZED || r->combiner == MPI_COMBINER_DUP, done = true;
	struct construction m = {.r = r,
				 .t = t,
				 .f = &gompi_type_meta(t)->props,
				 .has_gaps = has_gaps,
				 .needs_typemap = has_gaps && !keeps_contents};
	const struct gompi_type *old = r->type_count > 0 ? gompi_recipe_type(r, 0) : NULL;
	*m.f = (struct gompi_type_props){.align = 1};
	// blocks() makes the programs of types with displacements (list[1] without list[2]). If there is only one
	// block, it calls gompi_draft_begin itself.
	if (old != NULL && (r->list[1] == NULL || r->list[2] != NULL))
		gompi_draft_begin(t, old);
	if (keeps_contents)
		construct_like(&m, old);
	else
		done = construct_contents(&m, old);
	if (done && !m.overflow && m.needs_typemap)
		done = build_program(&m, &words);
	t = m.t;
	*overflow = m.overflow;
	if (!done || m.overflow) {
		gompi_type_destroy(t);
		return NULL;
	}
	t->elements = m.elements;
	t->lb = m.f->lb;
	t->extent = m.f->extent;
	bool one = m.has_elements && !m.has_mixed_types;
	gompi_draft_end(t, one ? m.elem : 0, one ? m.elem_size : 0, has_gaps);
	m.f->size = t->size;
	m.f->true_lb = t->true_lb;
	m.f->true_extent = t->true_ub - t->true_lb;
	fill_envelope(m.f, r);
	gompi_recipe_store(r, t, words);
	if (r->combiner == MPI_COMBINER_DUP)
		t->magic = old->magic;
	return t;
}

// Fills in the error status of a construction that failed. Returns its class.
static __attribute__((cold, noinline)) int construct_error(const struct gompi_recipe *r, bool overflow,
							   struct gompi_error_status *v) {
	int class = gompi_recipe_check(r, v);
	if (class == MPI_SUCCESS && overflow)
		class = gompi_set_error(v, MPI_ERR_VALUE_TOO_LARGE,
					"the size of the datatype or a displacement exceeds 64 bits");
	if (class == MPI_SUCCESS)
		class = gompi_set_error(v, MPI_ERR_NO_MEM, "%s", gompi_no_memory_text("cannot create a datatype"));
	return class;
}

// Constructs a type. Returns its handle, or 0 if it failed.
static inline uintptr_t construct_handle(const struct gompi_recipe *r, bool *overflow) {
	struct gompi_type *t = recipe_construct(r, overflow);
	return t != NULL ? gompi_type_add_handle(t) : 0;
}

int gompi_recipe_new(const struct gompi_recipe *r, uintptr_t *handle, struct gompi_error_status *v) {
	bool overflow;
	*handle = construct_handle(r, &overflow);
	return *handle != 0 ? MPI_SUCCESS : construct_error(r, overflow, v);
}

static __attribute__((cold, noinline)) int raise_construct(const struct gompi_recipe *r, bool overflow) {
	struct gompi_error_status v;
	return gompi_return_error(construct_error(r, overflow, &v), r->call, v.text, GOMPI_ON_NONE, 0);
}

int gompi_type_construct(const struct gompi_recipe *r, MPI_Datatype *newtype) {
	bool overflow;
	if (newtype == NULL)
		return gompi_null_argument_error(r->call, "newtype", GOMPI_ON_NONE, 0);
	uintptr_t handle = construct_handle(r, &overflow);
	if (handle == 0)
		return raise_construct(r, overflow);
	*newtype = (MPI_Datatype)handle;
	return MPI_SUCCESS;
}
