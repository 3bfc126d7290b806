// Constructs types from recipes (recipe.h: the arguments of a constructor). If a recipe is valid and draft.h supports
// its layout, the type is constructed here without a call into Go. Go constructs the same type again if Go needs the
// type. Go handles all other recipes and reports all errors.
#include <stdlib.h>
#include "base/minmax.h"
#include <string.h>

#include "base/go_callbacks.h"
#include "datatype/draft.h"
#include "datatype/type_props.h"
#include "datatype/recipe.h"

// A type under construction.
struct construction {
	const struct gompi_recipe *r;
	struct gompi_type *t;
	struct gompi_type_props *f;
	const struct gompi_type *last;      // type of the last component with elements
	int64_t elem, elem_size;            // element type of `last`, and its size
	int64_t elements;                   // number of elements of the components so far
	bool has_mixed_types, has_elements; // the components have several predefined types; some component has elements
	int64_t lo, hi;                     // bounds of the components
	bool overflow;                      // a value overflowed 64 bits
};

static inline int64_t sum_of(bool *overflow, int64_t x, int64_t y) {
	int64_t sum;
	// a branch that is never taken costs less than a store to the flag
	if (__builtin_expect(__builtin_add_overflow(x, y, &sum), 0))
		*overflow = true;
	return sum;
}

static inline int64_t product_of(bool *overflow, int64_t x, int64_t y) {
	int64_t product;
	if (__builtin_expect(__builtin_mul_overflow(x, y, &product), 0))
		*overflow = true;
	return product;
}

// Computes the bounds of n > 0 copies of the type `old`. The first copy is at `displacement`; the copies begin `step`
// bytes apart.
static inline void span(bool *overflow, const struct gompi_type_props *old, int64_t displacement, int64_t n,
			int64_t step, int64_t *lo, int64_t *hi) {
	int64_t last = product_of(overflow, n - 1, step);
	*lo = sum_of(overflow, sum_of(overflow, displacement, gompi_min_i64(0, last)), old->lb);
	*hi = sum_of(overflow, sum_of(overflow, displacement, gompi_max_i64(0, last)),
		     sum_of(overflow, old->lb, old->extent));
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
	m->elements = sum_of(&m->overflow, m->elements, product_of(&m->overflow, n, old->elements));
	f->basic_count = sum_of(&m->overflow, f->basic_count, product_of(&m->overflow, n, o->basic_count));
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
		length = sum_of(&m->overflow, length, f->align - 1);
		f->lb = m->lo;
		// a power of two needs no division, which costs as much as all other statements of this function
		bool power = (f->align & (f->align - 1)) == 0 && length >= 0;
		ub = sum_of(&m->overflow, m->lo, power ? length & -(int64_t)f->align : length / f->align * f->align);
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

// Constructs MPI_Type_contiguous, MPI_Type_vector and MPI_Type_create_hvector: count blocks of blocklength copies of
// the type `old`. The blocks begin `step` bytes apart.
static bool construct_strided(struct construction *m, const struct gompi_type *old, int64_t count, int64_t blocklength,
			      int64_t step) {
	int64_t extent = old->extent, lo = 0, hi = 0;
	if (count < 0 || blocklength < 0)
		return false;
	int64_t n = product_of(&m->overflow, count, blocklength);
	if (n > 0) {
		int64_t last = product_of(&m->overflow, count - 1, step);
		span(&m->overflow, gompi_type_props_of(old), 0, blocklength, extent, &lo, &hi);
		lo = sum_of(&m->overflow, lo, gompi_min_i64(0, last));
		hi = sum_of(&m->overflow, hi, gompi_max_i64(0, last));
	}
	add_component(m, old, gompi_type_props_of(old), n, lo, hi);
	gompi_draft_repeat(m->t, blocklength, extent, &m->overflow);
	gompi_draft_repeat(m->t, count, step, &m->overflow);
	compute_bounds(m);
	return true;
}

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
		gompi_draft_repeat(m->t, subsize, extent, &m->overflow);
		gompi_draft_shift(m->t, product_of(&m->overflow, start, extent), &m->overflow);
		n = product_of(&m->overflow, n, subsize);
		extent = product_of(&m->overflow, extent, size);
	}
	add_component(m, old, gompi_type_props_of(old), n, 0, 0);
	m->f->is_resized = true;
	m->f->lb = 0;
	m->f->extent = extent;
	return true;
}

