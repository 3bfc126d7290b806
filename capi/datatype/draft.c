#include "datatype/draft.h"
#include "base/minmax.h"

#include <string.h>

#include "datatype/program.h"

// Returns the root node, which describes all bytes and is the last node of a program.
static inline int64_t *root_node(struct gompi_type *t) { return (int64_t *)t + t->root; }

static inline int64_t add64(int64_t x, int64_t y, bool *overflow) {
	int64_t sum;
	if (__builtin_expect(__builtin_add_overflow(x, y, &sum), 0))
		*overflow = true;
	return sum;
}

static inline int64_t multiply64(int64_t x, int64_t y, bool *overflow) {
	int64_t product;
	if (__builtin_expect(__builtin_mul_overflow(x, y, &product), 0))
		*overflow = true;
	return product;
}

void gompi_draft_begin(struct gompi_type *t, const struct gompi_type *old) {
	memcpy(t, old, (size_t)old->words * sizeof(int64_t));
	t->magic = 0;
	t->flags &= GOMPI_TYPE_OVERLAP;
}

static void make_empty(struct gompi_type *t) {
	memset(t, 0, sizeof *t);
	t->words = GOMPI_TYPE_HEAD;
}

// Makes a program with one block as its only node.
static void make_block(struct gompi_type *t, int64_t displacement, int64_t size, bool *overflow) {
	*t = (struct gompi_type){.words = GOMPI_TYPE_HEAD + BLOCK_WORDS,
				 .size = size,
				 .true_lb = displacement,
				 .true_ub = add64(displacement, size, overflow),
				 .depth = 1,
				 .segments = 1,
				 .origin = displacement,
				 .root = GOMPI_TYPE_HEAD};
	root_node(t)[0] = NODE_BLOCK;
	root_node(t)[NODE_SIZE] = size;
}

// Returns true if the copies of a loop's child may touch a byte twice. Checks a nest of loops over one block in the
// order of the strides, so that a transposed matrix is recognized as free of overlap.
static bool loop_overlaps(const struct gompi_type *t, bool child_overlaps, int64_t child_span) {
	const int64_t *words = (const int64_t *)t, *node = words + t->root;
	uint64_t stride[GOMPI_TYPE_MAX_DEPTH];
	int64_t count[GOMPI_TYPE_MAX_DEPTH];
	int n = 0;
	uint64_t outer = node[NODE_STRIDE] < 0 ? -(uint64_t)node[NODE_STRIDE] : (uint64_t)node[NODE_STRIDE];
	if (words[node[LOOP_CHILD]] == NODE_BLOCK)
		return outer < (uint64_t)child_span;
	for (; node[0] == NODE_LOOP; node = words + node[LOOP_CHILD]) {
		uint64_t s = node[NODE_STRIDE] < 0 ? -(uint64_t)node[NODE_STRIDE] : (uint64_t)node[NODE_STRIDE];
		int i = n++;
		for (; i > 0 && stride[i - 1] > s; i--) {
			stride[i] = stride[i - 1];
			count[i] = count[i - 1];
		}
		stride[i] = s;
		count[i] = node[NODE_N];
	}
	if (node[0] != NODE_BLOCK)
		return child_overlaps || outer < (uint64_t)child_span;
	uint64_t span = (uint64_t)node[NODE_SIZE];
	for (int i = 0; i < n; i++) {
		if (stride[i] < span)
			return true;
		span += (uint64_t)(count[i] - 1) * stride[i]; // upper bound of the range that the whole nest covers
	}
	return false;
}

