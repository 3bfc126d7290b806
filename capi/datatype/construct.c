// Constructs types from recipes. Valid recipes with a layout that draft.h supports are constructed here without a call
// into Go; Go constructs the same type again when it needs it. Go handles all other recipes and reports all errors.
#include <stdlib.h>
#include <string.h>

#include "base/up.h"
#include "datatype/draft.h"
#include "datatype/facts.h"
#include "datatype/recipe.h"

// A type under construction.
struct construction {
	const struct gompi_recipe *r;
	struct gompi_type *t;
	struct gompi_facts *f;
	const struct gompi_type *last; // type of the last part with elements
	int64_t elem, elem_size;       // element type and size of last
	int64_t elements;              // number of elements of the parts so far
	bool several, any;             // the parts have several predefined types; some part has elements
	int64_t lo, hi;                // bounds of the parts
	bool over;                     // a value overflowed 64 bits
};

static inline int64_t sum_of(bool *over, int64_t x, int64_t y) {
	int64_t sum;
	if (__builtin_expect(__builtin_add_overflow(x, y, &sum), 0)) // a jump costs less than keeping the flag
		*over = true;
	return sum;
}

static inline int64_t product_of(bool *over, int64_t x, int64_t y) {
	int64_t product;
	if (__builtin_expect(__builtin_mul_overflow(x, y, &product), 0))
		*over = true;
	return product;
}

static inline int64_t lower_of(int64_t x, int64_t y) { return x < y ? x : y; }
static inline int64_t upper_of(int64_t x, int64_t y) { return x > y ? x : y; }

// Computes the bounds of n > 0 copies of old, step apart, the first of which is at displacement.
static inline void span(bool *over, const struct gompi_facts *old, int64_t displacement, int64_t n, int64_t step,
			int64_t *lo, int64_t *hi) {
	int64_t last = product_of(over, n - 1, step);
	*lo = sum_of(over, sum_of(over, displacement, lower_of(0, last)), old->lb);
	*hi = sum_of(over, sum_of(over, displacement, upper_of(0, last)), sum_of(over, old->lb, old->extent));
}

// Adds n copies of old, whose properties are o and whose bounds are lo and hi, as the next part.
static void add_part(struct construction *m, const struct gompi_type *old, const struct gompi_facts *o, int64_t n,
		     int64_t lo, int64_t hi) {
	struct gompi_facts *f = m->f;
	if (n == 0)
		return;
	if (o->resized) {
		f->lb = f->resized ? lower_of(f->lb, lo) : lo;
		f->true_extent = f->resized ? upper_of(f->true_extent, hi) : hi; // temporarily the upper bound
		f->resized = true;
	}
	if (old->elements == 0)
		return;
	m->lo = m->any ? lower_of(m->lo, lo) : lo;
	m->hi = m->any ? upper_of(m->hi, hi) : hi;
	m->elements = sum_of(&m->over, m->elements, product_of(&m->over, n, old->elements));
	f->numbers = sum_of(&m->over, f->numbers, product_of(&m->over, n, o->numbers));
	if (old == m->last)
		return;
	m->last = old;
	f->unit = !m->any || f->unit == o->unit ? o->unit : 0;
	f->reversed = !m->any || f->reversed == o->reversed ? o->reversed : 0;
	if (old->elem == 0 || (m->elem != 0 && m->elem != old->elem))
		m->several = true;
	m->elem = old->elem;
	m->elem_size = old->elem_size;
	m->any = true;
	f->align = f->align > o->align ? f->align : o->align;
}

// Computes the bounds of the type from those of its parts.
static void bound(struct construction *m) {
	struct gompi_facts *f = m->f;
	int64_t ub = f->resized ? f->true_extent : 0;
	if (m->any && !f->resized) {
		int64_t length = m->hi - m->lo;
		m->over |= __builtin_sub_overflow(m->hi, m->lo, &length);
		length = sum_of(&m->over, length, f->align - 1);
		f->lb = m->lo;
		bool power = (f->align & (f->align - 1)) == 0 && length >= 0; // a division costs as much as all of this
		ub = sum_of(&m->over, m->lo, power ? length & -(int64_t)f->align : length / f->align * f->align);
	}
	m->over |= __builtin_sub_overflow(ub, f->lb, &f->extent);
}

// Fills in the counts that MPI_Type_get_envelope returns.
static void envelope(struct gompi_facts *f, const struct gompi_recipe *r) {
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
	f->large = r->large && counts > 0;
	f->types = r->types_number;
	f->integers = r->large ? integers : integers + counts - addresses;
	f->addresses = r->large ? 0 : addresses;
	f->counts = r->large ? counts : 0;
}

