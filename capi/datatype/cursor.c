// Walking over the bytes of a type, and copying them. The Go twin is core/datatype/cursor.go.
#include "datatype/datatype.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1, LOOP, LIST, BLOCKS, SEQ };

// The words of a node, after its kind.
enum { SIZE = 1, N = 2, STRIDE = 3, LOOP_CHILD = 4, LIST_CHILD = 3, LIST_DISP = 4, DISP = 3 };

// descend goes from a node down to the block that holds packed byte pos of it, leaving frames on the stack for the way
// back.
static void descend(struct gompi_cursor *c, int64_t node, int64_t base, int64_t pos) {
	const int64_t *p = c->prog;
	for (;;) {
		const int64_t *q = p + node;
		int64_t i = 0, child, size;
		switch (q[0]) {
		case BLOCK:
			c->run = (struct gompi_run){base, q[SIZE], 1, 0};
			c->skip = pos;
			return;
		case LOOP:
			child = q[LOOP_CHILD];
			size = p[child + SIZE];
			if (pos) {
				i = pos / size;
				pos -= i * size;
			}
			if (p[child] == BLOCK) {
				c->run = (struct gompi_run){base + i * q[STRIDE], size, q[N] - i, q[STRIDE]};
				c->skip = pos;
				return;
			}
			c->stack[c->depth++] = (struct gompi_cursor_frame){node, i, base};
			node = child;
			base += i * q[STRIDE];
			break;
		case LIST:
			child = q[LIST_CHILD];
			size = p[child + SIZE];
			if (pos) {
				i = pos / size;
				pos -= i * size;
			}
			c->stack[c->depth++] = (struct gompi_cursor_frame){node, i, base};
			node = child;
			base += q[LIST_DISP + i];
			break;
		default: { // BLOCKS, SEQ
			const int64_t n = q[N], *disp = q + DISP, *prefix = disp + n;
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
			if (q[0] == BLOCKS) {
				c->run = (struct gompi_run){base, prefix[i + 1] - prefix[i], 1, 0};
				c->skip = pos;
				return;
			}
			node = prefix[n + 1 + i];
		}
		}
	}
}

bool gompi_type_overlaps(const struct gompi_type *t, int64_t count) {
	if (t->flags & GOMPI_TYPE_OVERLAP)
		return true;
	uint64_t copies = t->extent < 0 ? -(uint64_t)t->extent : (uint64_t)t->extent;
	if (count <= 1 || copies >= (uint64_t)(t->true_ub - t->true_lb))
		return false;
	if (!(t->flags & GOMPI_TYPE_STRIDED))
		return true;
	// Copies lie in each other's gaps, as the columns of a matrix do: blocks at two distances, of which the larger
	// must hold all at the smaller one.
	uint64_t blocks = t->stride < 0 ? -(uint64_t)t->stride : (uint64_t)t->stride, block = (uint64_t)t->block;
	return copies < blocks ? copies < block || blocks - block < (uint64_t)(count - 1) * copies
			       : blocks < block || copies - block < (uint64_t)(t->repeat - 1) * blocks;
}

int64_t *gompi_type_of_elements(int64_t *words, const struct gompi_type *element, int64_t n, int64_t flags) {
	const int64_t block = GOMPI_TYPE_HEAD, list = block + 2, size = element->elem_size;
	*(struct gompi_type *)words = (struct gompi_type){.magic = element->magic,
							  .words = GOMPI_ELEMENTS_WORDS(n),
							  .flags = flags,
							  .elem = element->elem,
							  .elem_size = size,
							  .elements = n,
							  .size = n * element->size,
							  .depth = 1,
							  .segments = n,
							  .elem_root = list};
	words[block] = BLOCK;
	words[block + SIZE] = size;
	words[list] = LIST;
	words[list + SIZE] = n * size;
	words[list + N] = n;
	words[list + LIST_CHILD] = block;
	return words + list + LIST_DISP;
}