void gompi_draft_repeat(struct gompi_type *t, int64_t count, int64_t stride, bool *overflow) {
	if (count == 1 || t->size == 0)
		return;
	if (count == 0) {
		make_empty(t);
		return;
	}
	int64_t *root = root_node(t), inner;
	int64_t size = multiply64(t->size, count, overflow);
	if (root[0] == NODE_BLOCK && stride == t->size) {
		root[NODE_SIZE] = t->size = size;
		t->true_ub = add64(t->true_lb, size, overflow);
		return;
	}
	bool overlap = (t->flags & GOMPI_TYPE_OVERLAP) != 0;
	int64_t span = t->true_ub - t->true_lb, segments = t->segments;
	if (root[0] == NODE_LOOP && !__builtin_mul_overflow(root[NODE_STRIDE], root[NODE_N], &inner) &&
	    inner == stride) {
		int64_t reach = (root[NODE_N] - 1) * root[NODE_STRIDE];
		t->true_lb -= gompi_min_i64(0, reach);
		t->true_ub -= gompi_max_i64(0, reach);
		span = t->true_ub - t->true_lb;
		segments /= root[NODE_N];
		count = root[NODE_N] = multiply64(count, root[NODE_N], overflow);
		stride = root[NODE_STRIDE];
	} else {
		int64_t *loop = (int64_t *)t + t->words;
		loop[0] = NODE_LOOP;
		loop[NODE_N] = count;
		loop[NODE_STRIDE] = stride;
		loop[LOOP_CHILD] = t->root;
		t->root = t->words;
		t->words += LOOP_WORDS;
		t->depth++;
		root = loop;
	}
	root[NODE_SIZE] = t->size = size;
	int64_t last = multiply64(count - 1, stride, overflow);
	t->true_lb = add64(t->true_lb, gompi_min_i64(0, last), overflow);
	t->true_ub = add64(t->true_ub, gompi_max_i64(0, last), overflow);
	t->segments = multiply64(segments, count, overflow);
	if (!*overflow)
		t->flags = loop_overlaps(t, overlap, span) ? GOMPI_TYPE_OVERLAP : 0;
}

void gompi_draft_shift(struct gompi_type *t, int64_t displacement, bool *overflow) {
	if (t->size == 0)
		return;
	t->origin = add64(t->origin, displacement, overflow);
	t->true_lb = add64(t->true_lb, displacement, overflow);
	t->true_ub = add64(t->true_ub, displacement, overflow);
}

// Returns the end of the run of equal blocks at equal distances that begins at i. Fewer than three blocks do not form a
// run.
static int64_t run_end(int64_t n, const int64_t *displacements, const int64_t *sizes, int64_t i) {
	int64_t j = i + 1;
	while (j < n && sizes[j] == sizes[i] &&
	       displacements[j] - displacements[j - 1] == displacements[i + 1] - displacements[i])
		j++;
	return j - i < 3 ? i + 1 : j;
}

// Determines whether some byte is in two blocks, and stores the result in *overlap. Unsorted blocks are compared in
// pairs, but only up to MAX_COMPARED blocks. Returns false if the result is unknown.
static bool find_overlap(int64_t n, const int64_t *displacements, const int64_t *sizes, bool *overlap) {
	enum { MAX_COMPARED = 16 };
	bool up = true, down = true;
	*overlap = false;
	for (int64_t i = 1; i < n; i++) {
		up &= displacements[i - 1] + sizes[i - 1] <= displacements[i];
		down &= displacements[i] + sizes[i] <= displacements[i - 1];
	}
	if (up || down)
		return true;
	for (int64_t i = 1; i < n && n <= MAX_COMPARED; i++)
		for (int64_t j = 0; j < i; j++)
			*overlap |= displacements[i] < displacements[j] + sizes[j] &&
				    displacements[j] < displacements[i] + sizes[i];
	return n <= MAX_COMPARED;
}

