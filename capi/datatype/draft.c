#include "datatype/draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "datatype/checked.h"
#include "datatype/typemap.h"
#include "datatype/program.h"

// Returns the root node, which describes all bytes and is the last node of a program.
static inline int64_t *root_node(struct gompi_type *t) { return (int64_t *)t + t->root; }

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
				 .true_ub = gompi_checked_add(displacement, size, overflow),
				 .depth = 1,
				 .segments = 1,
				 .origin = displacement,
				 .root = GOMPI_TYPE_HEAD};
	root_node(t)[0] = NODE_BLOCK;
	root_node(t)[NODE_SIZE] = size;
}

// Returns true if the copies of a loop's child may touch a byte twice.
static bool loop_overlaps(const struct gompi_type *t, bool child_overlaps, int64_t child_span) {
	const int64_t *words = (const int64_t *)t, *node = words + t->root;
	struct gompi_loop nest[GOMPI_TYPE_MAX_DEPTH];
	int n = 0;
	uint64_t outer = gompi_magnitude(node[NODE_STRIDE]);
	if (words[node[LOOP_CHILD]] == NODE_BLOCK)
		return outer < (uint64_t)child_span;
	for (; node[0] == NODE_LOOP; node = words + node[LOOP_CHILD])
		nest[n++] = (struct gompi_loop){gompi_magnitude(node[NODE_STRIDE]), node[NODE_N]};
	return node[0] == NODE_BLOCK ? gompi_nest_overlaps(nest, n, node[NODE_SIZE])
				     : child_overlaps || outer < (uint64_t)child_span;
}

