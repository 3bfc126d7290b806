// Walking over the bytes of a type, and copying them. The Go twin is core/datatype/cursor.go.
#include "datatype.h"

#include <string.h>

enum { BLOCK = 1, LOOP, LIST, BLOCKS, SEQ };

// The words of a node, after its kind.
enum { SIZE = 1, N = 2, STRIDE = 3, LOOP_CHILD = 4, LIST_CHILD = 3, LIST_DISP = 4, DISP = 3 };

// descend goes from a node down to the block that holds packed byte pos of it, leaving frames on the stack for the way back.
static void descend(struct gompi_cursor *c, int64_t node, int64_t base, int64_t pos)
{
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

void gompi_cursor_init(struct gompi_cursor *c, const struct gompi_type *t, int64_t count, enum gompi_view view)
{
    c->prog = (const int64_t *)t;
    c->origin = view == GOMPI_ELEMENTS ? t->elem_origin : t->origin;
    c->root = view == GOMPI_ELEMENTS ? t->elem_root : t->root;
    c->extent = t->extent;
    c->copies = c->root ? count : 0;
    c->one = c->root ? c->prog[c->root + SIZE] : 1;
    gompi_cursor_seek(c, 0);
}

void gompi_cursor_seek(struct gompi_cursor *c, int64_t pos)
{
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

void gompi_cursor_advance(struct gompi_cursor *c)
{
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
        case LIST:
            descend(c, q[LIST_CHILD], f->base + q[LIST_DISP + f->i], 0);
            return;
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

// copy_blocks copies n blocks between two places. The sizes that programs have most are single loads and stores.
static inline void copy_blocks(char *restrict d, int64_t dstride, const char *restrict s, int64_t sstride, int64_t block, int64_t n)
{
#define COPY(size) \
    for (int64_t i = 0; i < n; i++) \
        memcpy(d + i * dstride, s + i * sstride, size)
    switch (block) {
    case 1: COPY(1); break;
    case 2: COPY(2); break;
    case 4: COPY(4); break;
    case 8: COPY(8); break;
    case 16: COPY(16); break;
    default: COPY((size_t)block); break;
    }
#undef COPY
}

// One side of a copy: the blocks at hand and where more come from.
struct side {
    struct gompi_run r;
    struct gompi_cursor *more; // NULL: nowhere
};

static inline bool refill(struct side *s)
{
    if (!s->r.n && s->more)
        s->r = gompi_cursor_run(s->more, INT64_MAX);
    return s->r.n;
}

// leave moves a side on by n blocks.
static inline void leave(struct side *s, int64_t n)
{
    s->r.offset += n * s->r.stride;
    s->r.n -= n;
}

// copy_sides copies at most limit bytes.
static int64_t copy_sides(char *dst, struct side *d, const char *src, struct side *s, int64_t limit)
{
    struct side drest = {.more = d->more}, srest = {.more = s->more}; // what follows a block that was split
    int64_t done = 0;
    while (done < limit) {
        if (!d->r.n && drest.r.n) {
            d->r = drest.r;
            drest.r.n = 0;
        }
        if (!s->r.n && srest.r.n) {
            s->r = srest.r;
            srest.r.n = 0;
        }
        if (!refill(d) || !refill(s))
            break;
        int64_t block = d->r.block < s->r.block ? d->r.block : s->r.block;
        if (limit - done < block)
            block = limit - done;
        // As many blocks at once as both sides have at equal distances.
        int64_t dn = d->r.block == block ? d->r.n : d->r.block / block, sn = s->r.block == block ? s->r.n : s->r.block / block;
        int64_t dstep = d->r.block == block ? d->r.stride : block, sstep = s->r.block == block ? s->r.stride : block;
        int64_t n = dn < sn ? dn : sn;
        if (n > (limit - done) / block)
            n = (limit - done) / block;
        copy_blocks(dst + d->r.offset, dstep, src + s->r.offset, sstep, block, n);
        done += n * block;
        struct side *sides[] = {d, s}, *rests[] = {&drest, &srest};
        for (int k = 0; k < 2; k++) {
            struct gompi_run *r = &sides[k]->r;
            if (r->block == block) {
                leave(sides[k], n);
                continue;
            }
            if (r->n > 1) {
                rests[k]->r = (struct gompi_run){r->offset + r->stride, r->block, r->n - 1, r->stride};
                r->n = 1;
            }
            r->offset += n * block;
            r->block -= n * block;
            if (!r->block)
                r->n = 0;
        }
    }
    return done;
}

// single gives all blocks of count copies as one run, if they are one.
static inline bool single(struct gompi_run *r, const struct gompi_type *t, int64_t count)
{
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

int64_t gompi_typed_copy(void *dst, int64_t dcount, const struct gompi_type *dt, const void *src, int64_t scount, const struct gompi_type *st)
{
    struct side d = {.more = NULL}, s = {.more = NULL};
    bool done = single(&d.r, dt, dcount), sone = single(&s.r, st, scount);
    int64_t limit = dcount * dt->size, sbytes = scount * st->size;
    if (sbytes < limit)
        limit = sbytes;
    if (done && sone) {
        if (d.r.n == 1 && s.r.n == 1) {
            memcpy((char *)dst + d.r.offset, (const char *)src + s.r.offset, (size_t)limit);
            return limit;
        }
        return copy_sides(dst, &d, src, &s, limit);
    }
    struct gompi_cursor dc, sc;
    if (!done) {
        gompi_cursor_init(&dc, dt, dcount, GOMPI_BYTES);
        d.more = &dc;
    }
    if (!sone) {
        gompi_cursor_init(&sc, st, scount, GOMPI_BYTES);
        s.more = &sc;
    }
    return copy_sides(dst, &d, src, &s, limit);
}

int64_t gompi_typed_pack(void *out, int64_t limit, const void *buf, int64_t count, const struct gompi_type *t, int64_t position)
{
    struct gompi_cursor c;
    gompi_cursor_init(&c, t, count, GOMPI_BYTES);
    if (position)
        gompi_cursor_seek(&c, position);
    struct side d = {.r = {0, limit, limit > 0, 0}, .more = NULL}, s = {.more = &c};
    return copy_sides(out, &d, buf, &s, limit);
}

int64_t gompi_typed_unpack(void *buf, int64_t count, const struct gompi_type *t, int64_t position, const void *in, int64_t limit)
{
    struct gompi_cursor c;
    gompi_cursor_init(&c, t, count, GOMPI_BYTES);
    if (position)
        gompi_cursor_seek(&c, position);
    struct side d = {.more = &c}, s = {.r = {0, limit, limit > 0, 0}, .more = NULL};
    return copy_sides(buf, &d, in, &s, limit);
}