struct gompi_type *gompi_type_as_bytes(const struct gompi_type *t) {
	struct gompi_type *b = malloc((size_t)t->words * sizeof(int64_t));
	if (b == NULL)
		return NULL;
	memcpy(b, t, (size_t)t->words * sizeof(int64_t));
	b->elem = (int64_t)(uintptr_t)MPI_BYTE;
	b->elem_size = 1;
	b->elements = t->size;
	b->elem_origin = t->origin;
	b->elem_root = t->root;
	b->flags &= ~(int64_t)GOMPI_TYPE_ELEM_CONTIGUOUS;
	if (t->flags & GOMPI_TYPE_CONTIGUOUS)
		b->flags |= GOMPI_TYPE_ELEM_CONTIGUOUS;
	return b;
}

void gompi_cursor_init(struct gompi_cursor *c, const struct gompi_type *t, int64_t count, enum gompi_view view) {
	c->prog = (const int64_t *)t;
	c->origin = view == GOMPI_ELEMENTS ? t->elem_origin : t->origin;
	c->root = view == GOMPI_ELEMENTS ? t->elem_root : t->root;
	c->extent = t->extent;
	c->copies = c->root ? count : 0;
	c->one = c->root ? c->prog[c->root + SIZE] : 1;
	gompi_cursor_seek(c, 0);
}

void gompi_cursor_seek(struct gompi_cursor *c, int64_t pos) {
	int64_t k = pos ? pos / c->one : 0;
	c->depth = 0;
	c->skip = 0;
	if (k >= c->copies) {
		c->copy = c->copies;
		c->run = (struct gompi_run){0, 0, 0, 0};
		return;
	}
	pos -= k * c->one;
	if (c->prog[c->root] == BLOCK) { // the copies themselves are the run
		c->run = (struct gompi_run){c->origin + k * c->extent, c->one, c->copies - k, c->extent};
		if (c->extent == c->one)
			c->run = (struct gompi_run){c->run.offset, c->run.n * c->one, 1, 0};
		c->skip = pos;
		c->copy = c->copies;
		return;
	}
	c->copy = k;
	descend(c, c->root, c->origin + k * c->extent, pos);
}

void gompi_cursor_advance(struct gompi_cursor *c) {
	while (c->depth) {
		struct gompi_cursor_frame *f = &c->stack[c->depth - 1];
		const int64_t *q = c->prog + f->node, n = q[N], *disp = q + DISP;
		if (++f->i == n) {
			c->depth--;
			continue;
		}
		switch (q[0]) {
		case LOOP:
			descend(c, q[LOOP_CHILD], f->base + f->i * q[STRIDE], 0);
			return;
		case LIST: {
			const int64_t *child = c->prog + q[LIST_CHILD], base = f->base + q[LIST_DISP + f->i];
			if (child[0] == BLOCK)
				c->run = (struct gompi_run){base, child[SIZE], 1, 0};
			else
				descend(c, q[LIST_CHILD], base, 0);
			return;
		}
		case BLOCKS:
			c->run = (struct gompi_run){f->base + disp[f->i], disp[n + f->i + 1] - disp[n + f->i], 1, 0};
			return;
		default: // SEQ
			descend(c, disp[2 * n + 1 + f->i], f->base + disp[f->i], 0);
			return;
		}
	}
	c->run.n = 0;
	if (c->copy < c->copies && ++c->copy < c->copies)
		descend(c, c->root, c->origin + c->copy * c->extent, 0);
}