void gompi_draft_repeat(struct gompi_type *t, int64_t count, int64_t stride, bool *overflow) {
	if (count == 1 || t->size == 0)
		return;
	if (count == 0) {
		make_empty(t);
		return;
	}
	int64_t *root = root_node(t), inner;
	int64_t size = gompi_checked_mul(t->size, count, overflow);
	if (root[0] == NODE_BLOCK && stride == t->size) {
		root[NODE_SIZE] = t->size = size;
		t->true_ub = gompi_checked_add(t->true_lb, size, overflow);
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
		count = root[NODE_N] = gompi_checked_mul(count, root[NODE_N], overflow);
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
	int64_t last = gompi_checked_mul(count - 1, stride, overflow);
	t->true_lb = gompi_checked_add(t->true_lb, gompi_min_i64(0, last), overflow);
	t->true_ub = gompi_checked_add(t->true_ub, gompi_max_i64(0, last), overflow);
	t->segments = gompi_checked_mul(segments, count, overflow);
	if (!*overflow)
		t->flags = loop_overlaps(t, overlap, span) ? GOMPI_TYPE_OVERLAP : 0;
}

void gompi_draft_shift(struct gompi_type *t, int64_t displacement, bool *overflow) {
	if (t->size == 0)
		return;
	t->origin = gompi_checked_add(t->origin, displacement, overflow);
	t->true_lb = gompi_checked_add(t->true_lb, displacement, overflow);
	t->true_ub = gompi_checked_add(t->true_ub, displacement, overflow);
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

// Returns true if some byte is in two blocks, or if it is unknown because memory is exhausted.
static bool blocks_overlap(int64_t n, const int64_t *displacements, const int64_t *sizes) {
	bool up = true, down = true;
	for (int64_t i = 1; i < n; i++) {
		up &= displacements[i - 1] + sizes[i - 1] <= displacements[i];
		down &= displacements[i] + sizes[i] <= displacements[i - 1];
	}
	if (up || down)
		return false;
	int64_t(*ranges)[2] = malloc((size_t)n * sizeof *ranges);
	for (int64_t i = 0; i < n && ranges != NULL; i++) {
		ranges[i][0] = displacements[i];
		ranges[i][1] = displacements[i] + sizes[i];
	}
	bool overlap = ranges == NULL || gompi_ranges_overlap(n, ranges);
	free(ranges);
	return overlap;
}

bool gompi_draft_blocks(struct gompi_type *t, int64_t n, int64_t *displacements, int64_t *sizes, bool fields,
			bool *out_overflow) {
	int64_t k = 0;
	bool overflow = false; // a local variable stays in a register, unlike *out_overflow
	for (int64_t i = 0; i < n; i++) {
		if (sizes[i] == 0)
			continue;
		int64_t end = gompi_checked_add(displacements[i], sizes[i], &overflow);
		if (k > 0 && displacements[k - 1] + sizes[k - 1] == displacements[i]) {
			sizes[k - 1] = end - displacements[k - 1];
			overflow |= sizes[k - 1] < 0;
		} else {
			displacements[k] = displacements[i];
			sizes[k++] = sizes[i];
		}
	}
	if (overflow) {
		*out_overflow = true;
		return false;
	}
	if (k < 2) {
		if (k == 0)
			make_empty(t);
		else
			make_block(t, displacements[0], sizes[0], out_overflow);
		return true;
	}
	int64_t lo = displacements[0], hi = lo + sizes[0], size = 0;
	bool uniform = true;
	for (int64_t i = 0; i < k; i++) {
		lo = gompi_min_i64(lo, displacements[i]);
		hi = gompi_max_i64(hi, displacements[i] + sizes[i]);
		size = gompi_checked_add(size, sizes[i], &overflow);
		uniform &= sizes[i] == sizes[0];
	}
	int64_t runs = 0;
	gompi_checked_add(hi, lo == INT64_MIN ? INT64_MAX : -lo,
			  &overflow); // checks that all distances fit into 64 bits
	if (overflow) {
		*out_overflow = true;
		return false;
	}
	for (int64_t i = 0; i < k; runs++)
		i = run_end(k, displacements, sizes, i);
	if (uniform && (fields ? runs == 1 || k == 2 : runs == 1 && k > 3)) {
		int64_t stride = displacements[1] - displacements[0];
		make_block(t, displacements[0], sizes[0], out_overflow);
		gompi_draft_repeat(t, k, stride, out_overflow);
		return true;
	}
	// If the blocks form few runs, loops and other blocks describe them with fewer words than a list
	if (fields ? !uniform && runs * 2 <= k : runs * 4 <= k)
		return false;
	bool overlap = blocks_overlap(k, displacements, sizes);
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

void gompi_draft_end(struct gompi_type *t, int64_t elem, int64_t elem_size, bool has_gaps) {
	const int64_t *words = (const int64_t *)t, *root = words + t->root;
	t->elem = elem;
	t->elem_size = elem_size;
	t->block = t->repeat = t->stride = 0;
	if (elem == 0 || t->size == 0) {
		t->elem_origin = t->elem_root = 0;
	} else if (!has_gaps) {
		t->elem_origin = t->origin;
		t->elem_root = t->root;
	}
	if (t->size == 0) {
		t->flags = GOMPI_TYPE_CONTIGUOUS | GOMPI_TYPE_ELEM_CONTIGUOUS;
		return;
	}
	if (root[0] == NODE_BLOCK) {
		t->flags |= GOMPI_TYPE_STRIDED | (t->extent == t->size ? GOMPI_TYPE_CONTIGUOUS : 0);
		t->block = t->size;
		t->repeat = 1;
	} else if (root[0] == NODE_LOOP && words[root[LOOP_CHILD]] == NODE_BLOCK) {
		t->flags |= GOMPI_TYPE_STRIDED;
		t->block = words[root[LOOP_CHILD] + NODE_SIZE];
		t->repeat = root[NODE_N];
		t->stride = root[NODE_STRIDE];
	}
	const int64_t *elements = words + t->elem_root;
	if (elem != 0 && elements[0] == NODE_BLOCK && elements[NODE_SIZE] == t->extent)
		t->flags |= GOMPI_TYPE_ELEM_CONTIGUOUS;
}
