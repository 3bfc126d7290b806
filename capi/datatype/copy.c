// Copies between two layouts.
#include "datatype/block_copy.h"
#include "datatype/datatype.h"
#include "datatype/memory.h"

void gompi_copy_blocks(char *restrict d, int64_t dstride, const char *restrict s, int64_t sstride, int64_t block,
		       int64_t n) {
	if (n == 1) // a single block is usually long, so code for constant sizes would not speed up its copy
		copy_one(d, s, block);
	else
		copy_blocks(d, dstride, s, sstride, block, n);
}

// One side of a copy (source or destination). If a block has been copied in part, r holds the part that has not been
// copied, and after_split holds the blocks that follow.
struct side {
	struct gompi_run r, after_split;
	struct gompi_cursor *source; // supplies further blocks; NULL if r and after_split are all
};

static inline bool refill(struct side *s) {
	if (!s->r.n) {
		if (s->after_split.n) {
			s->r = s->after_split;
			s->after_split.n = 0;
		} else if (s->source) {
			s->r = gompi_cursor_run(s->source, INT64_MAX);
		}
	}
	return s->r.n;
}

// Advances a side by n whole blocks if `bytes` is 0. Else advances the side by `bytes` bytes within the current block,
// because only a part of the block has been copied.
static inline void advance_side(struct side *s, int64_t n, int64_t bytes) {
	struct gompi_run *r = &s->r;
	if (!bytes) {
		r->offset += n * r->stride;
		r->n -= n;
		return;
	}
	if (r->n > 1) {
		s->after_split = (struct gompi_run){r->offset + r->stride, r->block, r->n - 1, r->stride};
		r->n = 1;
	}
	r->offset += bytes;
	r->block -= bytes;
	if (!r->block)
		r->n = 0;
}

// Copies at most `limit` bytes between two sides of any layout.
static int64_t copy_sides(char *dst, struct side *d, const char *src, struct side *s, int64_t limit) {
	int64_t done = 0;
	while (done < limit && refill(d) && refill(s)) {
		if (d->r.block == s->r.block) { // copies as many blocks as both sides have
			int64_t block = d->r.block, n = d->r.n < s->r.n ? d->r.n : s->r.n;
			if (n * block > limit - done)
				n = (limit - done) / block;
			if (n) {
				copy_blocks(dst + d->r.offset, d->r.stride, src + s->r.offset, s->r.stride, block, n);
				done += n * block;
				advance_side(d, n, 0);
				advance_side(s, n, 0);
				continue;
			}
		}
		// Copies blocks of the smaller size, as many as fit into the larger block.
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
		advance_side(d, n, dwhole ? 0 : n * block);
		advance_side(s, n, swhole ? 0 : n * block);
	}
	return done;
}

// Describes all blocks of count copies as one run in *r. Returns false if they form several runs.
static inline bool as_single_run(struct gompi_run *r, const struct gompi_type *t, int64_t count) {
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

// Copies between two equal layouts, with one cursor for both.
static int64_t copy_same(char *dst, const char *src, const struct gompi_type *t, int64_t count) {
	struct gompi_run r;
	if (as_single_run(&r, t, count)) {
		gompi_copy_blocks(dst + r.offset, r.stride, src + r.offset, r.stride, r.block, r.n);
		return count * t->size;
	}
	struct gompi_cursor c;
	gompi_cursor_init(&c, t, count, GOMPI_BYTES);
	while ((r = gompi_cursor_run(&c, INT64_MAX)).n > 0)
		gompi_copy_blocks(dst + r.offset, r.stride, src + r.offset, r.stride, r.block, r.n);
	return count * t->size;
}

int64_t gompi_typed_copy(void *dst, int64_t dcount, const struct gompi_type *dt, const void *src, int64_t scount,
			 const struct gompi_type *st) {
	if (dt == st && dcount == scount)
		return copy_same(dst, src, dt, dcount);
	struct side d = {.source = NULL}, s = {.source = NULL};
	bool dsingle = as_single_run(&d.r, dt, dcount), ssingle = as_single_run(&s.r, st, scount);
	int64_t limit = dcount * dt->size, sbytes = scount * st->size;
	if (sbytes < limit)
		limit = sbytes;
	if (dsingle && ssingle) {
		if (d.r.n == 1 && s.r.n == 1) {
			gompi_copy_small((char *)dst + d.r.offset, (const char *)src + s.r.offset, (uint64_t)limit);
			return limit;
		}
		return copy_sides(dst, &d, src, &s, limit);
	}
	struct gompi_cursor dc, sc;
	if (!ssingle) {
		gompi_cursor_init(&sc, st, scount, GOMPI_BYTES);
		if (dsingle && d.r.n == 1)
			return gompi_cursor_pack((char *)dst + d.r.offset, src, &sc, limit);
		s.source = &sc;
	}
	if (!dsingle) {
		gompi_cursor_init(&dc, dt, dcount, GOMPI_BYTES);
		if (ssingle && s.r.n == 1)
			return gompi_cursor_unpack(dst, &dc, (const char *)src + s.r.offset, limit);
		d.source = &dc;
	}
	return copy_sides(dst, &d, src, &s, limit);
}