// copy_one copies a block of any size; up to 64 bytes without a call, by pieces that overlap.
static inline void copy_one(char *restrict d, const char *restrict s, int64_t n) {
	struct bytes16 {
		char b[16];
	} a, b, c, e;
	uint64_t x, y;
	if (n > 64) {
		memcpy(d, s, (size_t)n);
	} else if (n > 32) {
		memcpy(&a, s, 16);
		memcpy(&b, s + 16, 16);
		memcpy(&c, s + n - 32, 16);
		memcpy(&e, s + n - 16, 16);
		memcpy(d, &a, 16);
		memcpy(d + 16, &b, 16);
		memcpy(d + n - 32, &c, 16);
		memcpy(d + n - 16, &e, 16);
	} else if (n >= 16) {
		memcpy(&a, s, 16);
		memcpy(&b, s + n - 16, 16);
		memcpy(d, &a, 16);
		memcpy(d + n - 16, &b, 16);
	} else if (n >= 8) {
		memcpy(&x, s, 8);
		memcpy(&y, s + n - 8, 8);
		memcpy(d, &x, 8);
		memcpy(d + n - 8, &y, 8);
	} else if (n >= 4) {
		memcpy(&x, s, 4);
		memcpy(&y, s + n - 4, 4);
		memcpy(d, &x, 4);
		memcpy(d + n - 4, &y, 4);
	} else {
		for (int64_t i = 0; i < n; i++)
			d[i] = s[i];
	}
}

// COPY_SIZES does the loop with a constant size for those that programs have most, which makes each block a load and a
// store.
#define COPY_SIZES(block, loop)        \
	switch (block) {               \
	case 1:                        \
		loop(memcpy, 1);       \
		break;                 \
	case 2:                        \
		loop(memcpy, 2);       \
		break;                 \
	case 4:                        \
		loop(memcpy, 4);       \
		break;                 \
	case 8:                        \
		loop(memcpy, 8);       \
		break;                 \
	case 16:                       \
		loop(memcpy, 16);      \
		break;                 \
	default:                       \
		loop(copy_one, block); \
		break;                 \
	}

// copy_blocks copies n blocks between two places.
static inline void copy_blocks(char *restrict d, int64_t dstride, const char *restrict s, int64_t sstride,
			       int64_t block, int64_t n) {
#define STRIDED(copy, size)             \
	for (int64_t i = 0; i < n; i++) \
	copy(d + i * dstride, s + i * sstride, size)
	COPY_SIZES(block, STRIDED)
#undef STRIDED
}

void gompi_copy_blocks(char *restrict d, int64_t dstride, const char *restrict s, int64_t sstride, int64_t block,
		       int64_t n) {
	if (n == 1) // mostly long
		copy_one(d, s, block);
	else
		copy_blocks(d, dstride, s, sstride, block, n);
}

// Entries of a list of blocks of one size (prefix NULL) or of several.
struct entries {
	const int64_t *disp, *prefix;
	int64_t base, block, n, bytes;
};

// take_entries takes the blocks that are left in the list the cursor is in, as many as fit in limit bytes. n 0: it is
// not in one, or not at the beginning of a block, or there are few.
static inline struct entries take_entries(struct gompi_cursor *c, int64_t limit) {
	struct entries e = {.n = 0};
	if (!c->depth || c->skip)
		return e;
	struct gompi_cursor_frame *f = &c->stack[c->depth - 1];
	const int64_t *q = c->prog + f->node, n = q[N];
	if (q[0] == LIST && c->prog[q[LIST_CHILD]] == BLOCK) {
		e.disp = q + LIST_DISP + f->i;
		e.block = c->prog[q[LIST_CHILD] + SIZE];
		e.n = limit / e.block;
		if (e.n > n - f->i)
			e.n = n - f->i;
		e.bytes = e.n * e.block;
	} else if (q[0] == BLOCKS) {
		const int64_t *prefix = q + DISP + n + f->i;
		e.disp = q + DISP + f->i;
		e.prefix = prefix;
		e.n = n - f->i;
		while (prefix[e.n] - prefix[0] > limit)
			e.n /= 2;
		e.bytes = prefix[e.n] - prefix[0];
	}
	if (!e.n)
		return e;
	e.base = f->base;
	f->i += e.n - 1;
	gompi_cursor_advance(c);
	return e;
}

