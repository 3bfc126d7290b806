#include "datatype/typemap.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "datatype/checked.h"
#include "datatype/program.h"

// A type whose nodes have been added to the builder.
struct gompi_typemap_import {
	struct gompi_typemap_import *next;
	const struct gompi_type *type;
	int32_t root, elem_root;
};

struct gompi_typemap_chunk {
	struct gompi_typemap_chunk *next;
	int64_t words[];
};

// Returns uninitialized memory, which exists as long as the builder; NULL if out of memory.
static void *allocate(struct gompi_typemap_builder *b, int64_t n, size_t size) {
	struct gompi_typemap_chunk *c = malloc(sizeof *c + (size_t)n * size);
	if (c == NULL) {
		b->no_memory = true;
		return NULL;
	}
	c->next = b->chunks;
	b->chunks = c;
	return c->words;
}

// Adds a node and returns its index; 0 if out of memory.
static int32_t add_node(struct gompi_typemap_builder *b, const struct gompi_typemap_node *n) {
	if (b->count == b->capacity) {
		int32_t capacity = gompi_max_i64(16, 2 * (int64_t)b->capacity) > INT32_MAX ? 0 : 2 * b->capacity + 16;
		void *nodes = capacity ? realloc(b->nodes, (size_t)capacity * sizeof *b->nodes) : NULL;
		if (nodes == NULL) {
			b->no_memory = true;
			return 0;
		}
		b->nodes = nodes;
		b->capacity = capacity;
		if (b->count == 0)
			b->nodes[b->count++] = (struct gompi_typemap_node){0};
	}
	b->nodes[b->count] = *n;
	return b->count++;
}

static int32_t block_node(struct gompi_typemap_builder *b, int64_t size) {
	if (b->last_block == 0 || b->nodes[b->last_block].size != size)
		b->last_block =
			add_node(b, &(struct gompi_typemap_node){
					    .kind = NODE_BLOCK, .depth = 1, .size = size, .hi = size, .segments = 1});
	return b->last_block;
}

bool gompi_nest_overlaps(struct gompi_loop *nest, int n, int64_t block) {
	uint64_t span = (uint64_t)block; // upper bound of the range that the loops up to i cover
	for (int i = 0; i < n; i++) {
		for (int k = i + 1; k < n; k++) {
			struct gompi_loop x = nest[i];
			if (nest[k].stride < x.stride) {
				nest[i] = nest[k];
				nest[k] = x;
			}
		}
		if (nest[i].stride < span)
			return true;
		span += (uint64_t)(nest[i].count - 1) * nest[i].stride;
	}
	return false;
}

// Returns true if the copies of a loop's child may touch a byte twice.
static bool loop_overlaps_node(const struct gompi_typemap_builder *b, const struct gompi_typemap_node *n) {
	const struct gompi_typemap_node *child = &b->nodes[n->child], *c = n;
	struct gompi_loop nest[GOMPI_TYPE_MAX_DEPTH];
	int levels = 0;
	for (; c->kind == NODE_LOOP; c = &b->nodes[c->child])
		nest[levels++] = (struct gompi_loop){gompi_magnitude(c->stride), c->n};
	return c->kind == NODE_BLOCK
		       ? gompi_nest_overlaps(nest, levels, c->size)
		       : child->overlap || gompi_magnitude(n->stride) < (uint64_t)child->hi - (uint64_t)child->lo;
}

static int32_t loop_node(struct gompi_typemap_builder *b, int32_t child, int64_t count, int64_t stride) {
	const struct gompi_typemap_node *c = &b->nodes[child];
	int64_t last = gompi_checked_mul(count - 1, stride, &b->overflow);
	struct gompi_typemap_node n = {.kind = NODE_LOOP,
				       .depth = c->depth + 1,
				       .child = child,
				       .size = gompi_checked_mul(c->size, count, &b->overflow),
				       .lo = gompi_checked_add(c->lo, gompi_min_i64(0, last), &b->overflow),
				       .hi = gompi_checked_add(c->hi, gompi_max_i64(0, last), &b->overflow),
				       .segments = gompi_checked_mul(c->segments, count, &b->overflow),
				       .n = count,
				       .stride = stride};
	n.overlap = loop_overlaps_node(b, &n);
	return add_node(b, &n);
}