// Constructs MPI_Type_contiguous, MPI_Type_vector and MPI_Type_create_hvector: count blocks of copies, step apart.
static bool grid(struct construction *m, const struct gompi_type *old, int64_t count, int64_t blocklength,
		 int64_t step) {
	int64_t extent = old->extent, lo = 0, hi = 0;
	if (count < 0 || blocklength < 0)
		return false;
	int64_t n = product_of(&m->over, count, blocklength);
	if (n > 0) {
		int64_t last = product_of(&m->over, count - 1, step);
		span(&m->over, gompi_facts_of(old), 0, blocklength, extent, &lo, &hi);
		lo = sum_of(&m->over, lo, lower_of(0, last));
		hi = sum_of(&m->over, hi, upper_of(0, last));
	}
	add_part(m, old, gompi_facts_of(old), n, lo, hi);
	gompi_draft_repeat(m->t, blocklength, extent, &m->over);
	gompi_draft_repeat(m->t, count, step, &m->over);
	bound(m);
	return true;
}

static bool subarray(struct construction *m, const struct gompi_type *old) {
	const struct gompi_recipe *r = m->r;
	int64_t n = 1, extent = old->extent;
	if (r->order != MPI_ORDER_C && r->order != MPI_ORDER_FORTRAN)
		return false;
	for (int64_t k = 0; k < r->n; k++) {
		int64_t i = r->order == MPI_ORDER_C ? r->n - 1 - k : k; // fastest dimension first
		int64_t size = gompi_recipe_at(r, 0, i), some = gompi_recipe_at(r, 1, i),
			start = gompi_recipe_at(r, 2, i);
		if (size < 1 || some < 1 || some > size || start < 0 || start > size - some)
			return false;
		gompi_draft_repeat(m->t, some, extent, &m->over);
		gompi_draft_at(m->t, product_of(&m->over, start, extent), &m->over);
		n = product_of(&m->over, n, some);
		extent = product_of(&m->over, extent, size);
	}
	add_part(m, old, gompi_facts_of(old), n, 0, 0);
	m->f->resized = true;
	m->f->lb = 0;
	m->f->extent = extent;
	return true;
}

// The part of a dimension of a distributed array that a process has: blocks of block elements, step apart, beginning at
// start. The last block has last elements.
struct share {
	int64_t start, block, blocks, step, last;
};

// Computes the share of the process at coordinate of processes in dimension i. Returns false if the arguments are
// invalid.
static bool distribute(const struct gompi_recipe *r, int64_t i, int64_t processes, int64_t coordinate,
		       struct share *s) {
	int64_t size = gompi_recipe_at(r, 0, i), distribution = gompi_recipe_at(r, 1, i),
		block = gompi_recipe_at(r, 2, i);
	bool usual = block == MPI_DISTRIBUTE_DFLT_DARG;
	if (size < 1 || (!usual && distribution != MPI_DISTRIBUTE_NONE && block < 1))
		return false;
	switch (distribution) {
	case MPI_DISTRIBUTE_NONE:
		block = size;
		if (processes != 1)
			return false;
		break;
	case MPI_DISTRIBUTE_BLOCK:
		if (usual)
			block = (size - 1) / processes + 1;
		else if ((size - 1) / block >= processes)
			return false;
		break;
	case MPI_DISTRIBUTE_CYCLIC:
		if (usual)
			block = 1;
		break;
	default:
		return false;
	}
	*s = (struct share){.block = block};
	if (__builtin_mul_overflow(block, processes, &s->step))
		s->step = INT64_MAX; // larger than the array in any case
	if ((size - 1) / block >= coordinate) {
		s->start = block * coordinate;
		s->blocks = (size - 1 - s->start) / s->step + 1;
		s->last = lower_of(block, size - s->start - (s->blocks - 1) * s->step);
	}
	return true;
}