// gather copies the blocks of a list to where they lie together, scatter goes the other way.
static inline void gather(char *restrict d, const char *restrict s, struct entries e) {
	s += e.base;
#define EACH(copy, size)                  \
	for (int64_t i = 0; i < e.n; i++) \
	copy(d + i * (size), s + e.disp[i], size)
	if (e.prefix)
		for (int64_t i = 0; i < e.n; i++)
			copy_one(d + (e.prefix[i] - e.prefix[0]), s + e.disp[i], e.prefix[i + 1] - e.prefix[i]);
	else
		COPY_SIZES(e.block, EACH)
#undef EACH
}

static inline void scatter(char *restrict d, const char *restrict s, struct entries e) {
	d += e.base;
#define EACH(copy, size)                  \
	for (int64_t i = 0; i < e.n; i++) \
	copy(d + e.disp[i], s + i * (size), size)
	if (e.prefix)
		for (int64_t i = 0; i < e.n; i++)
			copy_one(d + e.disp[i], s + (e.prefix[i] - e.prefix[0]), e.prefix[i + 1] - e.prefix[i]);
	else
		COPY_SIZES(e.block, EACH)
#undef EACH
}

int64_t gompi_cursor_pack(char *dst, const char *src, struct gompi_cursor *c, int64_t limit) {
	int64_t done = 0;
	while (done < limit && c->run.n) {
		struct entries e = take_entries(c, limit - done);
		if (e.n) {
			gather(dst + done, src, e);
			done += e.bytes;
			continue;
		}
		struct gompi_run r = gompi_cursor_run(c, limit - done);
		if (!r.n) {
			r.block = gompi_cursor_next(c, limit - done, &r.offset);
			r.n = 1;
		}
		copy_blocks(dst + done, r.block, src + r.offset, r.stride, r.block, r.n);
		done += r.n * r.block;
	}
	return done;
}

int64_t gompi_cursor_unpack(char *dst, struct gompi_cursor *c, const char *src, int64_t limit) {
	int64_t done = 0;
	while (done < limit && c->run.n) {
		struct entries e = take_entries(c, limit - done);
		if (e.n) {
			scatter(dst, src + done, e);
			done += e.bytes;
			continue;
		}
		struct gompi_run r = gompi_cursor_run(c, limit - done);
		if (!r.n) {
			r.block = gompi_cursor_next(c, limit - done, &r.offset);
			r.n = 1;
		}
		copy_blocks(dst + r.offset, r.stride, src + done, r.block, r.block, r.n);
		done += r.n * r.block;
	}
	return done;
}

// One side of a copy: the blocks at hand, those behind them if one had to be split, and where more come from.
struct side {
	struct gompi_run r, rest;
	struct gompi_cursor *more; // NULL: nowhere
};

static inline bool refill(struct side *s) {
	if (!s->r.n) {
		if (s->rest.n) {
			s->r = s->rest;
			s->rest.n = 0;
		} else if (s->more) {
			s->r = gompi_cursor_run(s->more, INT64_MAX);
		}
	}
	return s->r.n;
}

// leave moves a side on by n blocks of its own size, or by bytes that are less than one block.
static inline void leave(struct side *s, int64_t n, int64_t bytes) {
	struct gompi_run *r = &s->r;
	if (!bytes) {
		r->offset += n * r->stride;
		r->n -= n;
		return;
	}
	if (r->n > 1) {
		s->rest = (struct gompi_run){r->offset + r->stride, r->block, r->n - 1, r->stride};
		r->n = 1;
	}
	r->offset += bytes;
	r->block -= bytes;
	if (!r->block)
		r->n = 0;
}