static int compare_ranges(const void *x, const void *y) {
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

bool gompi_ranges_overlap(int64_t n, int64_t (*ranges)[2]) {
	qsort(ranges, (size_t)n, sizeof *ranges, compare_ranges);
	for (int64_t i = 1, end = ranges[0][1]; i < n; i++) {
		if (ranges[i][0] < end)
			return true;
		end = gompi_max_i64(end, ranges[i][1]);
	}
	return false;
}

// Returns the node of entry i of a list, blocks or seq.
static int32_t entry_node(struct gompi_typemap_builder *b, const struct gompi_typemap_node *n, int64_t i) {
	if (n->kind == NODE_BLOCKS)
		return block_node(b, n->prefix[i + 1] - n->prefix[i]);
	return n->kind == NODE_LIST ? n->child : n->children[i];
}

// Adds a list, blocks or seq, whose kind, n, size and entries the caller has set.
static int32_t list_node(struct gompi_typemap_builder *b, struct gompi_typemap_node *n) {
	int64_t last[2] = {0, 0};
	bool up = true, down = true;
	n->depth = n->kind == NODE_BLOCKS;
	for (int64_t i = 0; i < n->n; i++) {
		const struct gompi_typemap_node *c = n->kind == NODE_BLOCKS ? NULL : &b->nodes[entry_node(b, n, i)];
		int64_t lo = n->displacements[i], hi;
		if (c != NULL) {
			hi = gompi_checked_add(lo, c->hi, &b->overflow);
			lo = gompi_checked_add(lo, c->lo, &b->overflow);
			n->segments = gompi_checked_add(n->segments, c->segments, &b->overflow);
			n->depth = c->depth >= n->depth ? c->depth + 1 : n->depth;
			n->overlap |= c->overlap;
		} else {
			hi = gompi_checked_add(lo, n->prefix[i + 1] - n->prefix[i], &b->overflow);
			n->segments++;
		}
		up = up && (i == 0 || last[1] <= lo);
		down = down && (i == 0 || hi <= last[0]);
		n->lo = i == 0 ? lo : gompi_min_i64(n->lo, lo);
		n->hi = i == 0 ? hi : gompi_max_i64(n->hi, hi);
		last[0] = lo;
		last[1] = hi;
	}
	if (!up && !down && !n->overlap && !b->overflow) {
		int64_t(*ranges)[2] = malloc((size_t)n->n * sizeof *ranges);
		if (ranges == NULL)
			b->no_memory = true;
		for (int64_t i = 0; i < n->n && ranges != NULL; i++) {
			bool is_block = n->kind == NODE_BLOCKS; // the positions have been computed without overflow
			const struct gompi_typemap_node *c = is_block ? NULL : &b->nodes[entry_node(b, n, i)];
			int64_t length = is_block ? n->prefix[i + 1] - n->prefix[i] : c->hi - c->lo;
			ranges[i][0] = n->displacements[i] + (is_block ? 0 : c->lo);
			ranges[i][1] = ranges[i][0] + length;
		}
		n->overlap = ranges != NULL && gompi_ranges_overlap(n->n, ranges);
		free(ranges);
	}
	return add_node(b, n);
}

// Adds all nodes of a type's program. Returns NULL if out of memory.
static const struct gompi_typemap_import *import_type(struct gompi_typemap_builder *b, const struct gompi_type *t) {
	const int64_t *words = (const int64_t *)t;
	struct gompi_typemap_import *x = allocate(b, 1, sizeof *x);
	int32_t *node_at = allocate(b, t->words, sizeof *node_at); // index of the node that begins at a word
	if (x == NULL || node_at == NULL)
		return NULL;
	node_at[0] = 0; // a type without bytes has no root, and a type without a common element has no elem_root
	for (int64_t at = GOMPI_TYPE_HEAD, length = 0; at < t->words && !b->no_memory; at += length) {
		const int64_t *p = words + at;
		struct gompi_typemap_node n = {.kind = (int32_t)p[0], .size = p[NODE_SIZE], .n = p[NODE_N]};
		switch (p[0]) {
		case NODE_BLOCK:
			node_at[at] = block_node(b, n.size);
			length = BLOCK_WORDS;
			continue;
		case NODE_LOOP:
			node_at[at] = loop_node(b, node_at[p[LOOP_CHILD]], n.n, p[NODE_STRIDE]);
			length = LOOP_WORDS;
			continue;
		case NODE_LIST:
			n.child = node_at[p[LIST_CHILD]];
			n.displacements = p + LIST_DISP;
			length = LIST_WORDS + n.n;
			break;
		default: // NODE_BLOCKS, NODE_SEQ
			n.displacements = p + NODE_DISP;
			n.prefix = n.displacements + n.n;
			length = NODE_DISP + 2 * n.n + 1;
			if (n.kind == NODE_SEQ) {
				int32_t *children = allocate(b, n.n, sizeof *children);
				for (int64_t i = 0; i < n.n && children != NULL; i++)
					children[i] = node_at[p[length + i]];
				n.children = children;
				length += n.n;
			}
		}
		node_at[at] = b->no_memory ? 0 : list_node(b, &n);
	}
	if (b->no_memory)
		return NULL;
	*x = (struct gompi_typemap_import){b->imports, t, node_at[t->root], node_at[t->elem_root]};
	return b->imports = x;
}

struct gompi_typemap gompi_typemap_of(struct gompi_typemap_builder *b, const struct gompi_type *t,
				      enum gompi_cursor_view view) {
	// A type that is not among the last ones is added again. gompi_typemap_words finds equal nodes.
	enum { SEARCHED = 64 };
	const struct gompi_typemap_import *x = b->imports;
	for (int i = 0; i < SEARCHED && x != NULL && x->type != t; i++)
		x = x->next;
	if (x == NULL || x->type != t)
		x = import_type(b, t);
	if (x == NULL || t->size == 0)
		return (struct gompi_typemap){0, 0};
	return view == GOMPI_BYTES ? (struct gompi_typemap){t->origin, x->root}
				   : (struct gompi_typemap){t->elem_origin, x->elem_root};
}

struct gompi_typemap gompi_typemap_shift(struct gompi_typemap_builder *b, struct gompi_typemap l,
					 int64_t displacement) {
	if (l.node != 0)
		l.displacement = gompi_checked_add(l.displacement, displacement, &b->overflow);
	return l;
}

struct gompi_typemap gompi_typemap_repeat(struct gompi_typemap_builder *b, struct gompi_typemap l, int64_t count,
					  int64_t stride) {
	int64_t inner;
	if (l.node == 0 || count == 0)
		return (struct gompi_typemap){0, 0};
	if (count == 1)
		return l;
	const struct gompi_typemap_node *c = &b->nodes[l.node];
	if (c->kind == NODE_BLOCK && stride == c->size)
		return (struct gompi_typemap){l.displacement,
					      block_node(b, gompi_checked_mul(c->size, count, &b->overflow))};
	int32_t child = l.node;
	if (c->kind == NODE_LOOP && !__builtin_mul_overflow(c->stride, c->n, &inner) && inner == stride) {
		count = gompi_checked_mul(count, c->n, &b->overflow);
		stride = c->stride;
		child = c->child;
	}
	return (struct gompi_typemap){l.displacement, loop_node(b, child, count, stride)};
}

struct gompi_typemap *gompi_typemap_array(struct gompi_typemap_builder *b, int64_t n) {
	return allocate(b, n, sizeof(struct gompi_typemap));
}

static inline const struct gompi_typemap_node *typemap_node(const struct gompi_typemap_builder *b,
							    struct gompi_typemap l) {
	return &b->nodes[l.node];
}

// Returns true if two nodes are the same. Lists of entries are not compared: two nodes with such lists are the same
// only if they have the same index.
static bool is_same(const struct gompi_typemap_builder *b, int32_t i, int32_t k) {
	while (i != k) {
		const struct gompi_typemap_node *x = &b->nodes[i], *y = &b->nodes[k];
		if (x->kind != y->kind || x->size != y->size || x->kind > NODE_LOOP || x->n != y->n ||
		    x->stride != y->stride)
			return false;
		if (x->kind == NODE_BLOCK)
			return true;
		i = x->child;
		k = y->child;
	}
	return true;
}

static bool all_same(const struct gompi_typemap_builder *b, const struct gompi_typemap *items, int64_t n) {
	for (int64_t i = 1; i < n; i++)
		if (!is_same(b, items[0].node, items[i].node))
			return false;
	return true;
}

// Removes items without bytes, and combines adjacent blocks without a gap between them. Returns the number of items.
static int64_t merge_blocks(struct gompi_typemap_builder *b, struct gompi_typemap *items, int64_t n) {
	int64_t k = 0, size = 0; // size of the last item if that is a block
	for (int64_t i = 0; i <= n; i++) {
		if (i < n && items[i].node == 0)
			continue;
		bool is_block = i < n && typemap_node(b, items[i])->kind == NODE_BLOCK;
		if (is_block && size != 0 &&
		    gompi_checked_add(items[k - 1].displacement, size, &b->overflow) == items[i].displacement) {
			size = gompi_checked_add(size, typemap_node(b, items[i])->size, &b->overflow);
			continue;
		}
		if (size != 0 && size != typemap_node(b, items[k - 1])->size)
			items[k - 1].node = block_node(b, size);
		size = is_block ? typemap_node(b, items[i])->size : 0;
		if (i < n)
			items[k++] = items[i];
	}
	return k;
}

static int64_t distance(struct gompi_typemap_builder *b, const struct gompi_typemap *from) {
	return gompi_checked_sub(from[1].displacement, from[0].displacement, &b->overflow);
}

// Returns the end of the run of equal nodes at equal distances that begins at i. Fewer than three nodes do not form a
// run.
static int64_t item_run_end(struct gompi_typemap_builder *b, const struct gompi_typemap *items, int64_t n, int64_t i) {
	int64_t j = i + 1;
	while (j < n && is_same(b, items[j].node, items[i].node) &&
	       distance(b, items + j - 1) == distance(b, items + i))
		j++;
	return j - i < 3 ? i + 1 : j;
}

// Replaces each run of equal nodes at equal distances by one loop, if this at least halves the number of items. Returns
// the number of items.
static int64_t compress_runs(struct gompi_typemap_builder *b, struct gompi_typemap *items, int64_t n) {
	int64_t runs = 0, k = 0;
	for (int64_t i = 0; i < n; runs++)
		i = item_run_end(b, items, n, i);
	if (runs * 2 > n)
		return n;
	for (int64_t i = 0, end; i < n; i = end) {
		end = item_run_end(b, items, n, i);
		items[k++] =
			end == i + 1 ? items[i] : gompi_typemap_repeat(b, items[i], end - i, distance(b, items + i));
	}
	return k;
}

// Joins a loop with adjacent items that continue it at the same stride: one more child, or another loop over the same
// child. Returns the number of items.
static int64_t extend_loops(struct gompi_typemap_builder *b, struct gompi_typemap *items, int64_t n) {
	int64_t k = 0;
	for (int64_t i = 1; i < n; i++) {
		const struct gompi_typemap_node *x = typemap_node(b, items[k]), *y = typemap_node(b, items[i]);
		bool first_loops = x->kind == NODE_LOOP, second_loops = y->kind == NODE_LOOP;
		int64_t count = first_loops ? x->n : 1, more = second_loops ? y->n : 1;
		int64_t stride = first_loops ? x->stride : y->stride;
		int32_t child = first_loops ? x->child : items[k].node;
		if (count + more > 2 && (!first_loops || !second_loops || x->stride == y->stride) &&
		    is_same(b, child, second_loops ? y->child : items[i].node) &&
		    distance(b, (struct gompi_typemap[]){items[k], items[i]}) ==
			    gompi_checked_mul(count, stride, &b->overflow))
			items[k] = gompi_typemap_repeat(b, (struct gompi_typemap){items[k].displacement, child},
							count + more, stride);
		else
			items[++k] = items[i];
	}
	return k + 1;
}

static int64_t simplify(struct gompi_typemap_builder *b, struct gompi_typemap *items, int64_t n) {
	return extend_loops(b, items, compress_runs(b, items, n));
}

// Returns true if the entries of an item replace it: it is a short list, or holds more than half of all bytes. This
// bounds the depth of programs (program.h).
static bool is_inlined(const struct gompi_typemap_node *n, int64_t total) {
	enum { SHORT = 8 };
	return n->kind >= NODE_LIST && (n->n <= SHORT || n->size > total / 2);
}

// Replaces lists by their entries. Returns the new array and stores its length; NULL if nothing changes or memory is
// exhausted.
static struct gompi_typemap *inline_lists(struct gompi_typemap_builder *b, const struct gompi_typemap *items, int64_t n,
					  int64_t *length) {
	int64_t total = 0, k = 0;
	for (int64_t i = 0; i < n; i++)
		total = gompi_checked_add(total, typemap_node(b, items[i])->size, &b->overflow);
	for (int64_t i = 0; i < n; i++)
		k += is_inlined(typemap_node(b, items[i]), total) ? typemap_node(b, items[i])->n : 1;
	if (k == n)
		return NULL;
	struct gompi_typemap *all = gompi_typemap_array(b, k);
	*length = k;
	k = 0;
	for (int64_t i = 0; i < n && all != NULL; i++) {
		const struct gompi_typemap_node list = *typemap_node(b, items[i]); // entry_node may move the nodes
		if (!is_inlined(&list, total))
			all[k++] = items[i];
		for (int64_t e = 0; is_inlined(&list, total) && e < list.n; e++)
			all[k++] = gompi_typemap_shift(
				b, (struct gompi_typemap){list.displacements[e], entry_node(b, &list, e)},
				items[i].displacement);
	}
	return all;
}

struct gompi_typemap gompi_typemap_concat(struct gompi_typemap_builder *b, struct gompi_typemap *items, int64_t n) {
	n = merge_blocks(b, items, n);
	if (n > 1 && !all_same(b, items, n)) {
		n = simplify(b, items, n);
		struct gompi_typemap *all = inline_lists(b, items, n, &n);
		if (all != NULL)
			n = simplify(b, items = all, merge_blocks(b, all, n));
	}
	if (n == 0 || b->no_memory || b->overflow)
		return (struct gompi_typemap){0, 0};
	if (n == 1)
		return items[0];
	struct gompi_typemap_node node = {.n = n};
	bool is_list = all_same(b, items, n), regular = is_list, blocks = true;
	for (int64_t i = 0; i < n; i++) {
		node.size = gompi_checked_add(node.size, typemap_node(b, items[i])->size, &b->overflow);
		regular = regular && (i < 2 || distance(b, items + i - 1) == distance(b, items));
		blocks = blocks && typemap_node(b, items[i])->kind == NODE_BLOCK;
	}
	if (b->overflow)
		return (struct gompi_typemap){0, 0};
	if (regular)
		return gompi_typemap_repeat(b, items[0], n, distance(b, items));
	int64_t *displacements = allocate(b, 2 * n + 1, sizeof *displacements);
	int32_t *children = allocate(b, n, sizeof *children);
	if (b->no_memory)
		return (struct gompi_typemap){0, 0};
	int64_t *prefix = displacements + n;
	prefix[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		displacements[i] = gompi_checked_sub(items[i].displacement, items[0].displacement, &b->overflow);
		prefix[i + 1] = prefix[i] + typemap_node(b, items[i])->size;
		children[i] = items[i].node;
	}
	node.kind = is_list ? NODE_LIST : blocks ? NODE_BLOCKS : NODE_SEQ;
	node.child = is_list ? items[0].node : 0;
	node.displacements = displacements;
	node.prefix = is_list ? NULL : prefix;
	node.children = node.kind == NODE_SEQ ? children : NULL;
	return (struct gompi_typemap){items[0].displacement, b->overflow ? 0 : list_node(b, &node)};
}

static int64_t node_words(const struct gompi_typemap_node *n) {
	switch (n->kind) {
	case NODE_BLOCK:
		return BLOCK_WORDS;
	case NODE_LOOP:
		return LOOP_WORDS;
	case NODE_LIST:
		return LIST_WORDS + n->n;
	case NODE_BLOCKS:
		return NODE_DISP + 2 * n->n + 1;
	default:
		return NODE_DISP + 3 * n->n + 1;
	}
}

// Returns true if two nodes have the same words in the program. The positions of their children are known.
static bool has_same_words(const struct gompi_typemap_builder *b, const struct gompi_typemap_node *x,
			   const struct gompi_typemap_node *y) {
	const size_t list = (size_t)x->n * sizeof(int64_t);
	if (x->kind != y->kind || x->size != y->size || x->n != y->n || x->stride != y->stride ||
	    b->nodes[x->child].at != b->nodes[y->child].at ||
	    (x->displacements != NULL && memcmp(x->displacements, y->displacements, list) != 0) ||
	    (x->prefix != NULL && memcmp(x->prefix, y->prefix, list) != 0))
		return false;
	for (int64_t i = 0; x->children != NULL && i < x->n; i++)
		if (b->nodes[x->children[i]].at != b->nodes[y->children[i]].at)
			return false;
	return true;
}

// Returns a number that is equal for nodes with the same words.
static uint64_t hash_node(const struct gompi_typemap_builder *b, const struct gompi_typemap_node *n) {
	enum { HASHED = 8 };
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t h = (uint64_t)n->kind;
	h = (h * factor) ^ (uint64_t)n->size;
	h = (h * factor) ^ (uint64_t)n->n;
	h = (h * factor) ^ (uint64_t)n->stride;
	h = (h * factor) ^ (uint64_t)b->nodes[n->child].at;
	for (int64_t i = 0; n->displacements != NULL && i < gompi_min_i64(n->n, HASHED); i++)
		h = (h * factor) ^ (uint64_t)n->displacements[i];
	return (h * factor) >> 32;
}

int64_t gompi_typemap_words(struct gompi_typemap_builder *b, struct gompi_typemap bytes,
			    struct gompi_typemap elements) {
	int64_t words = GOMPI_TYPE_HEAD;
	uint64_t mask = 15;
	while (mask < 2 * (uint64_t)b->count)
		mask = 2 * mask + 1;
	int32_t *known = calloc(mask + 1, sizeof *known); // hash table of the nodes to write
	if (known == NULL) {
		b->no_memory = true;
		return words;
	}
	for (int32_t i = b->count - 1; i > 0; i--) { // children precede their parents
		struct gompi_typemap_node *n = &b->nodes[i];
		n->is_used |= i == bytes.node || i == elements.node;
		if (n->is_used)
			b->nodes[n->child].is_used = true;
		for (int64_t k = 0; n->is_used && n->children != NULL && k < n->n; k++)
			b->nodes[n->children[k]].is_used = true;
	}
	for (int32_t i = 1; i < b->count; i++) {
		struct gompi_typemap_node *n = &b->nodes[i];
		if (!n->is_used)
			continue;
		uint64_t slot = hash_node(b, n) & mask;
		while (known[slot] != 0 && !has_same_words(b, n, &b->nodes[known[slot]]))
			slot = (slot + 1) & mask;
		n->is_used = known[slot] == 0;
		if (!n->is_used) {
			n->at = b->nodes[known[slot]].at;
			continue;
		}
		known[slot] = i;
		n->at = words;
		words += node_words(n);
	}
	free(known);
	if (bytes.node != 0) {
		gompi_checked_add(bytes.displacement, typemap_node(b, bytes)->lo, &b->overflow);
		gompi_checked_add(bytes.displacement, typemap_node(b, bytes)->hi, &b->overflow);
	}
	return words;
}

void gompi_typemap_write(const struct gompi_typemap_builder *b, struct gompi_type *t, struct gompi_typemap bytes,
			 struct gompi_typemap elements) {
	t->words = GOMPI_TYPE_HEAD;
	for (int32_t i = 1; i < b->count; i++) {
		const struct gompi_typemap_node *n = &b->nodes[i];
		int64_t *p = (int64_t *)t + n->at;
		if (!n->is_used)
			continue;
		t->words = n->at + node_words(n);
		p[0] = n->kind;
		p[NODE_SIZE] = n->size;
		if (n->kind == NODE_BLOCK)
			continue;
		p[NODE_N] = n->n;
		if (n->kind == NODE_LOOP) {
			p[NODE_STRIDE] = n->stride;
			p[LOOP_CHILD] = b->nodes[n->child].at;
			continue;
		}
		if (n->kind == NODE_LIST)
			p[LIST_CHILD] = b->nodes[n->child].at;
		p += n->kind == NODE_LIST ? LIST_DISP : NODE_DISP;
		memcpy(p, n->displacements, (size_t)n->n * sizeof *p);
		p += n->n;
		if (n->prefix != NULL)
			memcpy(p, n->prefix, (size_t)(n->n + 1) * sizeof *p);
		for (int64_t k = 0; n->children != NULL && k < n->n; k++)
			p[n->n + 1 + k] = b->nodes[n->children[k]].at;
	}
	if (bytes.node == 0)
		return;
	const struct gompi_typemap_node *root = typemap_node(b, bytes), *elem_root = typemap_node(b, elements);
	t->size = root->size;
	t->true_lb = bytes.displacement + root->lo;
	t->true_ub = bytes.displacement + root->hi;
	t->depth = gompi_max_i64(root->depth, elem_root->depth);
	t->segments = root->segments;
	t->origin = bytes.displacement;
	t->root = root->at;
	t->elem_origin = elements.displacement;
	t->elem_root = elem_root->at;
	t->flags = root->overlap ? GOMPI_TYPE_OVERLAP : 0;
}

void gompi_typemap_free(struct gompi_typemap_builder *b) {
	for (struct gompi_typemap_chunk *c = b->chunks, *next; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	free(b->nodes);
}