static bool darray(struct construction *m, const struct gompi_type *old) {
	enum { MOST = 32 };
	const struct gompi_recipe *r = m->r;
	struct share of[MOST];
	int64_t n = 1, extent = old->extent, rest = r->a, at = r->b;
	if ((r->order != MPI_ORDER_C && r->order != MPI_ORDER_FORTRAN) || r->a < 1 || at < 0 || at >= rest ||
	    r->n > MOST)
		return false;
	// the grid is numbered in row-major order, regardless of the order of the array
	for (int64_t i = 0; i < r->n; i++) {
		int64_t processes = gompi_recipe_at(r, 3, i);
		if (processes < 1 || rest % processes != 0)
			return false;
		rest /= processes;
		if (!distribute(r, i, processes, at / rest, &of[i]))
			return false;
		at %= rest;
	}
	if (rest != 1)
		return false;
	for (int64_t k = 0; k < r->n; k++) {
		int64_t i = r->order == MPI_ORDER_C ? r->n - 1 - k : k; // fastest dimension first
		const struct share *s = &of[i];
		if (s->last != s->block && s->blocks > 1) // the last block is shorter than the others: left to Go
			return false;
		gompi_draft_repeat(m->t, s->last, extent, &m->over);
		gompi_draft_repeat(m->t, s->blocks, product_of(&m->over, s->step, extent), &m->over);
		gompi_draft_at(m->t, product_of(&m->over, s->start, extent), &m->over);
		n = product_of(&m->over, n, product_of(&m->over, s->blocks, s->last));
		extent = product_of(&m->over, extent, gompi_recipe_at(r, 0, i));
	}
	add_part(m, old, gompi_facts_of(old), n, 0, 0);
	m->f->resized = true;
	m->f->lb = 0;
	m->f->extent = extent;
	return true;
}

// Returns true if blocklength copies of a type are contiguous.
static inline bool dense(const struct gompi_type *old, int64_t blocklength) {
	return old->size == 0 || (old->segments == 1 && (blocklength <= 1 || old->extent == old->size));
}

static inline bool is_far(int64_t x) { return (uint64_t)x + (UINT64_C(1) << 60) >= UINT64_C(1) << 61; }

// Constructs types with displacements: one type for all blocks, or one for each (fields, a constant at every call). If
// there are several blocks, each must be contiguous, and they become a list. A single block may be of any kind.
static inline __attribute__((always_inline)) bool blocks(struct construction *m, int64_t *displacements, int64_t *sizes,
							 bool fields) {
	const struct gompi_recipe *r = m->r;
	const struct gompi_type *old = r->n > 0 || !fields ? gompi_recipe_type(r, 0) : NULL;
	const struct gompi_facts *facts = old != NULL ? gompi_facts_of(old) : NULL;
	bool in_bytes = fields || r->combiner == MPI_COMBINER_HINDEXED || r->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	int64_t total = 0, lo = 0, hi = 0;
	// a local, because it stays in a register, unlike m->over
	bool over = false, alike = old != NULL && dense(old, 2);
	int64_t copies = -1, from = 0, to = 0; // bounds of this many copies of old at 0
	if (r->list[0] == NULL && r->a < 0)
		return false;
	for (int64_t i = 0; i < r->n; i++) {
		int64_t n = r->list[0] != NULL ? gompi_recipe_at(r, 0, i) : r->a, first, end;
		if (n < 0)
			return false;
		if (fields && i > 0 && r->types[i] != r->types[i - 1])
			facts = gompi_facts_of(old = gompi_recipe_type(r, i));
		sizes[i] = product_of(&over, n, old->size);
		displacements[i] = product_of(&over, gompi_recipe_at(r, 1, i), in_bytes ? 1 : old->extent);
		if (n > 0) {
			if (fields) {
				span(&over, facts, displacements[i], n, old->extent, &first, &end);
			} else {
				// Go decides where the order of additions determines whether 64 bits suffice.
				if (n != copies) {
					span(&over, facts, 0, copies = n, old->extent, &from, &to);
					if (is_far(from) || is_far(to))
						return false;
				}
				if (is_far(displacements[i]))
					return false;
				first = displacements[i] + from;
				end = displacements[i] + to;
			}
			lo = total == 0 ? first : lower_of(lo, first);
			hi = total == 0 ? end : upper_of(hi, end);
			if (fields)
				add_part(m, old, facts, n, first, end);
			total = sum_of(&over, total, n);
		}
		if (r->n == 1) {
			gompi_draft_begin(m->t, old);
			gompi_draft_repeat(m->t, n, old->extent, &m->over);
			gompi_draft_at(m->t, displacements[i], &m->over);
		} else if (n > 0 && !(fields ? dense(old, n) : alike)) {
			return false;
		}
		displacements[i] = sum_of(&over, displacements[i], old->origin);
	}
	m->over |= over;
	if (!fields)
		add_part(m, old, facts, total, lo, hi);
	if (m->over || (r->n != 1 && !gompi_draft_blocks(m->t, r->n, displacements, sizes, fields, &m->over)))
		return false;
	bound(m);
	return true;
}