bool gompi_draft_blocks(struct gompi_type *t, int64_t n, int64_t *displacements, int64_t *sizes, bool fields,
			bool *out_overflow) {
	int64_t k = 0;
	bool overflow = false; // a local variable stays in a register, unlike *out_overflow
	for (int64_t i = 0; i < n; i++) {
		if (sizes[i] == 0)
			continue;
		int64_t end = add64(displacements[i], sizes[i], &overflow);
		if (k > 0 && displacements[k - 1] + sizes[k - 1] == displacements[i]) {
			sizes[k - 1] = end - displacements[k - 1];
			overflow |= sizes[k - 1] < 0;
		} else {
			displacements[k] = displacements[i];
			sizes[k++] = sizes[i];
		}
	}
	if (overflow)
		return false;
	if (k < 2) {
		if (k == 0)
			make_empty(t);
		else
			make_block(t, displacements[0], sizes[0], out_overflow);
		return true;
	}
	int64_t lo = displacements[0], hi = lo + sizes[0], size = 0;
	bool uniform = true, overlap;
	for (int64_t i = 0; i < k; i++) {
		lo = gompi_min_i64(lo, displacements[i]);
		hi = gompi_max_i64(hi, displacements[i] + sizes[i]);
		size = add64(size, sizes[i], &overflow);
		uniform &= sizes[i] == sizes[0];
	}
	int64_t runs = 0;
	add64(hi, lo == INT64_MIN ? INT64_MAX : -lo, &overflow); // checks that all distances fit into 64 bits
	if (overflow)
		return false;
	for (int64_t i = 0; i < k; runs++)
		i = run_end(k, displacements, sizes, i);
	if (uniform && (fields ? runs == 1 || k == 2 : runs == 1 && k > 3)) {
		int64_t stride = displacements[1] - displacements[0];
		make_block(t, displacements[0], sizes[0], out_overflow);
		gompi_draft_repeat(t, k, stride, out_overflow);
		return true;
	}
	// Go constructs types whose k blocks form few runs, because loops then alternate with other blocks. Go's
	// builder may merge some of these loops, so its program would differ from the program that this function makes.
	if (fields ? !uniform && runs * 2 <= k : runs * 4 <= k)
		return false;
	if (!find_overlap(k, displacements, sizes, &overlap))
		return false;
	int64_t *words = (int64_t *)t, *node = words + GOMPI_TYPE_HEAD;
	*t = (struct gompi_type){.size = size,
				 .true_lb = lo,
				 .true_ub = hi,
				 .depth = uniform ? 2 : 1,
				 .segments = k,
				 .origin = displacements[0],
				 .flags = overlap ? GOMPI_TYPE_OVERLAP : 0};
	if (uniform) {
		node[0] = NODE_BLOCK;
		node[NODE_SIZE] = sizes[0];
		node += BLOCK_WORDS;
		node[0] = NODE_LIST;
		node[LIST_CHILD] = GOMPI_TYPE_HEAD;
	} else {
		node[0] = NODE_BLOCKS;
	}
	node[NODE_SIZE] = size;
	node[NODE_N] = k;
	t->root = node - words;
	int64_t *at = node + (uniform ? LIST_DISP : NODE_DISP);
	for (int64_t i = 0; i < k; i++)
		at[i] = displacements[i] - displacements[0];
	at += k;
	if (!uniform) {
		*at = 0;
		for (int64_t i = 0; i < k; i++, at++)
			at[1] = at[0] + sizes[i];
		at++;
	}
	t->words = at - words;
	return true;
}

void gompi_draft_end(struct gompi_type *t, int64_t elem, int64_t elem_size) {
	const int64_t *words = (const int64_t *)t, *root = words + t->root;
	t->elem = elem;
	t->elem_size = elem_size;
	t->elem_origin = t->elem_root = t->block = t->repeat = t->stride = 0;
	if (t->size == 0) {
		t->flags = GOMPI_TYPE_CONTIGUOUS | GOMPI_TYPE_ELEM_CONTIGUOUS;
		return;
	}
	bool dense = root[0] == NODE_BLOCK && t->extent == t->size;
	if (root[0] == NODE_BLOCK) {
		t->flags |= GOMPI_TYPE_STRIDED | (dense ? GOMPI_TYPE_CONTIGUOUS : 0);
		t->block = t->size;
		t->repeat = 1;
	} else if (root[0] == NODE_LOOP && words[root[LOOP_CHILD]] == NODE_BLOCK) {
		t->flags |= GOMPI_TYPE_STRIDED;
		t->block = words[root[LOOP_CHILD] + NODE_SIZE];
		t->repeat = root[NODE_N];
		t->stride = root[NODE_STRIDE];
	}
	if (elem != 0) {
		t->elem_origin = t->origin;
		t->elem_root = t->root;
		t->flags |= dense ? GOMPI_TYPE_ELEM_CONTIGUOUS : 0;
	}
}
