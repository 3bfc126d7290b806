// Packing and unpacking: copies between a layout and contiguous bytes.
#include "datatype/block_copy.h"
#include "datatype/datatype.h"
#include "datatype/program.h"

// A group of n consecutive entries of a list of blocks, with `bytes` bytes in total. The displacements `disp` are
// relative to `base`. The pointer `prefix` is NULL if all blocks have `block` bytes; else it points to the running sum
// of the block sizes.
struct entries {
	const int64_t *disp, *prefix;
	int64_t base, block, n, bytes;
};

// Consumes remaining blocks of the cursor's current list, of at most `limit` bytes in total. Returns n = 0 if the
// cursor is not in a list or not at the beginning of a block, or if no block fits.
static inline struct entries next_entries(struct gompi_cursor *c, int64_t limit) {
	struct entries e = {.n = 0};
	if (!c->depth || c->skip_bytes)
		return e;
	struct gompi_cursor_frame *f = &c->stack[c->depth - 1];
	const int64_t *q = c->prog + f->node, n = q[NODE_N];
	if (q[0] == NODE_LIST && c->prog[q[LIST_CHILD]] == NODE_BLOCK) {
		e.disp = q + LIST_DISP + f->i;
		e.block = c->prog[q[LIST_CHILD] + NODE_SIZE];
		e.n = limit / e.block;
		if (e.n > n - f->i)
			e.n = n - f->i;
		e.bytes = e.n * e.block;
	} else if (q[0] == NODE_BLOCKS) {
		const int64_t *prefix = q + NODE_DISP + n + f->i;
		e.disp = q + NODE_DISP + f->i;
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

// gather copies the blocks of a list to contiguous memory; scatter copies contiguous memory to the blocks of a list.
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

// Copies the next `limit` bytes, or all remaining bytes if there are fewer. If is_pack is true, copies from the
// cursor's positions in `unpacked` to `packed`, else in the opposite direction. Returns the number of bytes copied.
static inline __attribute__((always_inline)) int64_t transfer_next(bool is_pack, char *unpacked, struct gompi_cursor *c,
								   char *packed, int64_t limit) {
	int64_t done = 0;
	while (done < limit && c->run.n) {
		struct entries e = next_entries(c, limit - done);
		char *at = packed + done;
		if (e.n) {
			is_pack ? gather(at, unpacked, e) : scatter(unpacked, at, e);
			done += e.bytes;
			continue;
		}
		struct gompi_run r = gompi_cursor_run(c, limit - done);
		if (!r.n) {
			r.block = gompi_cursor_next(c, limit - done, &r.offset);
			r.n = 1;
		}
		if (is_pack)
			copy_blocks(at, r.block, unpacked + r.offset, r.stride, r.block, r.n);
		else
			copy_blocks(unpacked + r.offset, r.stride, at, r.block, r.block, r.n);
		done += r.n * r.block;
	}
	return done;
}

int64_t gompi_cursor_pack(char *dst, const char *src, struct gompi_cursor *c, int64_t limit) {
	return transfer_next(true, (char *)src, c, dst, limit);
}

int64_t gompi_cursor_unpack(char *dst, struct gompi_cursor *c, const char *src, int64_t limit) {
	return transfer_next(false, dst, c, (char *)src, limit);
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