// The share of a process in one dimension of a distributed array. It consists of `blocks` blocks of `block` elements
// each, except that the last block has only `last` elements. The first block begins at `start`, and `step` is the
// distance between blocks.
struct darray_share {
	int64_t start, block, blocks, step, last;
};

// Computes the share, in dimension i, of the process with this coordinate among `processes` processes. Returns false if
// the arguments are invalid.
static bool compute_share(const struct gompi_recipe *r, int64_t i, int64_t processes, int64_t coordinate,
			  struct darray_share *s) {
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
	*s = (struct darray_share){.block = block};
	if (__builtin_mul_overflow(block, processes, &s->step))
		s->step = INT64_MAX; // a step beyond the array: there is only one block
	if ((size - 1) / block >= coordinate) {
		s->start = block * coordinate;
		s->blocks = (size - 1 - s->start) / s->step + 1;
		s->last = gompi_min_i64(block, size - s->start - (s->blocks - 1) * s->step);
	}
	return true;
}

static bool construct_darray(struct construction *m, const struct gompi_type *old) {
	enum { MAX_DIMS = 32 };
	const struct gompi_recipe *r = m->r;
	struct darray_share of[MAX_DIMS];
	int64_t n = 1, extent = old->extent, grid_left = r->a, at = r->b;
	if ((r->order != MPI_ORDER_C && r->order != MPI_ORDER_FORTRAN) || r->a < 1 || at < 0 || at >= grid_left ||
	    r->n > MAX_DIMS)
		return false;
	// the processes of the grid are numbered in row-major order, regardless of the order of the array
	for (int64_t i = 0; i < r->n; i++) {
		int64_t processes = gompi_recipe_at(r, 3, i);
		if (processes < 1 || grid_left % processes != 0)
			return false;
		grid_left /= processes;
		if (!compute_share(r, i, processes, at / grid_left, &of[i]))
			return false;
		at %= grid_left;
	}
	if (grid_left != 1)
		return false;
	for (int64_t k = 0; k < r->n; k++) {
		int64_t i = r->order == MPI_ORDER_C ? r->n - 1 - k : k; // fastest dimension first
		const struct darray_share *s = &of[i];
		// Go constructs the type if the last block is shorter: gompi_draft_repeat repeats only equal blocks
		if (s->last != s->block && s->blocks > 1)
			return false;
		gompi_draft_repeat(m->t, s->last, extent, &m->overflow);
		gompi_draft_repeat(m->t, s->blocks, product_of(&m->overflow, s->step, extent), &m->overflow);
		gompi_draft_shift(m->t, product_of(&m->overflow, s->start, extent), &m->overflow);
		n = product_of(&m->overflow, n, product_of(&m->overflow, s->blocks, s->last));
		extent = product_of(&m->overflow, extent, gompi_recipe_at(r, 0, i));
	}
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

static inline bool is_large_offset(int64_t x) { return (uint64_t)x + (UINT64_C(1) << 60) >= UINT64_C(1) << 61; }

// Constructs types with displacements (indexed, indexed block and struct types). If `fields` is true, each block has
// its own type, as in a struct; if false, all blocks have the same type. `fields` is a compile-time constant in every
// call. If there are several blocks, each block must be contiguous, and the blocks become a list. A single block may
// have any type. The caller provides the memory of `displacements` and `sizes`, r->n elements each. Returns false if Go
// must construct the type or report an error.
static inline __attribute__((always_inline)) bool blocks(struct construction *m, int64_t *displacements, int64_t *sizes,
							 bool fields) {
	const struct gompi_recipe *r = m->r;
	const struct gompi_type *old = r->n > 0 || !fields ? gompi_recipe_type(r, 0) : NULL;
	const struct gompi_type_props *props = old != NULL ? gompi_type_props_of(old) : NULL;
	bool in_bytes = fields || r->combiner == MPI_COMBINER_HINDEXED || r->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	int64_t total = 0, lo = 0, hi = 0;
	// overflow is a local variable because that stays in a register, unlike m->overflow
	bool overflow = false, is_uniform = old != NULL && is_dense(old, 2);
	int64_t copies = -1, from = 0, to = 0; // from, to: bounds of `copies` copies of `old` at displacement 0
	if (r->list[0] == NULL && r->a < 0)
		return false;
	for (int64_t i = 0; i < r->n; i++) {
		int64_t n = r->list[0] != NULL ? gompi_recipe_at(r, 0, i) : r->a, first, end;
		if (n < 0)
			return false;
		if (fields && i > 0 && r->types[i] != r->types[i - 1])
			props = gompi_type_props_of(old = gompi_recipe_type(r, i));
		sizes[i] = product_of(&overflow, n, old->size);
		displacements[i] = product_of(&overflow, gompi_recipe_at(r, 1, i), in_bytes ? 1 : old->extent);
		if (n > 0) {
			if (fields) {
				span(&overflow, props, displacements[i], n, old->extent, &first, &end);
			} else {
				// Go handles large offsets: whether their sums overflow depends on the order of the
				// additions, which differs between this file and Go.
				if (n != copies) {
					span(&overflow, props, 0, copies = n, old->extent, &from, &to);
					if (is_large_offset(from) || is_large_offset(to))
						return false;
				}
				if (is_large_offset(displacements[i]))
					return false;
				first = displacements[i] + from;
				end = displacements[i] + to;
			}
			lo = total == 0 ? first : gompi_min_i64(lo, first);
			hi = total == 0 ? end : gompi_max_i64(hi, end);
			if (fields)
				add_component(m, old, props, n, first, end);
			total = sum_of(&overflow, total, n);
		}
		if (r->n == 1) {
			gompi_draft_begin(m->t, old);
			gompi_draft_repeat(m->t, n, old->extent, &m->overflow);
			gompi_draft_shift(m->t, displacements[i], &m->overflow);
		} else if (n > 0 && !(fields ? is_dense(old, n) : is_uniform)) {
			return false;
		}
		displacements[i] = sum_of(&overflow, displacements[i], old->origin);
	}
	m->overflow |= overflow;
	if (!fields)
		add_component(m, old, props, total, lo, hi);
	if (m->overflow || (r->n != 1 && !gompi_draft_blocks(m->t, r->n, displacements, sizes, fields, &m->overflow)))
		return false;
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

static bool construct_layout(struct construction *m, const struct gompi_type *old) {
	enum { MAX_STACK_BLOCKS = 32 };
	const struct gompi_recipe *r = m->r;
	int64_t stack_list[2 * MAX_STACK_BLOCKS];
	switch (r->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		return construct_strided(m, old, r->n, 1, old->extent);
	case MPI_COMBINER_VECTOR:
		return construct_strided(m, old, r->n, r->a, product_of(&m->overflow, r->b, old->extent));
	case MPI_COMBINER_HVECTOR:
		return construct_strided(m, old, r->n, r->a, r->b);
	case MPI_COMBINER_SUBARRAY:
		return construct_subarray(m, old);
	case MPI_COMBINER_DARRAY:
		return construct_darray(m, old);
	}
	int64_t *list = r->n <= MAX_STACK_BLOCKS ? stack_list : malloc((size_t)r->n * 2 * sizeof *list);
	bool done = list != NULL && (r->combiner == MPI_COMBINER_STRUCT ? blocks(m, list, list + r->n, true)
									: blocks(m, list, list + r->n, false));
	if (list != stack_list)
		free(list);
	return done;
}

// Constructs MPI_Type_create_resized and MPI_Type_dup, which keep the contents of the type `old`.
static bool construct_like(struct construction *m, const struct gompi_type *old) {
	*m->f = *gompi_type_props_of(old);
	m->elements = old->elements;
	m->elem = old->elem;
	m->elem_size = old->elem_size;
	m->has_elements = m->elem != 0;
	if (m->r->combiner == MPI_COMBINER_DUP)
		return true;
	int64_t ub;
	m->f->is_resized = true;
	m->f->lb = m->r->a;
	m->f->extent = m->r->b;
	return !__builtin_add_overflow(m->r->a, m->r->b, &ub);
}

// Returns true if all lists that the constructor needs are present, and each old type is predefined or was constructed
// by C. An old type that Go constructed has no recipe; once its handle is freed, Go could not construct the new type
// again. Stores in *words the length, in 8-byte words, of the longest program of an old type.
static bool recipe_is_usable(const struct gompi_recipe *r, int64_t *words) {
	bool lists = r->combiner == MPI_COMBINER_SUBARRAY || r->combiner == MPI_COMBINER_DARRAY;
	*words = GOMPI_TYPE_HEAD;
	if (r->n < 0 || r->n > 1 << 24 || (lists && r->n == 0) || (r->n > 0 && r->types == NULL))
		return false;
	switch (r->combiner) {
	case MPI_COMBINER_SUBARRAY:
		lists = r->list[0] != NULL && r->list[1] != NULL && r->list[2] != NULL;
		break;
	case MPI_COMBINER_DARRAY:
		lists = r->list[0] != NULL && r->list[1] != NULL && r->list[2] != NULL && r->list[3] != NULL;
		break;
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		lists = r->list[1] != NULL;
		break;
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
		lists = r->list[0] != NULL && r->list[1] != NULL;
		break;
	default:
		lists = true;
	}
	if (!lists)
		return false;
	for (int64_t i = 0; i < r->type_count; i++) {
		if (i > 0 && r->types[i] == r->types[i - 1])
			continue;
		const struct gompi_type *old = gompi_recipe_type(r, i);
		if (old == NULL || (old->elem != 0 && old->elem_root != old->root) ||
		    (gompi_type_is_freeable(old) && gompi_type_meta(old)->recipe == NULL))
			return false;
		*words = gompi_max_i64(*words, old->words);
	}
	return true;
}

struct gompi_type *gompi_recipe_construct(const struct gompi_recipe *r) {
	int64_t words;
	if (!recipe_is_usable(r, &words))
		return NULL;
	words += nodes_of(r);
	struct gompi_type *t = gompi_type_new(words, gompi_recipe_bytes(r));
	if (t == NULL)
		return NULL;
	struct construction m = {.r = r, .t = t, .f = &gompi_type_meta(t)->props};
	const struct gompi_type *old = r->type_count > 0 ? gompi_recipe_type(r, 0) : NULL;
	*m.f = (struct gompi_type_props){.align = 1};
	// blocks() makes the programs of types with displacements (list[1] without list[2]). If there is only one
	// block, it calls gompi_draft_begin itself.
	if (old != NULL && (r->list[1] == NULL || r->list[2] != NULL))
		gompi_draft_begin(t, old);
	bool keeps_contents = r->combiner == MPI_COMBINER_RESIZED || r->combiner == MPI_COMBINER_DUP;
	if (!(keeps_contents ? construct_like(&m, old) : construct_layout(&m, old)) || m.overflow) {
		gompi_type_destroy(t);
		return NULL;
	}
	t->elements = m.elements;
	t->lb = m.f->lb;
	t->extent = m.f->extent;
	bool one = m.has_elements && !m.has_mixed_types;
	gompi_draft_end(t, one ? m.elem : 0, one ? m.elem_size : 0);
	m.f->size = t->size;
	m.f->true_lb = t->true_lb;
	m.f->true_extent = t->true_ub - t->true_lb;
	fill_envelope(m.f, r);
	gompi_recipe_store(r, t, words);
	if (r->combiner == MPI_COMBINER_DUP)
		t->magic = old->magic;
	return t;
}

int gompi_type_construct(const struct gompi_recipe *r, MPI_Datatype *newtype) {
	struct gompi_type *t = newtype != NULL ? gompi_recipe_construct(r) : NULL;
	uintptr_t handle = t != NULL ? gompi_type_add_handle(t) : 0;
	if (handle == 0)
		return gompi_go_callbacks.construct_type(r, (uintptr_t)newtype);
	*newtype = (MPI_Datatype)handle;
	return MPI_SUCCESS;
}