// copy_sides copies at most limit bytes between two sides of any shape.
static int64_t copy_sides(char *dst, struct side *d, const char *src, struct side *s, int64_t limit) {
	int64_t done = 0;
	while (done < limit && refill(d) && refill(s)) {
		if (d->r.block == s->r.block) { // as many blocks at once as both have
			int64_t block = d->r.block, n = d->r.n < s->r.n ? d->r.n : s->r.n;
			if (n * block > limit - done)
				n = (limit - done) / block;
			if (n) {
				copy_blocks(dst + d->r.offset, d->r.stride, src + s->r.offset, s->r.stride, block, n);
				done += n * block;
				leave(d, n, 0);
				leave(s, n, 0);
				continue;
			}
		}
		// The smaller blocks, as many as the larger one holds.
		int64_t block = d->r.block < s->r.block ? d->r.block : s->r.block;
		if (block > limit - done)
			block = limit - done;
		bool dwhole = d->r.block == block, swhole = s->r.block == block;
		int64_t n = dwhole ? d->r.n : d->r.block / block, m = swhole ? s->r.n : s->r.block / block;
		if (m < n)
			n = m;
		if (n > (limit - done) / block)
			n = (limit - done) / block;
		copy_blocks(dst + d->r.offset, dwhole ? d->r.stride : block, src + s->r.offset,
			    swhole ? s->r.stride : block, block, n);
		done += n * block;
		leave(d, n, dwhole ? 0 : n * block);
		leave(s, n, swhole ? 0 : n * block);
	}
	return done;
}

// single gives all blocks of count copies as one run, if they are one.
static inline bool single(struct gompi_run *r, const struct gompi_type *t, int64_t count) {
	if (t->flags & GOMPI_TYPE_CONTIGUOUS)
		*r = (struct gompi_run){t->origin, count * t->size, count && t->size, 0};
	else if (!(t->flags & GOMPI_TYPE_STRIDED))
		return false;
	else if (t->repeat == 1)
		*r = (struct gompi_run){t->origin, t->block, count, t->extent};
	else if (count == 1)
		*r = (struct gompi_run){t->origin, t->block, t->repeat, t->stride};
	else if (t->extent == t->repeat * t->stride)
		*r = (struct gompi_run){t->origin, t->block, t->repeat * count, t->stride};
	else
		return false;
	return true;
}

int64_t gompi_typed_copy(void *dst, int64_t dcount, const struct gompi_type *dt, const void *src, int64_t scount,
			 const struct gompi_type *st) {
	struct side d = {.more = NULL}, s = {.more = NULL};
	bool dsingle = single(&d.r, dt, dcount), ssingle = single(&s.r, st, scount);
	int64_t limit = dcount * dt->size, sbytes = scount * st->size;
	if (sbytes < limit)
		limit = sbytes;
	if (dsingle && ssingle) {
		if (d.r.n == 1 && s.r.n == 1) {
			memcpy((char *)dst + d.r.offset, (const char *)src + s.r.offset, (size_t)limit);
			return limit;
		}
		return copy_sides(dst, &d, src, &s, limit);
	}
	struct gompi_cursor dc, sc;
	if (!ssingle) {
		gompi_cursor_init(&sc, st, scount, GOMPI_BYTES);
		if (dsingle && d.r.n == 1)
			return gompi_cursor_pack((char *)dst + d.r.offset, src, &sc, limit);
		s.more = &sc;
	}
	if (!dsingle) {
		gompi_cursor_init(&dc, dt, dcount, GOMPI_BYTES);
		if (ssingle && s.r.n == 1)
			return gompi_cursor_unpack(dst, &dc, (const char *)src + s.r.offset, limit);
		d.more = &dc;
	}
	return copy_sides(dst, &d, src, &s, limit);
}

int64_t gompi_typed_pack(void *out, int64_t limit, const void *buf, int64_t count, const struct gompi_type *t,
			 int64_t position) {
	struct gompi_cursor c;
	gompi_cursor_init(&c, t, count, GOMPI_BYTES);
	if (position)
		gompi_cursor_seek(&c, position);
	return gompi_cursor_pack(out, buf, &c, limit);
}

int64_t gompi_typed_unpack(void *buf, int64_t count, const struct gompi_type *t, int64_t position, const void *in,
			   int64_t limit) {
	struct gompi_cursor c;
	gompi_cursor_init(&c, t, count, GOMPI_BYTES);
	if (position)
		gompi_cursor_seek(&c, position);
	return gompi_cursor_unpack(buf, &c, in, limit);
}
