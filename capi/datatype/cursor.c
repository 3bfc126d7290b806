// Iterates over the bytes of a type. core/datatype/reference is the same iteration in Go, for tests.
#include "datatype/datatype.h"
#include "datatype/program.h"

// Descends from a node to the block that contains byte pos of the node's packed data. Pushes a frame for each node on
// the way.
static void descend(struct gompi_cursor *c, int64_t node, int64_t base, int64_t pos) {
	const int64_t *p = c->prog;
	for (;;) {
		const int64_t *q = p + node;
		int64_t i = 0, child, size;
		switch (q[0]) {
		case NODE_BLOCK:
			c->run = (struct gompi_run){base, q[NODE_SIZE], 1, 0};
			c->skip_bytes = pos;
			return;
		case NODE_LOOP:
			child = q[LOOP_CHILD];
			size = p[child + NODE_SIZE];
			if (pos) {
				i = pos / size;
				pos -= i * size;
			}
			if (p[child] == NODE_BLOCK) {
				c->run = (struct gompi_run){base + i * q[NODE_STRIDE], size, q[NODE_N] - i,
							    q[NODE_STRIDE]};
				c->skip_bytes = pos;
				return;
			}
			c->stack[c->depth++] = (struct gompi_cursor_frame){node, i, base};
			node = child;
			base += i * q[NODE_STRIDE];
			break;
		case NODE_LIST:
			child = q[LIST_CHILD];
			size = p[child + NODE_SIZE];
			if (pos) {
				i = pos / size;
				pos -= i * size;
			}
			c->stack[c->depth++] = (struct gompi_cursor_frame){node, i, base};
			node = child;
			base += q[LIST_DISP + i];
			break;
		default: { // NODE_BLOCKS, NODE_SEQ
			const int64_t n = q[NODE_N], *disp = q + NODE_DISP, *prefix = disp + n;
			if (pos) { // the last i with prefix[i] <= pos
				int64_t lo = 0, hi = n;
				while (hi - lo > 1) {
					int64_t mid = lo + (hi - lo) / 2;
					if (prefix[mid] <= pos)
						lo = mid;
					else
						hi = mid;
				}
				i = lo;
				pos -= prefix[i];
			}
			c->stack[c->depth++] = (struct gompi_cursor_frame){node, i, base};
			base += disp[i];
			if (q[0] == NODE_BLOCKS) {
				c->run = (struct gompi_run){base, prefix[i + 1] - prefix[i], 1, 0};
				c->skip_bytes = pos;
				return;
			}
			node = prefix[n + 1 + i];
		}
		}
	}
}

void gompi_cursor_init(struct gompi_cursor *c, const struct gompi_type *t, int64_t count, enum gompi_cursor_view view) {
	c->prog = (const int64_t *)t;
	c->origin = view == GOMPI_ELEMENTS ? t->elem_origin : t->origin;
	c->root = view == GOMPI_ELEMENTS ? t->elem_root : t->root;
	c->extent = t->extent;
	c->copy_count = c->root ? count : 0;
	c->copy_bytes = c->root ? c->prog[c->root + NODE_SIZE] : 1;
	gompi_cursor_seek(c, 0);
}

void gompi_cursor_seek(struct gompi_cursor *c, int64_t pos) {
	int64_t k = pos ? pos / c->copy_bytes : 0;
	c->depth = 0;
	c->skip_bytes = 0;
	if (k >= c->copy_count) {
		c->copy_index = c->copy_count;
		c->run = (struct gompi_run){0, 0, 0, 0};
		return;
	}
	pos -= k * c->copy_bytes;
	if (c->prog[c->root] == NODE_BLOCK) { // each copy is one block, so all remaining copies form one run
		c->run = (struct gompi_run){c->origin + k * c->extent, c->copy_bytes, c->copy_count - k, c->extent};
		if (c->extent == c->copy_bytes)
			c->run = (struct gompi_run){c->run.offset, c->run.n * c->copy_bytes, 1, 0};
		c->skip_bytes = pos;
		c->copy_index = c->copy_count;
		return;
	}
	c->copy_index = k;
	descend(c, c->root, c->origin + k * c->extent, pos);
}

void gompi_cursor_advance(struct gompi_cursor *c) {
	while (c->depth) {
		struct gompi_cursor_frame *f = &c->stack[c->depth - 1];
		const int64_t *q = c->prog + f->node, n = q[NODE_N], *disp = q + NODE_DISP;
		if (++f->i == n) {
			c->depth--;
			continue;
		}
		switch (q[0]) {
		case NODE_LOOP:
			descend(c, q[LOOP_CHILD], f->base + f->i * q[NODE_STRIDE], 0);
			return;
		case NODE_LIST: {
			const int64_t *child = c->prog + q[LIST_CHILD], base = f->base + q[LIST_DISP + f->i];
			if (child[0] == NODE_BLOCK)
				c->run = (struct gompi_run){base, child[NODE_SIZE], 1, 0};
			else
				descend(c, q[LIST_CHILD], base, 0);
			return;
		}
		case NODE_BLOCKS:
			c->run = (struct gompi_run){f->base + disp[f->i], disp[n + f->i + 1] - disp[n + f->i], 1, 0};
			return;
		default: // NODE_SEQ
			descend(c, disp[2 * n + 1 + f->i], f->base + disp[f->i], 0);
			return;
		}
	}
	c->run.n = 0;
	if (c->copy_index < c->copy_count && ++c->copy_index < c->copy_count)
		descend(c, c->root, c->origin + c->copy_index * c->extent, 0);
}