// Returns the words of the nodes that the recipe adds.
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

static bool lay_out(struct construction *m, const struct gompi_type *old) {
	enum { FEW = 32 };
	const struct gompi_recipe *r = m->r;
	int64_t few[2 * FEW];
	switch (r->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		return grid(m, old, r->n, 1, old->extent);
	case MPI_COMBINER_VECTOR:
		return grid(m, old, r->n, r->a, product_of(&m->over, r->b, old->extent));
	case MPI_COMBINER_HVECTOR:
		return grid(m, old, r->n, r->a, r->b);
	case MPI_COMBINER_SUBARRAY:
		return subarray(m, old);
	case MPI_COMBINER_DARRAY:
		return darray(m, old);
	}
	int64_t *list = r->n <= FEW ? few : malloc((size_t)r->n * 2 * sizeof *list);
	bool done = list != NULL && (r->combiner == MPI_COMBINER_STRUCT ? blocks(m, list, list + r->n, true)
									: blocks(m, list, list + r->n, false));
	if (list != few)
		free(list);
	return done;
}

// Constructs MPI_Type_create_resized and MPI_Type_dup, which keep the contents of old.
static bool like(struct construction *m, const struct gompi_type *old) {
	*m->f = *gompi_facts_of(old);
	m->elements = old->elements;
	m->elem = old->elem;
	m->elem_size = old->elem_size;
	m->any = m->elem != 0;
	if (m->r->combiner == MPI_COMBINER_DUP)
		return true;
	int64_t ub;
	m->f->resized = true;
	m->f->lb = m->r->a;
	m->f->extent = m->r->b;
	return !__builtin_add_overflow(m->r->a, m->r->b, &ub);
}

// Returns true if all pointers that C must read are valid, and C constructed the old types. If Go constructed an old
// type, it could not construct it again after its handle is gone. Stores the words of the longest old program in
// *words.
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
	for (int64_t i = 0; i < r->types_number; i++) {
		if (i > 0 && r->types[i] == r->types[i - 1])
			continue;
		const struct gompi_type *old = gompi_recipe_type(r, i);
		if (old == NULL || (old->elem != 0 && old->elem_root != old->root) ||
		    (gompi_type_mortal(old) && gompi_type_life(old)->recipe == NULL))
			return false;
		*words = upper_of(*words, old->words);
	}
	return true;
}

struct gompi_type *gompi_recipe_make(const struct gompi_recipe *r) {
	int64_t words;
	if (!recipe_is_usable(r, &words))
		return NULL;
	words += nodes_of(r);
	struct gompi_type *t = gompi_type_new(words, gompi_recipe_bytes(r));
	if (t == NULL)
		return NULL;
	struct construction m = {.r = r, .t = t, .f = &gompi_type_life(t)->facts};
	const struct gompi_type *old = r->types_number > 0 ? gompi_recipe_type(r, 0) : NULL;
	*m.f = (struct gompi_facts){.align = 1};
	// otherwise blocks() begins the program if it needs to
	if (old != NULL && (r->list[1] == NULL || r->list[2] != NULL))
		gompi_draft_begin(t, old);
	bool same = r->combiner == MPI_COMBINER_RESIZED || r->combiner == MPI_COMBINER_DUP;
	if (!(same ? like(&m, old) : lay_out(&m, old)) || m.over) {
		gompi_type_end(t);
		return NULL;
	}
	t->elements = m.elements;
	t->lb = m.f->lb;
	t->extent = m.f->extent;
	bool one = m.any && !m.several;
	gompi_draft_end(t, one ? m.elem : 0, one ? m.elem_size : 0);
	m.f->size = t->size;
	m.f->true_lb = t->true_lb;
	m.f->true_extent = t->true_ub - t->true_lb;
	envelope(m.f, r);
	gompi_recipe_keep(r, t, words);
	if (r->combiner == MPI_COMBINER_DUP)
		t->magic = old->magic;
	return t;
}

int gompi_type_construct(const struct gompi_recipe *r, MPI_Datatype *newtype) {
	struct gompi_type *t = newtype != NULL ? gompi_recipe_make(r) : NULL;
	uintptr_t handle = t != NULL ? gompi_type_add(t) : 0;
	if (handle == 0)
		return gompi_up.make_type(r, (uintptr_t)newtype);
	*newtype = (MPI_Datatype)handle;
	return MPI_SUCCESS;
}
